// Whether a Tetragon already runs on this node. Two cannot: both would write one pid file, and each may remove the
// other's programs. One that a Sensor of ours left behind when it was killed is ended; any other is left alone.
import { readFile, rm } from 'node:fs/promises';

export type Neighbour =
  | { readonly whose: 'nobody' }
  | { readonly whose: 'ours' | 'foreign'; readonly pid: number };

/** Reads Tetragon's pid file. Ours is one whose command line names our socket. Never rejects. */
export async function findNeighbour(pidFile: string, socket: string): Promise<Neighbour> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = /^\s*(\d{1,10})\s*$/.test(text) ? Number(text) : 0;
  if (pid <= 1 || !isAlive(pid)) return { whose: 'nobody' };
  const words = await textOf(`/proc/${pid}/cmdline`);
  if (words.split('\0').includes(`--server-address=unix://${socket}`))
    return { whose: 'ours', pid };
  // The number may have gone to a program that is no Tetragon since; one that cannot be looked at counts as one.
  const name = (await textOf(`/proc/${pid}/comm`)).trim();
  return name === 'tetragon' || name === '' ? { whose: 'foreign', pid } : { whose: 'nobody' };
}

/** Ends one of ours and waits until it is gone; takes away a pid file that names nobody, which would keep ours out. */
export async function makeWay(
  pidFile: string,
  neighbour: Neighbour,
  patienceMs: number,
): Promise<void> {
  if (neighbour.whose === 'foreign') return;
  if (neighbour.whose === 'ours') {
    signal(neighbour.pid, 'SIGTERM');
    if (!(await isGoneWithin(neighbour.pid, patienceMs))) {
      signal(neighbour.pid, 'SIGKILL');
      await isGoneWithin(neighbour.pid, patienceMs);
    }
  }
  await rm(pidFile, { force: true });
}

async function isGoneWithin(pid: number, patienceMs: number): Promise<boolean> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    if (!isAlive(pid) || (await textOf(`/proc/${pid}/stat`)).includes(') Z ')) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
