// Which processes work in a PostgreSQL data folder now. The postmaster is known by its pid file, its program and its
// folder together; what a killed postmaster left behind is known by the folder it works in, because every backend leads
// a session of its own. Nothing may start in a folder while any of them lives: two would destroy the data. decision: D7
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess, type ProcessIdentity, processIdentity } from './process-identity.ts';

const POLL_MS = 50;
const STRAYS_GRACE_MS = 1_000;
const STRAYS_DEADLINE_MS = 5_000;

/** The postmaster that runs in this folder, whoever started it; null when there is none. */
export function findPostmaster(data: string): ProcessIdentity | null {
  try {
    const [first, folder] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(first);
    if (!Number.isSafeInteger(pid) || pid < 2 || folder !== data) return null;
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const isOurs = isPostgres(pid) && args[args.indexOf('-D') + 1] === data;
    return isOurs ? processIdentity(pid) : null;
  } catch {
    return null;
  }
}

/** Ends everything that still works in the folder; rejects when something survives that. */
export async function clearFolder(data: string): Promise<void> {
  const startedMs = performance.now();
  for (let left = workersIn(data); left.length > 0; left = workersIn(data)) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > STRAYS_DEADLINE_MS)
      throw new Error(`process ${left[0]?.pid} still works in ${data} and cannot be ended`);
    // Backends notice the death of their postmaster by themselves; only what does not is killed.
    for (const one of waitedMs > STRAYS_GRACE_MS ? left : []) killOne(one);
    await sleep(POLL_MS);
  }
  // Nobody is left, so a pid file is stale; its number may be a stranger's by now and would forbid the start.
  rmSync(join(data, 'postmaster.pid'), { force: true });
}

/** Kills a postmaster and everything it started. */
export async function killPostmaster(data: string, postmaster: ProcessIdentity): Promise<void> {
  killOne(postmaster);
  for (const one of workersIn(data)) killOne(one);
  while (isSameProcess(postmaster)) await sleep(POLL_MS);
}

function workersIn(data: string): ProcessIdentity[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid)) return [];
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== data || !isPostgres(pid)) return [];
    } catch {
      return [];
    }
    const identity = processIdentity(pid);
    return identity === null ? [] : [identity];
  });
}

function isPostgres(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/exe`)
    .replace(/ \(deleted\)$/, '')
    .endsWith('/bin/postgres');
}

function killOne(identity: ProcessIdentity): void {
  if (!isSameProcess(identity)) return;
  try {
    process.kill(identity.pid, 'SIGKILL');
  } catch {
    // It ended between the check and the signal.
  }
}
