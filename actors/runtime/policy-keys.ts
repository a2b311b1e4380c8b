// Keys that policies are verified with, as both programs read them: SPKI in PEM, Ed25519 only, named by their digest. A
// signature good under any of them is good. decision: D81
import { createHash, createPublicKey, hash } from 'node:crypto';
import { SIGNING_KEYS_MAX, SIGNING_KEYS_MAX_BYTES } from '../../machines/policy/limits.ts';
import {
  keyBlocksOf,
  keysDigestText,
  type RotationResult,
  rotationMessage,
  type TrustedKey,
  type TrustedKeys,
  takeRotation,
} from '../../machines/policy/signing-keys.rules.ts';
import type { KeyRotation } from '../../machines/wire/policy.ts';
import { isGenuineEd25519 } from './ed25519.ts';

const KEY_ID_CHARS = 16;

export type PolicyKey = TrustedKey & { readonly raw: Uint8Array };

/** One key; null when the PEM holds none of Ed25519. Never throws. */
export function policyKeyOf(pem: string): PolicyKey | null {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') return null;
    const id = createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex');
    const raw = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
    const text = key.export({ type: 'spki', format: 'pem' }).toString();
    return { id: id.slice(0, KEY_ID_CHARS), pem: text, raw };
  } catch {
    return null;
  }
}

/** Every key of `policy-signing.pub`; none when one block of it is no key, or there are too many. Never throws. */
export function policyKeysOf(text: string): readonly PolicyKey[] {
  if (Buffer.byteLength(text) > SIGNING_KEYS_MAX_BYTES) return [];
  const blocks = keyBlocksOf(text);
  const keys = blocks.flatMap((block) => policyKeyOf(block) ?? []);
  return keys.length === blocks.length && keys.length <= SIGNING_KEYS_MAX ? keys : [];
}

/** `signing_keys_sha256` of some keys. */
export function keysDigestOf(keyIds: readonly string[]): string {
  return hash('sha256', keysDigestText(keyIds), 'hex');
}

/** The key a signature of 64 bytes is by; null when it is by none of them. Never throws. */
export function signerOf(
  signature: Uint8Array,
  message: Uint8Array,
  keys: readonly PolicyKey[],
): PolicyKey | null {
  return keys.find(({ raw }) => isGenuineEd25519(signature, message, raw)) ?? null;
}

/** The keys after a statement, its signature checked. Never throws. */
export function verifyRotation(trusted: TrustedKeys, statement: KeyRotation): RotationResult {
  const next = policyKeyOf(statement.new_key_pem);
  const signer = trusted.keys.find(({ id }) => id === statement.by_key_id);
  const key = signer === undefined ? null : policyKeyOf(signer.pem);
  const bytes = Buffer.from(statement.signature, 'base64');
  const isGenuine =
    next !== null &&
    key !== null &&
    key.id === statement.by_key_id &&
    bytes.toString('base64') === statement.signature &&
    isGenuineEd25519(bytes, messageOf(statement), key.raw);
  return takeRotation(trusted, statement, { newKeyId: next?.id ?? '', isGenuine });
}

function messageOf(statement: KeyRotation): Uint8Array {
  return statement.new_key_pem.isWellFormed() ? rotationMessage(statement) : new Uint8Array();
}
