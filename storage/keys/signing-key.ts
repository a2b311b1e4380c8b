// An Ed25519 key of the Console, made at first use and kept in a file (PKCS#8, mode 600). Signatures are made with
// @noble/curves and checked against `node:crypto` when the key is opened, so a damaged file or a library that disagrees
// stops the start instead of signing what nobody accepts. invariant: I7
import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { ensurePrivateFolder, keepPrivate, readIfPresent, writeFileDurably } from './key-files.ts';

const SELF_TEST = Buffer.from('service-key-v1:self-test');

export type SigningKey = {
  /** SubjectPublicKeyInfo PEM. */
  readonly publicKeyPem: string;
  sign(bytes: Uint8Array): Uint8Array;
};
export type OpenSigningKeyResult =
  | { readonly ok: true; readonly key: SigningKey; readonly created: boolean }
  | { readonly ok: false; readonly reason: string };

/** Opens the signing key of a folder, and makes it at first start; a file that cannot be used is never replaced. */
export async function openSigningKey(options: {
  readonly folder: string;
  readonly name: string;
  readonly what: string;
}): Promise<OpenSigningKeyResult> {
  const file = join(options.folder, options.name);
  try {
    await ensurePrivateFolder(options.folder);
    const stored = await readIfPresent(file);
    const pem = stored ?? (await makeKey(file));
    await keepPrivate(file);
    const privateKey = createPrivateKey(pem);
    if (privateKey.asymmetricKeyType !== 'ed25519')
      return { ok: false, reason: `${file} does not hold an Ed25519 key` };
    const key = createSigner(privateKey);
    if (!passesSelfTest(key.signer, key.publicKey, key.publicBytes))
      return { ok: false, reason: `${file} holds a key whose signatures do not verify` };
    return { ok: true, key: key.signer, created: stored === undefined };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: `${options.what} ${file} cannot be opened: ${why}` };
  }
}

/** Makes a key in a file, in place of one that is there; its PEM. */
export async function makeKey(file: string): Promise<string> {
  const { secretKey, publicKey } = ed25519.keygen();
  const privateKey = createPrivateKey({
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: Buffer.from(secretKey).toString('base64url'),
      x: Buffer.from(publicKey).toString('base64url'),
    },
    format: 'jwk',
  });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await writeFileDurably(file, pem);
  return pem;
}

function createSigner(privateKey: KeyObject) {
  const publicKey = createPublicKey(privateKey);
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  const publicBytes = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const signer: SigningKey = {
    publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    sign: (bytes) => ed25519.sign(bytes, seed),
  };
  return { signer, publicKey, publicBytes };
}

function passesSelfTest(key: SigningKey, publicKey: KeyObject, publicBytes: Buffer): boolean {
  const signature = key.sign(SELF_TEST);
  return (
    verify(null, SELF_TEST, publicKey, signature) &&
    ed25519.verify(signature, SELF_TEST, publicBytes, { zip215: false })
  );
}
