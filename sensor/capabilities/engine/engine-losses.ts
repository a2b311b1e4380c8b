// What an engine says of its losses, in words that count from its own start. Our engines also write them into their
// export, where the collector meets them; Tetragon does not, so that its words are what the ledger learns them from.
// invariant: I19
import { addLosses } from '../../../machines/sensor/loss-ledger.rules.ts';
import type { SensorFacts, UntoldLosses } from '../../actors/facts.ts';
import type { Parts } from '../../actors/parts.ts';
import type { KindGap } from '../../engine/last-watcher.ts';
import type { Spool } from '../../spool/spool-port.ts';
import { isObject } from '../../transport/answer.ts';

type Handed = NonNullable<UntoldLosses['handed']>;

/** Of a disk that refuses for long the last ones are kept; what is lost in the others stays counted. */
const LINES_MAX = 64;

/**
 * Hears one run of an engine, which counts from nothing; adds to the facts what is more than it said before, and a line
 * of when nobody watched, as our own engines write it by themselves.
 */
export function createLossCounter(
  facts: Pick<SensorFacts, 'pipeline' | 'untold'>,
): (word: Readonly<Record<string, unknown>>) => void {
  const known = { lost: 0, kernel_lost: 0, engine_lost: 0 };
  const more = (name: keyof typeof known, told: unknown): number => {
    const before = known[name];
    const count = Math.floor(Number(told) || 0);
    known[name] = Number.isSafeInteger(count) ? Math.max(before, count) : before;
    return known[name] - before;
  };
  return (word) => {
    facts.pipeline.engine_lost += more('lost', word['lost']);
    const untold = isObject(word['untold']) ? word['untold'] : {};
    facts.untold.waiting = addLosses(facts.untold.waiting, {
      kernel_lost: more('kernel_lost', untold['kernel_lost']),
      engine_lost: more('engine_lost', untold['engine_lost']),
    });
    const line = isObject(word['untold']) ? lineOf(word['unwatched'], untold) : undefined;
    if (line !== undefined) facts.untold.lines = [...facts.untold.lines, line].slice(-LINES_MAX);
  };
}

/** Adds a gap between engines of two kinds, which neither of them tells, and says it. */
export function countGap(
  { facts, logger }: Pick<Parts, 'facts' | 'logger'>,
  { since, until, how, unseen, owed, text }: KindGap,
): void {
  logger.warn({ unseen }, text);
  const lost = unseen + owed;
  createLossCounter(facts)({
    ...{ lost, untold: { engine_lost: lost }, unwatched: { since, until, how } },
  });
}

function lineOf(unwatched: unknown, untold: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(unwatched)) return undefined;
  const [inKernel, inEngine] = ['kernel_lost', 'engine_lost'].map(
    (one) => Number(untold[one]) || 0,
  );
  const rate_limit_info = {
    number_of_dropped_process_events: String((inKernel ?? 0) + (inEngine ?? 0)),
    number_of_kernel_dropped_events: String(inKernel),
    unwatched,
  };
  return JSON.stringify({ rate_limit_info, time: unwatched['until'] });
}

/**
 * Learns from the ledger whether a refused append kept what it was given, since the journal may have it although the
 * disk refused. False while the spool does not serve: nothing may be appended before this is known.
 */
export function recallUntold(
  untold: UntoldLosses,
  spool: Pick<Spool, 'ledger' | 'status'>,
): boolean {
  const { handed } = untold;
  if (handed === null) return true;
  const { state } = spool.status();
  if (state !== 'ready' && state !== 'full') return false;
  // Only the collector settles losses of these two places, one append at a time.
  if (inLedger(spool) === handed.before) {
    untold.waiting = addLosses(handed.losses, untold.waiting);
    // One that was stored all the same has the name of its event again.
    untold.lines = [...handed.lines, ...untold.lines].slice(-LINES_MAX);
  }
  untold.handed = null;
  return true;
}

/** What waits, for an append that begins now, or null; `handed` is to be made null once that is stored. */
export function handUntold(untold: UntoldLosses, spool: Pick<Spool, 'ledger'>): Handed | null {
  const { waiting: losses, lines } = untold;
  if (Object.keys(losses).length + lines.length === 0) return null;
  untold.waiting = {};
  untold.lines = [];
  untold.handed = { losses, lines, before: inLedger(spool) };
  return untold.handed;
}

function inLedger(spool: Pick<Spool, 'ledger'>): number {
  const { kernel_lost, engine_lost } = spool.ledger().total;
  return kernel_lost + engine_lost;
}
