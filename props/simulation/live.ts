// The time of a run with accidents. Each begins and ends at its planned moment; while nothing is wrong and the next is
// far away, the world sleeps, so that a month is told in minutes. It never sleeps so long that a certificate would pass
// through a whole window of its life unseen.
import type { FleetView } from './checkers/checker.ts';
import { calmForMs, isKeptOut } from './checkers/liveness.ts';
import type { FaultEffect, FaultKind, PlannedFault } from './faults/kinds.ts';

/** How often it looks whether all is calm. */
const CALM_LOOK_MS = 5_000;
/** Awake for so long before an accident. */
const AWAKE_BEFORE_MS = 20_000;
const SLEEP_MIN_MS = 30_000;
/** A fleet that is not well for so long gets help. */
const HELP_AFTER_MS = 240_000;

type Living = {
  readonly endMs: number;
  readonly effects: Readonly<Record<FaultKind, FaultEffect>>;
  /** Accidents that are on, with what ends them. */
  readonly ongoing: Map<PlannedFault, () => void>;
  readonly isOver: () => boolean;
  /** People look after nodes that cannot go on by themselves. */
  readonly help: () => void;
};

/** Lives through the plan; answers how many accidents of each kind there were. */
export async function live(
  view: FleetView,
  plan: readonly PlannedFault[],
  { endMs, effects, ongoing, isOver, help }: Living,
): Promise<Readonly<Record<string, number>>> {
  const { world, intervals } = view;
  const { scheduler } = world;
  const counts: Record<string, number> = {};
  let wellAtMs = 0;
  const sleepMaxMs = intervals.RENEWAL_DUE_MS / 2;

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

  function calmMs(): number | null {
    return ongoing.size === 0 ? calmForMs(view) : null;
  }

  /** To the moment, awake where anything is going on. */
  async function passUntil(ms: number): Promise<void> {
    while (scheduler.now() < ms && !isOver()) {
      const calm = calmMs();
      const isAllWell = calm !== null;
      const untilMs = Math.min(ms - scheduler.now(), calm ?? 0);
      const spareMs = Math.min(sleepMaxMs, untilMs - AWAKE_BEFORE_MS);
      if (isAllWell) wellAtMs = scheduler.now();
      // While things are found all the time, it is never calm.
      if (isAllWell && view.receivers === 0 && spareMs >= SLEEP_MIN_MS) {
        scheduler.sleep(spareMs);
        world.observe({ kind: 'world.slept', ms: spareMs });
        wellAtMs = scheduler.now();
        // Whoever was kept out before it tries again.
        if (view.nodes.some(isKeptOut)) help();
      }
      if (scheduler.now() - wellAtMs >= HELP_AFTER_MS) {
        help();
        wellAtMs = scheduler.now();
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
