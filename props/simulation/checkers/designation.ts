// One Console runs what may run once. What is true is taken from the database of the world, which knows whose session holds
// the lock and which tenure began last, and from the accidents that end sessions; never from what a Console believes.
// No excuses for a write; to stop, a Console has the time that is promised, and it has it only while it is up and gets turns:
// one that was paused has it anew from when it goes on, and writes nothing under its old tenure all the same. decision: D60
import type { CheckerKind } from './checker.ts';

/** How long after the lock is lost a Console may hold itself for the designated one. */
const STOPPED_MS = 5_000;
/** A probe and a tick of the wheel. */
const SLACK_MS = 1_500;

export const designation: CheckerKind = {
  name: 'designation',
  promise:
    'What a designated loop writes is written under the newest tenure, and a Console stops within 5 s of losing the lock.',
  make({ consoles, stores }, report) {
    let newest = 0;
    /** Every tenure that the database knows, oldest first. */
    let tenures: { readonly atMs: number; readonly epoch: number }[] = [];
    let holder: string | null = null;
    const lostAtMs = new Map<string, number>();

    function begin(console: string, epoch: number, atMs: number): void {
      tenures.push({ atMs, epoch });
      if (epoch <= newest) report(`${console} began tenure ${epoch} after ${newest}`);
      if (holder !== null) report(`${console} took the lock that ${holder} holds`);
      newest = Math.max(newest, epoch);
      holder = console;
      lostAtMs.delete(console);
    }

    return {
      observe(seen, atMs) {
        if (seen.kind === 'designation.began') begin(seen.console, seen.epoch, atMs);
        if (seen.kind === 'relational.forgot') {
          tenures = tenures.filter((one) => one.atMs <= seen.sinceMs);
          newest = tenures.at(-1)?.epoch ?? 0;
        }
        if (seen.kind === 'designation.ended') {
          if (holder === seen.console) holder = null;
          lostAtMs.set(seen.console, atMs);
        }
        if (seen.kind === 'process.ended') lostAtMs.delete(seen.host);
        if (seen.kind === 'process.resumed' && lostAtMs.has(seen.host)) {
          lostAtMs.set(seen.host, atMs);
        }
        if (seen.kind === 'audit.sealed' && seen.epoch !== newest) {
          report(`${seen.console} sealed under tenure ${seen.epoch}, and ${newest} had begun`);
        }
      },
      probe(atMs) {
        for (const { name, running, isPaused } of consoles) {
          const lostMs = lostAtMs.get(name);
          if (isPaused()) continue;
          if (lostMs === undefined || stores.relational.designation.holder() === name) continue;
          const epoch = running()?.context.loops.designation().epoch ?? null;
          if (epoch !== null && atMs - lostMs > STOPPED_MS + SLACK_MS) {
            report(
              `${name} holds itself for designated ${atMs - lostMs} ms after it lost the lock`,
            );
          }
        }
      },
    };
  },
};
