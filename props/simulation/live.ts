// The time of a run with accidents. Each begins and ends at its planned moment; while nothing is wrong and the next is
// far away, the world sleeps, so that a month is told in minutes. It never sleeps so long that a certificate would pass
// through a whole window of its life unseen.
import type { FleetView } from './checkers/checker.ts';
import { whatIsMissing } from './checkers/liveness.ts';
import type { FaultEffect, FaultKind, PlannedFault } from './faults/kinds.ts';

/** How often it looks whether all is calm. */
const CALM_LOOK_MS = 5_000;
/** Awake for so long before an accident. */
const AWAKE_BEFORE_MS = 20_000;
const SLEEP_MIN_MS = 30_000;

type Living = {
  readonly endMs: number;
  readonly effects: Readonly<Record<FaultKind, FaultEffect>>;
  /** Accidents that are on, with what ends them. */
  readonly ongoing: Map<PlannedFault, () => void>;
  readonly isOver: () => boolean;
};

/** Lives through the plan; answers how many accidents of each kind there were. */
export async function live(
  view: FleetView,
  plan: readonly PlannedFault[],
  { endMs, effects, ongoing, isOver }: Living,
): Promise<Readonly<Record<string, number>>> {
  const { world, intervals } = view;
  const { scheduler } = world;
  const counts: Record<string, number> = {};
  const sleepMaxMs = intervals.RENEWAL_DUE_MS / 4;

  function begin(fault: PlannedFault): void {
    counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
    world.observe({
      kind: 'fault',
      fault: fault.kind,
      target: `${fault.id}`,
      detail: `for ${fault.durationMs} ms`,
    });
    const end = effects[fault.kind](fault);
    ongoing.set(fault, end);
    scheduler.after(fault.durationMs, () => {
      if (ongoing.delete(fault)) end();
    });
  }

  function isCalm(): boolean {
    return ongoing.size === 0 && whatIsMissing(view).length === 0;
  }

  /** To the moment, awake where anything is going on. */
  async function passUntil(ms: number): Promise<void> {
    while (scheduler.now() < ms && !isOver()) {
      const spareMs = Math.min(sleepMaxMs, ms - AWAKE_BEFORE_MS - scheduler.now());
      if (spareMs >= SLEEP_MIN_MS && isCalm()) {
        scheduler.sleep(spareMs);
        world.observe({ kind: 'world.slept', ms: spareMs });
      }
      await scheduler.runUntil(Math.min(ms, scheduler.now() + CALM_LOOK_MS));
    }
  }

  for (const fault of plan) {
    await passUntil(fault.atMs);
    if (isOver()) return counts;
    begin(fault);
  }
  await passUntil(endMs);
  return counts;
}
