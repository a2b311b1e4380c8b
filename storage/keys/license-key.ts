// What the signing of licenses needs on disk: an Ed25519 key pair and the shared secret of the service, made together and
// never replaced. A private file that others may read is not used: a signing key that leaked cannot be called back.
// decision: D34; invariant: I7
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { LICENSE_SECRET_BYTES, LICENSE_SECRET_MIN_CHARS } from '../../machines/limits.ts';
import { ensurePrivateFolder, readIfPresent, writeFileDurably } from './key-files.ts';

const OTHERS = 0o077;
export const LICENSE_FILES = {
  privateKey: 'license-signing.ed25519',
  publicKey: 'license-signing.pub',
  secret: 'sign-license.secret',
} as const;

type Failed = { readonly ok: false; readonly reason: string };
export type LicenseKey = {
  /** The 32-byte seed. */
  readonly secretKey: Uint8Array;
  readonly publicKey: Uint8Array;
};

/** Makes the three files of a folder; nothing is written when one of them is there. */
export async function makeLicenseKeys(
  folder: string,
): Promise<{ readonly ok: true; readonly publicKeyPem: string } | Failed> {
  await ensurePrivateFolder(folder);
  for (const name of Object.values(LICENSE_FILES)) {
    if ((await readIfPresent(join(folder, name))) !== undefined) {
      return { ok: false, reason: `${join(folder, name)} exists and is never replaced` };
    }
  }
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
  const publicKeyPem = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await writeFileDurably(join(folder, LICENSE_FILES.privateKey), pem);
  await writeFileDurably(join(folder, LICENSE_FILES.publicKey), publicKeyPem.toString(), 'public');
  const secret = randomBytes(LICENSE_SECRET_BYTES).toString('base64url');
  await writeFileDurably(join(folder, LICENSE_FILES.secret), `${secret}\n`);
  return { ok: true, publicKeyPem: publicKeyPem.toString() };
}

/** Opens the private key of a file that only its owner may read. */
export async function openLicenseKey(
  file: string,
): Promise<{ readonly ok: true; readonly key: LicenseKey } | Failed> {
  const text = await readPrivate(file);
  if (!text.ok) return text;
  try {
    const privateKey = createPrivateKey(text.text);
    if (privateKey.asymmetricKeyType !== 'ed25519') {
      return { ok: false, reason: `${file} does not hold an Ed25519 private key` };
    }
    const secretKey = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
    return { ok: true, key: { secretKey, publicKey: ed25519.getPublicKey(secretKey) } };
  } catch {
    return { ok: false, reason: `${file} does not hold a private key in PEM` };
  }
}

/** Reads the shared secret of a file that only its owner may read. */
export async function openSharedSecret(
  file: string,
): Promise<{ readonly ok: true; readonly secret: string } | Failed> {
  const text = await readPrivate(file);
  if (!text.ok) return text;
  const secret = text.text.trim();
  if (secret.length >= LICENSE_SECRET_MIN_CHARS && /^[\x21-\x7e]+$/.test(secret)) {
    return { ok: true, secret };
  }
  const rule = `at least ${LICENSE_SECRET_MIN_CHARS} printable characters without spaces`;
  return { ok: false, reason: `${file} must hold a secret of ${rule}` };
}

async function readPrivate(
  file: string,
): Promise<{ readonly ok: true; readonly text: string } | Failed> {
  try {
    const { mode } = await stat(file);
    if ((mode & OTHERS) !== 0) {
      return { ok: false, reason: `${file} may be read by others; chmod 600 it` };
    }
    return { ok: true, text: await readFile(file, 'utf8') };
  } catch (error) {
    return { ok: false, reason: `${file}: ${error instanceof Error ? error.message : error}` };
  }
}
