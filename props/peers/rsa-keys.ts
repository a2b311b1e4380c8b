// RSA keys and signatures for tests, at little cost. To find primes is nearly all that a key costs, so the keys of a process
// share primes by pairs, no two the same pair; whoever has two of them has both, so they are good for tests alone. What
// node-forge lays out is signed by node:crypto.
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generatePrime,
  type KeyObject,
  privateEncrypt,
} from 'node:crypto';
import { promisify } from 'node:util';
import type forge from 'node-forge';

const EXPONENT = 65_537n;
const SHA256_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');
const findPrime = promisify(
  (bits: number, done: (error: Error | null, prime: bigint) => void): void =>
    generatePrime(bits, { bigint: true }, done),
);

export type KeyPair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** By bits of the key: its primes, each found once, and how many keys were made of them. */
const stocks = new Map<number, { readonly primes: Promise<bigint>[]; made: number }>();

/** A key of this process that no other call gets. */
export async function makeRsaPair(bits = 2_048): Promise<KeyPair> {
  const stock = stocks.get(bits) ?? { primes: [], made: 0 };
  stocks.set(bits, stock);
  // Pairs in their order: (0, 1), (0, 2), (1, 2), (0, 3), ...
  let [first, second] = [stock.made, 1];
  stock.made += 1;
  for (; first >= second; second += 1) first -= second;
  const primeAt = (at: number): Promise<bigint> => {
    stock.primes[at] ??= usablePrime(bits / 2);
    return stock.primes[at];
  };
  const [p, q] = await Promise.all([primeAt(second), primeAt(first)]);
  const privateKey = createPrivateKey({ key: jwkOf(p, q), format: 'jwk' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Signs as forge would, by PKCS #1 v1.5 with SHA-256, for `certificate.sign` and the like. */
export function forgeSigner(key: KeyObject): forge.pki.rsa.PrivateKey {
  const signer = {
    sign: (md: forge.md.MessageDigest): string =>
      privateEncrypt(
        { key, padding: constants.RSA_PKCS1_PADDING },
        Buffer.concat([SHA256_INFO, Buffer.from(md.digest().getBytes(), 'latin1')]),
      ).toString('latin1'),
  };
  return signer as unknown as forge.pki.rsa.PrivateKey;
}

async function usablePrime(bits: number): Promise<bigint> {
  for (;;) {
    const prime = await findPrime(bits);
    if ((prime - 1n) % EXPONENT !== 0n) return prime;
  }
}

function jwkOf(p: bigint, q: bigint) {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const fields = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n) };
  const all = Object.entries({ ...fields, qi: inverse(q, p) }).map(([name, value]) => {
    const hex = value.toString(16);
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
    return [name, bytes.toString('base64url')];
  });
  return { kty: 'RSA', ...Object.fromEntries(all) };
}

function inverse(of: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [of % modulus, modulus, 1n, 0n];
  while (a > 1n) {
    const times = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - times * y];
  }
  return x < 0n ? x + modulus : x;
}
