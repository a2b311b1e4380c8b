// Whether a failed actor is rebuilt, and the record of what it did last. A cap per window keeps one poisoned actor from
// spinning; when the cap is passed it stays stopped and the crash log says so. decision: D4; invariant: I10
import {
  ACTOR_RESTART_WINDOW_MS,
  ACTOR_RESTARTS_MAX,
  CRASH_RECORDS_MAX,
} from '../../machines/limits.ts';
import type { FeedMove } from './inspection-feed.ts';
import type { Logger } from './logger.ts';

export type SupervisorDecision = 'restart' | 'stop';

export type Supervisor = {
  /** Counts a failure of the actor and decides. */
  decide(kind: string, id: string): SupervisorDecision;
  restartsOf(kind: string, id: string): number;
};

export type CrashRecord = {
  readonly kind: string;
  readonly id: string;
  readonly atMs: number;
  readonly error: string;
  readonly lastEvent: string;
  readonly stateValue: Readonly<Record<string, string>>;
  readonly moves: readonly FeedMove[];
  readonly decision: SupervisorDecision;
};

export type CrashLog = {
  record(crash: CrashRecord): void;
  recent(): readonly CrashRecord[];
};

/** A supervisor with one cap for every actor. `now` is any clock in milliseconds. */
export function createSupervisor(
  now: () => number,
  cap: { readonly restartsMax: number; readonly windowMs: number } = {
    restartsMax: ACTOR_RESTARTS_MAX,
    windowMs: ACTOR_RESTART_WINDOW_MS,
  },
): Supervisor {
  const failures = new Map<string, { times: number[]; restarts: number }>();
  return {
    decide(kind, id) {
      const key = `${kind}/${id}`;
      const own = failures.get(key) ?? { times: [], restarts: 0 };
      failures.set(key, own);
      const nowMs = now();
      own.times = own.times.filter((at) => nowMs - at < cap.windowMs);
      own.times.push(nowMs);
      if (own.times.length > cap.restartsMax) return 'stop';
      own.restarts += 1;
      return 'restart';
    },
    restartsOf: (kind, id) => failures.get(`${kind}/${id}`)?.restarts ?? 0,
  };
}

/** Keeps the newest crash records and logs each. */
export function createCrashLog(logger: Logger, recordsMax: number = CRASH_RECORDS_MAX): CrashLog {
  const records: CrashRecord[] = [];
  return {
    record(crash) {
      records.push(crash);
      if (records.length > recordsMax) records.shift();
      const { moves, ...fields } = crash;
      logger.error({ ...fields, lastMoves: moves.slice(-5) }, 'an actor failed');
    },
    recent: () => records,
  };
}
