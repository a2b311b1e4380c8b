// The plan of a run: which accident happens when, to whom, for how long.
import { CLOCK_CHECK_INTERVAL_MS } from '../../../machines/limits.ts';
import type { Options } from '../options.ts';
import { lengthMs } from '../options.ts';
import { createRandom } from '../world/random.ts';
import { type FaultKind, isRare, type PlannedFault, type RareKind } from './kinds.ts';
import { CHANGE_LIFETIMES, LIFETIME_MAX_MS } from './root-faults.ts';

const HOUR_MS = 3_600_000;
/** Accidents come when the fleet has had a moment to enrol. */
const FIRST_AT_MS = 20_000;
/** Misfortunes seldom come singly: some bring others to the same host within a minute. */
const CLUSTER_CHANCE = 0.35;
const CLUSTER_MOST = 4;
const CLUSTER_WITHIN_MS = 60_000;
const RARE_MOST = 3;
/** A Console's clock that jumps is wrong for at least so long: a shorter jump it cannot notice, nor promise anything. */
const NOTICED_MS = 2 * CLOCK_CHECK_INTERVAL_MS;

function leastOf(kind: FaultKind, lifetimeMs: number): number {
  if (kind === 'console.clock_jump') return NOTICED_MS;
  const isShort = lifetimeMs <= LIFETIME_MAX_MS;
  return kind === 'console.new_root' && isShort ? CHANGE_LIFETIMES * lifetimeMs : 0;
}

/** Draws the plan. */
export function drawPlan(options: Options): readonly PlannedFault[] {
  const random = createRandom(`${options.seed}/plan`);
  const plan: PlannedFault[] = [];
  const usual = options.kinds.filter((kind) => !isRare(kind));
  const meanMs = HOUR_MS / options.faultsPerHour;
  const add = (atMs: number, target: number): void => {
    // Most accidents are short; some outlast every time-out there is.
    const meanLengthMs = random.pick([500, 5_000, 30_000, 120_000, 600_000]);
    const kind = random.pick(usual);
    const leastMs = leastOf(kind, options.intervals.CLIENT_CERTIFICATE_TTL_MS);
    plan.push({
      id: plan.length,
      kind,
      atMs: Math.round(atMs),
      durationMs: Math.max(leastMs, Math.round(random.exponential(meanLengthMs))),
      target,
      severity: random.next(),
    });
  };
  let atMs = FIRST_AT_MS + random.exponential(meanMs);
  while (usual.length > 0 && atMs < lengthMs(options)) {
    const target = random.next();
    add(atMs, target);
    if (random.chance(CLUSTER_CHANCE)) {
      const others = random.between(1, CLUSTER_MOST - 1);
      const withinMs = random.pick([10, 1_000, CLUSTER_WITHIN_MS]);
      for (let other = 0; other < others; other += 1) add(atMs + random.next() * withinMs, target);
    }
    atMs += random.exponential(meanMs);
  }
  for (const kind of options.kinds.filter(isRare)) addRare(plan, kind, options);
  return plan.filter((one) => one.atMs < lengthMs(options)).sort((a, b) => a.atMs - b.atMs);
}

/** A few times a run, wherever the rest of the plan is. */
function addRare(plan: PlannedFault[], kind: RareKind, options: Options): void {
  const random = createRandom(`${options.seed}/plan/${kind}`);
  const count = random.between(1, RARE_MOST);
  for (let at = 0; at < count; at += 1) {
    const spanMs = Math.max(0, lengthMs(options) - FIRST_AT_MS);
    plan.push({
      ...{ id: plan.length, kind, atMs: Math.round(FIRST_AT_MS + random.next() * spanMs) },
      durationMs: Math.round(random.exponential(random.pick([500, 5_000, 30_000]))),
      ...{ target: random.next(), severity: random.next() },
    });
  }
}
