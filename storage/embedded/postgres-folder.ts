// The folders of the embedded PostgreSQL and their first filling. The server's own folder belongs to the user it runs
// as; the password stays in the Console's folder, which that user cannot enter. decision: D7
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { POSTGRES_USER } from './postgres-query.ts';
import { type RunAs, unreachableFolder } from './postgres-runtime.ts';

/** Makes the server's folder; throws with the reason when its user could not work there. */
export function prepareFolder(dataDir: string, user: RunAs | null): string {
  const home = join(dataDir, 'postgres');
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  if (user !== null) chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  const blocked = unreachableFolder(dataDir, user);
  if (blocked !== null)
    throw new Error(
      `${blocked} cannot be entered by the user that runs PostgreSQL (uid ${user?.uid}): allow it or choose another data directory`,
    );
  if (!existsSync(home)) {
    mkdirSync(home, { mode: 0o700 });
    if (user !== null) chownSync(home, user.uid, user.gid);
  }
  const wanted = user?.uid ?? process.getuid?.();
  for (const path of [home, join(home, 'data')]) {
    if (!existsSync(path) || statSync(path).uid === wanted) continue;
    throw new Error(`${path} belongs to uid ${statSync(path).uid}, not to uid ${wanted}`);
  }
  return home;
}

/** Fills a fresh data folder beside the final one, so that a cut leaves no half-made database behind. */
export async function initialise(plan: {
  readonly runtime: string;
  readonly home: string;
  readonly password: string;
  readonly user: RunAs | null;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { home, user, signal } = plan;
  const [fresh, passwordFile] = [join(home, 'data.new'), join(home, 'password.new')];
  for (const left of [fresh, passwordFile]) rmSync(left, { recursive: true, force: true });
  writeFileSync(passwordFile, plan.password, { mode: 0o600, flag: 'wx' });
  if (user !== null) chownSync(passwordFile, user.uid, user.gid);
  const args = ['-D', fresh, '-U', POSTGRES_USER, '--auth=scram-sha-256', '--encoding=UTF8'];
  args.push('--locale=C', `--pwfile=${passwordFile}`);
  try {
    await new Promise<void>((done, reject) => {
      const child = spawn(join(plan.runtime, 'bin/initdb'), args, {
        ...user,
        cwd: '/',
        env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
        signal,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let talk = '';
      child.stderr.on('data', (chunk: Buffer) => {
        talk = (talk + chunk.toString()).slice(-500);
      });
      child.once('error', reject);
      child.once('close', (code) => (code === 0 ? done() : reject(new Error(`initdb: ${talk}`))));
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(fresh, join(home, 'data'));
}
