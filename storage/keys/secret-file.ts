// A random secret of the Console's own that has to survive a restart, such as the key that signs page links.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ensurePrivateFolder, keepPrivate, readIfPresent, writeFileDurably } from './key-files.ts';

/** Reads the secret of a folder, and makes it at first use (mode 600). A damaged file is refused, never replaced. */
export async function openSecretFile(options: {
  readonly folder: string;
  readonly name: string;
  readonly bytes: number;
}): Promise<Buffer> {
  const file = join(options.folder, options.name);
  await ensurePrivateFolder(options.folder);
  const stored = await readIfPresent(file);
  if (stored === undefined) {
    const made = randomBytes(options.bytes);
    await writeFileDurably(file, made.toString('hex'));
    return made;
  }
  await keepPrivate(file);
  const secret = Buffer.from(stored.trim(), 'hex');
  if (secret.length !== options.bytes)
    throw new Error(`${file} does not hold the secret it should`);
  return secret;
}
