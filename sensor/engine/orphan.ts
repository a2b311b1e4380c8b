// An engine whose Sensor was killed goes on for a while. The next `ebpf` engine takes over from it by itself; any other kind
// would write the same export, so that it is ended first; an ordered stop ends it too. It is known by the program it is, by
// the export it writes, and by when it began, so that no other process that got its number is ever ended. decision: D51
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ENGINE_STOP_TIMEOUT_MS } from '../../machines/limits.ts';
import { EBPF_ENGINE_FILE } from './ebpf.ts';
import { exportFileIn } from './export-files.ts';
import { engineDirectory } from './unpack.ts';

const LOOK_MS = 20;
const START_FIELD = 19; // of /proc/PID/stat, behind the name

type Orphan = { readonly pid: number; readonly start: string };
/** Reads a text of a process under `/proc`. */
type Read = (file: string) => Promise<string>;

const readText: Read = (file) => readFile(file, 'utf8');

/** Ends every engine of ours that still writes, or waits to write, the export: in order, and by force when it hangs. Never rejects. */
export async function endOrphan(stateDir: string, read: Read = readText): Promise<void> {
  const orphans = await findOrphans(stateDir, read).catch(() => []);
  await Promise.all(orphans.map((orphan) => end(orphan, read)));
}

async function end(orphan: Orphan, read: Read): Promise<void> {
  await signal(orphan, 'SIGTERM', read);
  for (let waited = 0; waited < ENGINE_STOP_TIMEOUT_MS; waited += LOOK_MS) {
    if (!(await isThere(orphan, read))) return;
    await wait(LOOK_MS);
  }
  await signal(orphan, 'SIGKILL', read);
}

// Not only who holds the lock beside the export: one that was started by a Sensor that was killed may wait for it.
async function findOrphans(stateDir: string, read: Read): Promise<readonly Orphan[]> {
  const own = join(engineDirectory(stateDir), EBPF_ENGINE_FILE);
  const exported = exportFileIn(stateDir);
  const found: Orphan[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // Its file may have been replaced since: the name then has an end.
    const program = await readlink(`/proc/${name}/exe`).catch(() => '');
    if (!program.startsWith(own)) continue;
    const words = await read(`/proc/${name}/cmdline`).catch(() => '');
    const start = await startOf(Number(name), read);
    if (start !== '' && words.split('\0').includes(exported)) {
      found.push({ pid: Number(name), start });
    }
  }
  return found;
}

async function startOf(pid: number, read: Read): Promise<string> {
  const text = await read(`/proc/${pid}/stat`).catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[START_FIELD] ?? '';
}

async function isThere({ pid, start }: Orphan, read: Read): Promise<boolean> {
  return (await startOf(pid, read)) === start;
}

async function signal(orphan: Orphan, which: 'SIGTERM' | 'SIGKILL', read: Read): Promise<void> {
  if (!(await isThere(orphan, read))) return;
  try {
    process.kill(orphan.pid, which);
  } catch {} // gone meanwhile
}
