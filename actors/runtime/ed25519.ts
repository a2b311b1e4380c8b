// One judge of Ed25519 signatures for both programs. Libraries differ where points of small order are involved: noble
// multiplies by the cofactor, OpenSSL does not. A signature is taken only if both take it, so whatever the product
// takes, every verifier of RFC 8032 takes too. decision: D66
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';

const STRICT = { zip215: false } as const;

/** Whether a signature of 64 bytes over a message is by a public key of 32 bytes. Never throws. */
export function isGenuineEd25519(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  try {
    const x = Buffer.from(publicKey).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    // The cheaper one first.
    return (
      verify(null, message, key, signature) && ed25519.verify(signature, message, publicKey, STRICT)
    );
  } catch {
    return false;
  }
}

/** The same under a key as it was read from PEM; false under one of another kind. */
export function isSignedBy(key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  if (key.asymmetricKeyType !== 'ed25519') return false;
  const { x = '' } = key.export({ format: 'jwk' });
  return isGenuineEd25519(signature, message, Buffer.from(x, 'base64url'));
}
