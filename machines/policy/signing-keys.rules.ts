// The keys a node trusts for policies, and how they change: only by a statement that a key of theirs signed. Neither the
// Console's database nor an operator's session can change what a node trusts. decision: D81
import type { KeyRotation } from '../wire/policy.ts';
import { canonicalBytes } from './canonical.rules.ts';
import { SIGNING_KEYS_MAX } from './limits.ts';

const PREFIX = 'service-policy-key-v1:';
const BLOCK = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{1,1024}?-----END PUBLIC KEY-----/g;

export type TrustedKey = {
  /** The first 16 hex digits of the SHA-256 of its SPKI. */
  readonly id: string;
  readonly pem: string;
};
export type TrustedKeys = {
  /** Of the newest statement taken; 0 = none yet. */
  readonly sequence: number;
  readonly keys: readonly TrustedKey[];
  /** They never return. */
  readonly retired: readonly string[];
};
export type RotationRefusal =
  | 'rotation_out_of_order'
  | 'rotation_key_unknown'
  | 'rotation_signature_invalid'
  | 'rotation_key_retired'
  | 'rotation_too_many_keys';
export type RotationResult =
  | { readonly ok: true; readonly keys: TrustedKeys }
  | { readonly ok: false; readonly code: RotationRefusal };

/** The PEM blocks of `policy-signing.pub`, each with one line end. */
export function keyBlocksOf(text: string): readonly string[] {
  return [...text.matchAll(BLOCK)].map(([block]) => `${block.trim()}\n`);
}

/** The text whose SHA-256 is `signing_keys_sha256`: the same for the same keys in any order. */
export function keysDigestText(keyIds: readonly string[]): string {
  return [...new Set(keyIds)].sort().join('\n');
}

/** The bytes a statement's signature is made over. Throws on text that is none. */
export function rotationMessage(statement: Omit<KeyRotation, 'signature'>): Uint8Array {
  const { sequence, new_key_pem, retired_key_ids, by_key_id } = statement;
  return canonicalBytes(PREFIX, { sequence, new_key_pem, retired_key_ids, by_key_id });
}

/** The keys after a statement. `checked` are the facts the caller worked out: the new key's id and whether the signature is
 * by the key that `by_key_id` names among the trusted ones. */
export function takeRotation(
  trusted: TrustedKeys,
  statement: KeyRotation,
  checked: { readonly newKeyId: string; readonly isGenuine: boolean },
): RotationResult {
  const refused = (code: RotationRefusal): RotationResult => ({ ok: false, code });
  if (statement.sequence <= trusted.sequence) return refused('rotation_out_of_order');
  if (!trusted.keys.some(({ id }) => id === statement.by_key_id)) {
    return refused('rotation_key_unknown');
  }
  if (!checked.isGenuine) return refused('rotation_signature_invalid');
  const retired = [...new Set([...trusted.retired, ...statement.retired_key_ids])];
  if (retired.includes(checked.newKeyId)) return refused('rotation_key_retired');
  const others = trusted.keys.filter(({ id }) => id !== checked.newKeyId && !retired.includes(id));
  const keys = [...others, { id: checked.newKeyId, pem: statement.new_key_pem }];
  if (keys.length > SIGNING_KEYS_MAX) return refused('rotation_too_many_keys');
  return { ok: true, keys: { sequence: statement.sequence, keys, retired } };
}
