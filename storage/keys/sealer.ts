// Seals short secrets that have to be read again, such as a TOTP secret or the client secret of a provider, so that the
// database alone betrays none: AES-256-GCM under a key that lies beside the other keys. The context (whose secret it is)
// is authenticated with it, so a sealed text moved to another row opens nothing. invariant: I7
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Sealer } from '../ports/plumbing/sealer.ts';
import { openSecretFile } from './secret-file.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Names the way of sealing, so that another one may follow. */
const PREFIX = 'sealed1:';

/** Opens the sealer of a key file, which is made at first use (mode 600); a damaged one is refused, never replaced. */
export async function openSealer(options: {
  readonly folder: string;
  readonly name: string;
}): Promise<Sealer> {
  const key = await openSecretFile({ ...options, bytes: KEY_BYTES });
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context, 'utf8'));
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const whole = Buffer.concat([nonce, cipher.getAuthTag(), hidden]);
      return PREFIX + whole.toString('base64url');
    },
    open(sealed, context) {
      const whole = bytesOf(sealed);
      if (whole === null) return null;
      const decipher = createDecipheriv(ALGORITHM, key, whole.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(context, 'utf8'))
        .setAuthTag(whole.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const open = decipher.update(whole.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([open, decipher.final()]).toString('utf8');
      } catch {
        // The tag does not fit. Why not is nobody's business: the caller learns that there is nothing to read.
        return null;
      }
    },
  };
}

/** The bytes of a sealed text in its one spelling; null for anything else. */
function bytesOf(sealed: string): Buffer | null {
  if (!sealed.startsWith(PREFIX)) return null;
  const text = sealed.slice(PREFIX.length);
  const whole = Buffer.from(text, 'base64url');
  if (whole.length < NONCE_BYTES + TAG_BYTES) return null;
  return whole.toString('base64url') === text ? whole : null;
}
