// Runs in which things are found that receivers of webhooks want to hear, while Consoles and their database fail and
// receivers are busy, fail, say nothing, cut, lead inside, move inside or refuse.
import { expect, it } from 'vitest';
import type { Options } from './options.ts';
import { RECEIVED } from './planted/settings.ts';
import { runSimulation } from './run.ts';

const PATIENCE_MS = 300_000;
const ROUGH: Omit<Options, 'seed' | 'profile'> = {
  ...{ ...RECEIVED, consoles: 2, hours: 0.3, faultsPerHour: 90 },
  kinds: [
    ...(['console.kill', 'console.stop', 'console.kill_at_call'] as const),
    ...(['console.power_loss', 'relational.away', 'relational.unsure', 'relational.slow'] as const),
  ],
};

/** Declares one test for each seed: it holds, and much was found and taken. */
export function itDeliversOver(seeds: readonly string[], receivers = ROUGH.receivers): void {
  it.each(seeds)(
    'always accounts for each alert at each receiver, over accidents: seed %s',
    async (seed) => {
      const result = await runSimulation({ ...ROUGH, receivers, seed, profile: 'smoke' });
      const { outcome, violations, crashes } = result;
      expect({ outcome, violations, crashes }).toEqual({
        ...{ outcome: 'held', violations: [], crashes: [] },
      });
      expect(result.observations['alert.raised']).toBeGreaterThan(10);
      expect(result.observations['webhook.received']).toBeGreaterThan(10);
    },
    PATIENCE_MS,
  );
}
