// An engine whose Sensor was killed goes on for a while. The next `ebpf` engine takes over from it by itself; any other kind
// would write the same export, so that it is ended first. It is known by the lock on the page beside the export, by the
// program it is, and by when it began, so that no other process that got its number is ever ended. decision: D51
import { readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ENGINE_STOP_TIMEOUT_MS } from '../../machines/limits.ts';
import { EBPF_ENGINE_FILE } from './ebpf.ts';
import { exportFileIn } from './export-files.ts';
import { engineDirectory } from './unpack.ts';

const LOOK_MS = 20;
const LOCK = /^\d+: POSIX +ADVISORY +WRITE (\d+) \S+:(\d+) /;
const START_FIELD = 19; // of /proc/PID/stat, behind the name

type Orphan = { readonly pid: number; readonly start: string };

/** Ends an engine of ours that still holds the export: in order, and by force when it hangs. Never rejects. */
export async function endOrphan(stateDir: string): Promise<void> {
  const orphan = await findOrphan(stateDir);
  if (orphan === null) return;
  await signal(orphan, 'SIGTERM');
  for (let waited = 0; waited < ENGINE_STOP_TIMEOUT_MS; waited += LOOK_MS) {
    if (!(await isThere(orphan))) return;
    await wait(LOOK_MS);
  }
  await signal(orphan, 'SIGKILL');
}

async function findOrphan(stateDir: string): Promise<Orphan | null> {
  const lock = await stat(`${exportFileIn(stateDir)}.lock`).catch(() => null);
  const locks = lock === null ? '' : await readFile('/proc/locks', 'latin1').catch(() => '');
  for (const line of locks.split('\n')) {
    const [, pid, inode] = LOCK.exec(line) ?? [];
    if (pid === undefined || Number(inode) !== lock?.ino) continue;
    const start = await startOf(Number(pid));
    const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
    const own = join(engineDirectory(stateDir), EBPF_ENGINE_FILE);
    // Its file may have been replaced since: the name then has an end.
    if (start !== '' && program.startsWith(own)) return { pid: Number(pid), start };
  }
  return null;
}

async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[START_FIELD] ?? '';
}

async function isThere({ pid, start }: Orphan): Promise<boolean> {
  return (await startOf(pid)) === start;
}

async function signal(orphan: Orphan, which: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (!(await isThere(orphan))) return;
  try {
    process.kill(orphan.pid, which);
  } catch {} // gone meanwhile
}
