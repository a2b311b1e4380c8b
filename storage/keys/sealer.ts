// Seals short secrets that have to be read again, such as a TOTP secret or the client secret of a provider, so that the
// database alone betrays none: AES-256-GCM under a key that lies beside the other keys. The context (whose secret it is)
// is authenticated with it, so a sealed text moved to another row opens nothing. A sealed text names its key, so that a
// key can be changed: the newest seals, those before it only open, until everything was sealed again. decision: D70;
// invariant: I7
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sealer } from '../ports/plumbing/sealer.ts';
import { writeFileDurably } from './key-files.ts';
import { keyIdOf, noteKey } from './key-journal.ts';
import { openSecretFile } from './secret-file.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Names the way of sealing, so that another one may follow. The first one named no key. */
const FIRST = 'sealed1:';
const PREFIX = 'sealed2:';
const SEALED = /^sealed2:([0-9a-f]{16}):([A-Za-z0-9_-]*)$/;
const KEY_KIND = 'service-sealer-v1';

type Place = { readonly folder: string; readonly name: string };
type Ring = { readonly id: string; readonly keys: ReadonlyMap<string, Buffer> };

/** Opens the sealer of a key file, which is made at first use (mode 600); a damaged one is refused, never replaced. */
export async function openSealer(place: Place): Promise<Sealer> {
  const { id, keys } = await openRing(place);
  const key = keys.get(id);
  if (key === undefined) throw new Error('a ring without its own key');
  return {
    seal(text, context) {
      const prefix = `${PREFIX}${id}:`;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(prefix + context));
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return prefix + Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url');
    },
    open(sealed, context) {
      if (sealed.startsWith(FIRST)) {
        const whole = bytesOf(sealed.slice(FIRST.length));
        for (const one of keys.values()) {
          const text = whole === null ? null : unsealed(one, whole, context);
          if (text !== null) return text;
        }
        return null;
      }
      const [, named = '', text = ''] = SEALED.exec(sealed) ?? [];
      const [one, whole] = [keys.get(named), bytesOf(text)];
      if (one === undefined || whole === null) return null;
      return unsealed(one, whole, `${PREFIX}${named}:${context}`);
    },
    isCurrent: (sealed) => sealed.startsWith(`${PREFIX}${id}:`),
  };
}

/** Makes another key the one that seals; the one before stays to open what it sealed. */
export async function rotateSealer(place: Place, nowMs: number): Promise<void> {
  const { id, keys } = await openRing(place);
  const key = keys.get(id);
  if (key === undefined) throw new Error('a ring without its own key');
  const { folder, name } = place;
  await writeFileDurably(join(folder, retiredName(name, id)), key.toString('hex'));
  await noteKey(folder, { key: 'sealer', what: 'rotated' }, nowMs);
  await writeFileDurably(join(folder, name), randomBytes(KEY_BYTES).toString('hex'));
}

/** Removes the keys that only open. Nothing may be sealed by them any more; how many there were. */
export async function retireSealers(place: Place, nowMs: number): Promise<number> {
  const names = await retiredNames(place);
  for (const name of names) await rm(join(place.folder, name));
  if (names.length > 0) await noteKey(place.folder, { key: 'sealer', what: 'retired' }, nowMs);
  return names.length;
}

/** How many keys only open. */
export async function retiredSealers(place: Place): Promise<number> {
  return (await retiredNames(place)).length;
}

async function openRing({ folder, name }: Place): Promise<Ring> {
  const bytes = KEY_BYTES;
  const own = await openSecretFile({ folder, name, bytes });
  const id = keyIdOf(KEY_KIND, own);
  const keys = new Map([[id, own]]);
  for (const retired of await retiredNames({ folder, name })) {
    const key = await openSecretFile({ folder, name: retired, bytes });
    keys.set(keyIdOf(KEY_KIND, key), key);
  }
  return { id, keys };
}

async function retiredNames({ folder, name }: Place): Promise<readonly string[]> {
  const pattern = new RegExp(`^${name.replace(/\.key$/, '')}\\.[0-9a-f]{16}\\.key$`);
  return (await readdir(folder)).filter((one) => pattern.test(one)).sort();
}

function retiredName(name: string, id: string): string {
  return name.replace(/\.key$/, `.${id}.key`);
}

function unsealed(key: Buffer, whole: Buffer, context: string): string | null {
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
}

/** The bytes of a sealed text in its one spelling; null for anything else. */
function bytesOf(text: string): Buffer | null {
  const whole = Buffer.from(text, 'base64url');
  if (whole.length < NONCE_BYTES + TAG_BYTES) return null;
  return whole.toString('base64url') === text ? whole : null;
}
