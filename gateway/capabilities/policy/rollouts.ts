// Rollouts: versions that reach the sensors of a target in stages. The designated Console drives them; every Console tells
// what moved them. decision: D60, D90
import { createStandingAlerts } from '../../../actors/detection/standing-alerts.ts';
import type { DesignatedLoop } from '../../../actors/loops/loop.ts';
import { createRolloutActs, type RolloutActs } from '../../../actors/policy/rollout-acts.ts';
import { rolloutsHalted } from '../../../actors/policy/rollout-alerts.ts';
import { followRollouts } from '../../../actors/policy/rollout-feed.ts';
import { createRolloutLooks } from '../../../actors/policy/rollout-looks.ts';
import { rolloutMachine } from '../../../machines/console/policy/rollout.machine.ts';
import { ROLLOUT_LOOK_INTERVAL_MS } from '../../../machines/limits.ts';
import type { Capability } from '../../capability.ts';
import { rolloutDirectory } from '../../operator-plane/policy/rollout-directory.ts';
import { rolloutRoutes } from '../../operator-plane/policy/rollouts.ts';
import { detection } from '../detection/detection.ts';
import { fleet } from '../fleet/fleet.ts';
import { packs } from './packs.ts';
import { policy } from './policy.ts';

export const rollouts: Capability<RolloutActs> = {
  name: 'rollouts',
  open(context) {
    const { relational, logger, time, chance, cursors } = context;
    const { book } = context.use(packs);
    const wanted = context.use(policy);
    const { feed } = context.use(fleet);
    const store = relational.rollouts;
    const stalenessMs = () => context.intervals.STALENESS_WINDOW_MS;
    const looks = createRolloutLooks({ book, store, wanted, now: time.now, stalenessMs });
    const acts = createRolloutActs({ book, looks, wanted, now: time.now, logger });
    const stopFollowing = followRollouts({ book, feed });
    const tell = createStandingAlerts(context.use(detection).alerts);
    const tellHalted = (epoch: number) =>
      tell(rolloutsHalted(book.book().rollouts.values(), chance.newId), epoch);
    const routes = { book, rollouts: acts, looks, store, cursors, chance, now: time.now };
    return {
      service: acts,
      operatorRoutes: () => [rolloutRoutes(routes)],
      loops: () => [loopOf(acts, tellHalted)],
      machines: [rolloutMachine],
      directories: [rolloutDirectory(book)],
      close: stopFollowing,
    };
  },
};

function loopOf(acts: RolloutActs, tellHalted: (epoch: number) => Promise<void>): DesignatedLoop {
  return {
    name: 'rollouts',
    runsOn: 'designated',
    everyMs: ROLLOUT_LOOK_INTERVAL_MS,
    async run({ epoch }) {
      await acts.drive(epoch);
      await tellHalted(epoch);
      return undefined;
    },
  };
}
