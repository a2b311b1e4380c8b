// What judges a signature in a tab, where there is no OpenSSL: RFC 8032 without the cofactor, as OpenSSL has it. Noble's own
// judge multiplies by it, and so takes what others refuse. Whatever this takes, they take. decision: D66
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';

const { Point } = ed25519;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Whether a signature of 64 bytes over a message is by a public key of 32 bytes. Never throws. */
export function isGenuineInTab(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  try {
    return isGenuine(signature, message, publicKey);
  } catch {
    return false;
  }
}

/** Throws on a key that is no point in its only text, and on an S that is not below the order. */
function isGenuine(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== KEY_BYTES) return false;
  const R = signature.subarray(0, KEY_BYTES);
  const A = Point.fromBytes(publicKey, false);
  const SB = Point.BASE.multiplyUnsafe(bytesToNumberLE(signature.subarray(KEY_BYTES)));
  if (A.isSmallOrder()) return false;
  const k = bytesToNumberLE(sha512(concatBytes(R, publicKey, message))) % Point.Fn.ORDER;
  const expected = SB.subtract(A.multiplyUnsafe(k)).toBytes();
  return expected.every((byte, at) => byte === R[at]);
}
