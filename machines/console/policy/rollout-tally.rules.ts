// What a look at the sensors of a rollout comes to. Counters are compared with those of the instant at which a sensor was
// reached; what takes two looks (silence, a storm) is remembered by whoever looks. decision: D91

import { MINUTE_MS } from '../../units.ts';
import type { EnforcementState } from '../../wire/policy.ts';
import type { RolloutRow } from './book.rules.ts';
import { NOTHING_COUNTED, type RolloutTally, reachedAtMs } from './rollout.rules.ts';

/** A sensor as its last report left it. */
export type SensorSight = {
  readonly sensorId: string;
  readonly lastHeartbeatAtMs: number | null;
  /** What it said of policies last; null = nothing. */
  readonly report: {
    readonly assignmentId: string | null;
    readonly state: EnforcementState;
    readonly reason: string | null;
  } | null;
  /** Starts of its engine after the first, in this run of the Sensor. */
  readonly restarts: number;
  /** Events it ever lost. */
  readonly lost: number;
  /** Events its engine told, in this run of the Sensor. */
  readonly read: number;
};
/** By sensor: its counters at the instant at which a stage began. */
export type Baselines = Readonly<Record<string, readonly [restarts: number, lost: number]>>;
/** What an earlier look has seen of a sensor. */
export type Watched = {
  readonly unansweredSinceMs: number | null;
  readonly read: number;
  readonly readAtMs: number;
  readonly isStorm: boolean;
};
export type SensorStanding =
  | 'waiting'
  | 'offline'
  | 'unanswered'
  | 'silent'
  | 'in_force'
  | 'rejected'
  | 'failed'
  | 'stale'
  | 'off';
export type LookAt = {
  readonly nowMs: number;
  readonly stalenessMs: number;
  readonly baselines: Baselines;
  readonly watched: ReadonlyMap<string, Watched>;
};

/** The counters of sensors that are about to be reached. */
export function baselinesOf(sights: readonly SensorSight[]): Baselines {
  return Object.fromEntries(
    sights.map(({ sensorId, restarts, lost }) => [sensorId, [restarts, lost] as const]),
  );
}

/** Counts the sensors of a rollout, and what the next look has to know of them. */
export function lookAt(
  rollout: RolloutRow,
  sights: readonly SensorSight[],
  at: LookAt,
): {
  readonly tally: RolloutTally;
  readonly watched: ReadonlyMap<string, Watched>;
  readonly standings: ReadonlyMap<string, SensorStanding>;
} {
  const tally = { ...NOTHING_COUNTED, touched: sights.length };
  const watched = new Map<string, Watched>();
  const standings = new Map<string, SensorStanding>();
  for (const sight of sights) {
    const seen = watchedOf(rollout, sight, at);
    const standing = standingOf(rollout, sight, { ...at, seen });
    watched.set(sight.sensorId, seen);
    standings.set(sight.sensorId, standing);
    count(tally, standing);
    if (standing === 'waiting') continue;
    const [restarts = sight.restarts, lost = sight.lost] = at.baselines[sight.sensorId] ?? [];
    tally.reached += 1;
    tally.engine_restarts += Math.max(0, sight.restarts - restarts);
    tally.lost += Math.max(0, sight.lost - lost);
    if (seen.isStorm) tally.storms += 1;
    if (isOfRollout(rollout, sight) && isHeard(sight, at)) tally.holding += 1;
  }
  return { tally, watched, standings };
}

type Counts = { -readonly [Name in keyof RolloutTally]: RolloutTally[Name] };

function count(tally: Counts, standing: SensorStanding): void {
  switch (standing) {
    case 'in_force':
      tally.inForce += 1;
      break;
    case 'unanswered':
    case 'offline':
    case 'silent':
    case 'rejected':
    case 'failed':
    case 'stale':
      tally[standing] += 1;
      break;
    case 'waiting':
    case 'off':
      break;
  }
}

function standingOf(
  rollout: RolloutRow,
  sight: SensorSight,
  at: LookAt & { readonly seen: Watched },
): SensorStanding {
  const sinceMs = reachedAtMs(rollout, sight.sensorId);
  if (sinceMs === null) return 'waiting';
  const said = answerOf(rollout, sight);
  if (said === 'rejected' || said === 'failed') return said;
  if (!isHeard(sight, at)) {
    const wasHeard = sight.lastHeartbeatAtMs !== null && sight.lastHeartbeatAtMs >= sinceMs;
    return wasHeard ? 'stale' : 'offline';
  }
  if (said !== 'unanswered') return said;
  const { unansweredSinceMs } = at.seen;
  const isSilent =
    unansweredSinceMs !== null &&
    at.nowMs - unansweredSinceMs >= rollout.context.plan.answerWithinMs;
  return isSilent ? 'silent' : 'unanswered';
}

function answerOf(
  rollout: RolloutRow,
  sight: SensorSight,
): 'in_force' | 'rejected' | 'failed' | 'off' | 'unanswered' {
  if (!isOfRollout(rollout, sight)) return 'unanswered';
  switch (sight.report?.state) {
    case 'enforcing':
    case 'monitoring':
      return 'in_force';
    case 'rejected':
      return 'rejected';
    case 'failed':
      return 'failed';
    case 'removed':
      return 'off';
    default:
      return 'unanswered';
  }
}

function isOfRollout({ next }: RolloutRow, { report }: SensorSight): boolean {
  return report?.assignmentId === next.assignmentId;
}

function isHeard(
  { lastHeartbeatAtMs }: SensorSight,
  { nowMs, stalenessMs }: Pick<LookAt, 'nowMs' | 'stalenessMs'>,
): boolean {
  return lastHeartbeatAtMs !== null && nowMs - lastHeartbeatAtMs < stalenessMs;
}

function watchedOf(rollout: RolloutRow, sight: SensorSight, at: LookAt): Watched {
  const before = at.watched.get(sight.sensorId);
  const isWaitedFor =
    reachedAtMs(rollout, sight.sensorId) !== null &&
    isHeard(sight, at) &&
    answerOf(rollout, sight) === 'unanswered';
  const unansweredSinceMs = isWaitedFor ? (before?.unansweredSinceMs ?? at.nowMs) : null;
  const readAtMs = sight.lastHeartbeatAtMs ?? 0;
  const { read } = sight;
  if (before === undefined) return { unansweredSinceMs, read, readAtMs, isStorm: false };
  if (readAtMs <= before.readAtMs) return { ...before, unansweredSinceMs };
  // A Sensor that started anew counts from nothing.
  const more = read >= before.read ? read - before.read : read;
  const perMinute = (more * MINUTE_MS) / (readAtMs - before.readAtMs);
  const isStorm = perMinute > rollout.context.plan.stormPerMinute;
  return { unansweredSinceMs, read, readAtMs, isStorm };
}
