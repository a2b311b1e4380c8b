// Which key licenses are checked with: the one built in, and in a quick start the one that was named or one of its own,
// which lies beside the other keys. decision: D17, D32
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signLicense } from '../../actors/license/envelope-signature.ts';
import type { LicenseAnchor } from '../../actors/license/license-service.ts';
import type { LicenseTrust } from '../../actors/license/start-license.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import { LICENSE_FILES, makeLicenseKeys, openLicenseKey } from '../../storage/keys/license-key.ts';
import { EMBEDDED_LICENSE_ANCHOR_PEM } from './license-anchor.ts';

const EVALUATION_FOLDER = 'license-evaluation';

/** Opens what licenses are checked with. Throws why a key cannot be used. */
export async function openLicenseTrust(options: {
  readonly keysFolder: string;
  /** SERVICE_LICENSE_TRUST_ANCHOR; null when it is not set. */
  readonly anchorPath: string | null;
  readonly isQuickStart: boolean;
  readonly logger: Logger;
}): Promise<LicenseTrust> {
  const { keysFolder, anchorPath: override, isQuickStart, logger } = options;
  if (!isQuickStart || override !== null) {
    return { anchors: [licenseAnchorOf({ override, isQuickStart, logger })], evaluation: null };
  }
  const folder = join(keysFolder, EVALUATION_FOLDER);
  await makeLicenseKeys(folder);
  const opened = await openLicenseKey(join(folder, LICENSE_FILES.privateKey));
  if (!opened.ok) throw new Error(opened.reason);
  const { publicKey, secretKey } = opened.key;
  return {
    anchors: [{ source: 'evaluation', publicKey }, embeddedAnchor()],
    evaluation: (payload) => signLicense(payload, secretKey),
  };
}

/** The key licenses are checked with. Throws when the one that was named cannot be read or is no Ed25519 key. */
export function licenseAnchorOf(options: {
  /** Path of a PEM public key; only a quick start heeds it. */
  readonly override: string | null;
  readonly isQuickStart: boolean;
  readonly logger: Logger;
}): LicenseAnchor {
  const { override, isQuickStart, logger } = options;
  if (override === null) return embeddedAnchor();
  if (!isQuickStart) {
    logger.warn(
      { path: override },
      'SERVICE_LICENSE_TRUST_ANCHOR is for a quick start only and is not heeded: licenses are checked with the embedded key',
    );
    return embeddedAnchor();
  }
  try {
    const publicKey = ed25519KeyOf(readFileSync(override, 'utf8'));
    logger.warn({ path: override }, 'licenses are checked with an evaluation key');
    return { source: 'evaluation', publicKey };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`SERVICE_LICENSE_TRUST_ANCHOR ${override}: ${why}`);
  }
}

/** The 32 bytes of an Ed25519 public key in PEM. Throws for anything else, a private key too. */
export function ed25519KeyOf(pem: string): Uint8Array {
  if (pem.includes('PRIVATE KEY')) throw new Error('holds a private key; name the public one');
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('does not hold an Ed25519 public key');
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

/** The key that is part of the program. */
export function embeddedAnchor(): LicenseAnchor {
  return { source: 'embedded', publicKey: ed25519KeyOf(EMBEDDED_LICENSE_ANCHOR_PEM) };
}
