// A process is known by its id together with the instant it started: ids are reused, pairs are not. Linux only, as the
// embedded tier is.
import { readFileSync } from 'node:fs';

export type ProcessIdentity = { readonly pid: number; readonly startTicks: string };

const POLL_MS = 100;
const START_TICKS_FIELD = 19;

/** Who runs under an id now; null when nobody does (a zombie counts as nobody). */
export function processIdentity(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command may hold spaces and parentheses; the fields begin after its last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTicks = fields[START_TICKS_FIELD];
    return fields[0] === 'Z' || startTicks === undefined ? null : { pid, startTicks };
  } catch {
    return null;
  }
}

/** Whether the very process still runs and its command line holds a text. */
export function isSameProcess(identity: ProcessIdentity, commandHolds = ''): boolean {
  if (processIdentity(identity.pid)?.startTicks !== identity.startTicks) return false;
  try {
    return readFileSync(`/proc/${identity.pid}/cmdline`, 'utf8').includes(commandHolds);
  } catch {
    return false;
  }
}

/** Signals the very process and resolves when it is gone. */
export async function endProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  if (!isSameProcess(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    return;
  }
  await whenGone(identity, { keepsProcess: true });
}

/** Resolves when the very process is gone; for processes that are not our children. */
export async function whenGone(
  identity: ProcessIdentity,
  options: { readonly keepsProcess: boolean } = { keepsProcess: false },
): Promise<{ code: null; signal: null }> {
  while (isSameProcess(identity)) {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      if (!options.keepsProcess) timer.unref();
    });
  }
  return { code: null, signal: null };
}

const AWAKE_MS = 1_000;

/** Waits with the event loop held: an unreferenced child alone would let the process end before the work is done. */
export async function keptAwake<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, AWAKE_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
