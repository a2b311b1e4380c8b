// Runs in which things are found that receivers of webhooks want to hear, while Consoles and their database fail and
// receivers are busy, fail, say nothing, cut, lead inside, move inside or refuse.
import type { Options } from './options.ts';
import { RECEIVED } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...RECEIVED, consoles: 2, hours: 0.3, faultsPerHour: 90 },
  kinds: [
    ...(['console.kill', 'console.stop', 'console.kill_at_call'] as const),
    ...(['console.power_loss', 'relational.away', 'relational.unsure', 'relational.slow'] as const),
  ],
};

/** Declares one test for each seed: it holds, and much was found and taken. */
export function itDeliversOver(seeds: readonly string[], receivers = ROUGH.receivers): void {
  itHoldsOver(seeds, {
    promise: 'always accounts for each alert at each receiver',
    options: { ...ROUGH, receivers },
    seen: { 'alert.raised': 10, 'webhook.received': 10 },
  });
}
