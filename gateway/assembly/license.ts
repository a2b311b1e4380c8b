// The license side joined together: which key is trusted, the desk, and its actor beside the others for operators to see.
// decision: D32
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LicenseAnchor, LicenseDesk } from '../../actors/license/license-desk.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { DirectoryView } from '../operator-plane/plumbing/deps.ts';
import { EMBEDDED_LICENSE_ANCHOR_PEM } from './license-anchor.ts';

const ACTOR_ID = 'license';

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

/** The one actor of the license, as a directory. */
export function licenseDirectory({ actor }: Pick<LicenseDesk, 'actor'>): DirectoryView {
  return {
    kind: 'license',
    ids: () => [ACTOR_ID],
    size: () => 1,
    ask(id) {
      if (id !== ACTOR_ID) return 'absent';
      const { sinceMs, lastEvent } = actor.glimpse();
      return { id, snapshot: actor.ref.getSnapshot(), sinceMs, lastEvent, restarts: 0 };
    },
  };
}

/** The key that is part of the program. */
export function embeddedAnchor(): LicenseAnchor {
  return { source: 'embedded', publicKey: ed25519KeyOf(EMBEDDED_LICENSE_ANCHOR_PEM) };
}
