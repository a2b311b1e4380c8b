// Runs in which somebody publishes policies, assigns them, rolls them out and changes the keys, while nodes and Consoles die,
// power is lost, disks refuse and ways are cut.
import type { Options } from './options.ts';
import { CALM } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...CALM, sensors: 2, publishers: 1, hours: 0.25, faultsPerHour: 80 },
  kinds: [
    ...(['console.kill', 'console.stop', 'console.kill_at_call', 'relational.unsure'] as const),
    ...(['network.cut', 'node.kill', 'node.power_loss', 'node.kill_at_call'] as const),
    ...(['disk.full', 'disk.fail_sync', 'engine.crash', 'engine.hang'] as const),
  ],
};

/** Declares one test for each seed: it holds, and packs came into force and rollouts moved. */
export function itPublishesOver(seeds: readonly string[]): void {
  itHoldsOver(seeds, {
    promise: 'has nothing in force that was not published, and passes no failing gate',
    options: ROUGH,
    seen: { 'policies.in_force': 0, 'rollout.moved': 0, 'publisher.settled': 0 },
  });
}
