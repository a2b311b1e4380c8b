// Sends digests: one Console for all, one attempt a run. The row of a day is written before its first attempt, so a Console
// that dies in it, and the one that takes over, never send a day twice; what it came to ends the row. People are told from the
// rows, so neither a crash nor an inbox that is away leaves a day untold, or one unsent. decision: D60, D156, D166

import type { Digest } from '../../machines/console/digest/digest.ts';
import { digestDue, localDayOf } from '../../machines/console/digest/digest-due.rules.ts';
import type { DigestRunEvent } from '../../machines/console/digest/digest-run.machine.ts';
import { digestRunAfter } from '../../machines/console/digest/standing.ts';
import {
  DIGEST_LEASE_MS,
  DIGEST_LOOK_MS,
  DIGEST_MISSED_MAX,
  DIGEST_REASON_MAX_CHARS,
  DIGEST_RUNS_KEPT_MS,
  DIGEST_RUNS_REMOVED_MAX,
  DIGEST_STEP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import type { DigestRow, DigestRun, DigestStore } from '../../storage/ports/digest/digest-store.ts';
import type { Alerts } from '../detection/alerts.ts';
import type { DesignatedLoop, LoopResult } from '../loops/loop.ts';
import type { Handed } from '../outbound/outbound-mail.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';
import type { DigestFacts } from './digest-facts.ts';
import type { DigestSender } from './digest-sender.ts';
import { createDigestTelling } from './digest-telling.ts';

export const DIGEST_LOOP = 'fleet-digest';

export type DigestLoopDeps = {
  readonly digests: Pick<
    DigestStore,
    'list' | 'get' | 'begin' | 'retry' | 'settle' | 'reclaim' | 'runs' | 'sweep'
  >;
  readonly facts: DigestFacts;
  readonly sender: DigestSender;
  readonly alerts: Pick<Alerts, 'raise' | 'pass'>;
  readonly chance: Pick<Chance, 'randomBytes' | 'newId'>;
  readonly logger: Logger;
  readonly now: () => number;
};
export type DigestCounts = Readonly<Record<'sent' | 'failed' | 'unsure' | 'missed', number>>;
export type DigestWork = {
  readonly loop: DesignatedLoop;
  /** Days since the start. */
  counts(): DigestCounts;
};
type Claimed = { readonly row: DigestRow; readonly run: DigestRun };

/** Makes the loop. */
export function createDigestLoop(deps: DigestLoopDeps): DigestWork {
  const counts = { sent: 0, failed: 0, unsure: 0, missed: 0 };
  const { digests, logger } = deps;
  const telling = createDigestTelling(deps);

  async function run(of: {
    readonly epoch: number;
    readonly signal: AbortSignal;
  }): Promise<LoopResult> {
    const { epoch, signal } = of;
    await upkeep(epoch);
    const claimed = await claim(epoch);
    if (claimed !== null) {
      const event = await attempt(deps, claimed, signal);
      const next = { ...claimed.run, ...digestRunAfter(claimed.run, event) };
      await digests.settle({ epoch, run: next });
      note(next);
    }
    await telling.tell(epoch);
    return claimed === null ? undefined : { hasMore: true };
  }

  async function upkeep(epoch: number): Promise<void> {
    const nowMs = deps.now();
    const beforeDay = localDayOf('UTC', nowMs - DIGEST_RUNS_KEPT_MS);
    await digests.sweep({ epoch, beforeDay, limit: DIGEST_RUNS_REMOVED_MAX });
    for (const lost of await digests.reclaim({ epoch, nowMs })) {
      counts.unsure += 1;
      logger.warn(lost, 'a digest was being sent when its Console went away');
    }
  }

  /** A day that is due, or else an attempt that is. */
  async function claim(epoch: number): Promise<Claimed | null> {
    const nowMs = deps.now();
    const lease = { epoch, nowMs, leaseUntilMs: nowMs + DIGEST_LEASE_MS };
    for (const row of await digests.list()) {
      if (!row.isOn) continue;
      const { digestId, sinceMs } = row;
      const [last] = await digests.runs({ digestId, limit: 1 });
      const due = digestDue({ time: row, sinceMs, lastDay: last?.day ?? null, nowMs });
      if (due === null) continue;
      const { day, fromMs, dueMs: toMs } = due.slot;
      const { missed } = due;
      const begun = await digests.begin({ ...lease, digestId, day, fromMs, toMs, missed });
      if (begun === null) continue;
      counts.missed += missed.length;
      return { row, run: begun };
    }
    const again = await digests.retry(lease);
    const row = again === null ? null : await digests.get(again.digestId);
    return again === null || row === null ? null : { row, run: again };
  }

  function note({ state, digestId, day, reason }: DigestRun): void {
    if (state === 'sent' || state === 'failed' || state === 'unsure') counts[state] += 1;
    if (state === 'sent') logger.info({ digestId, day }, 'a digest was sent');
    else logger.warn({ digestId, day, state, reason }, 'a digest was not sent, or perhaps not');
  }

  return {
    counts: () => counts,
    loop: {
      ...{ name: DIGEST_LOOP, runsOn: 'designated', everyMs: DIGEST_LOOK_MS },
      ...{ timeoutMs: DIGEST_STEP_TIMEOUT_MS, run },
    },
  };
}

async function attempt(
  deps: DigestLoopDeps,
  { row, run }: Claimed,
  signal: AbortSignal,
): Promise<DigestRunEvent> {
  const made = await collected(deps, { row, run }, signal);
  const handed = 'kind' in made ? made : await deps.sender.send({ row, digest: made, signal });
  const atMs = deps.now();
  if (handed.kind === 'taken') return { type: 'attempt.taken', atMs, note: handed.note };
  const reason = handed.detail.slice(0, DIGEST_REASON_MAX_CHARS).toWellFormed();
  if (handed.kind === 'unsure') return { type: 'attempt.unsure', atMs, reason };
  const chance = deps.chance.randomBytes(2).readUInt16BE(0) / 65_536;
  return { type: 'attempt.failed', atMs, reason, isFinal: handed.isFinal, chance };
}

async function collected(
  deps: DigestLoopDeps,
  { row, run }: Claimed,
  signal: AbortSignal,
): Promise<Digest | Handed> {
  if (!row.isOn) return { kind: 'failed', isFinal: true, detail: 'It was switched off.' };
  const { day, fromMs, toMs } = run;
  try {
    const untold = await untoldBefore(deps, run);
    const asked = { row, day, fromMs, toMs, untold, signal, isTest: false, nowMs: deps.now() };
    const digest = await deps.facts.collect(asked);
    return digest ?? { kind: 'failed', isFinal: true, detail: 'Its group is gone.' };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', isFinal: false, detail };
  }
}

/** The days before this one, back to the last one that was sent. */
async function untoldBefore(
  { digests }: DigestLoopDeps,
  { digestId, day }: DigestRun,
): Promise<Digest['untold']> {
  const runs = await digests.runs({ digestId, limit: DIGEST_MISSED_MAX });
  const before = runs.filter((one) => one.day < day);
  const lastSent = before.findIndex(({ state }) => state === 'sent');
  return before
    .slice(0, lastSent === -1 ? before.length : lastSent)
    .map(({ day: one, state }) => ({ day: one, state }))
    .reverse();
}
