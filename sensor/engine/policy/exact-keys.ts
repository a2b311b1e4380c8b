// The keys of `policy-signing.pub` where nothing but exactly what this product writes is believed. decision: D79
import type { PolicyKey } from '../../../actors/runtime/policy-keys.ts';

/** The keys of a text that is what this product writes for them: one text for one set. None otherwise. Never rejects. */
export async function exactKeysOf(text: string): Promise<readonly PolicyKey[]> {
  if (text === '') return [];
  const { policyKeysOf } = await import('../../../actors/runtime/policy-keys.ts');
  const keys = policyKeysOf(text);
  return keys.map(({ pem }) => pem).join('') === text ? keys : [];
}
