// What a kept case has to do: hold. Those that take long are named here and run with `npm run test:services`.
import { expect, it } from 'vitest';
import { runSimulation } from '../run.ts';
import { caseOf, keptRegressions } from './regression.ts';

/** For a machine that is busy with other things; the longest takes three seconds of a core. */
const PATIENCE_MS = 600_000;

/** More than half a second of a core each. */
export const SLOW: ReadonlySet<string> = new Set([
  'alert-counts-n28x-189',
  'alert-states-n28z-543',
  'channel-order-2026-1951',
  'channel-order-20261214-4108',
  'channel-order-d-11',
  'channel-order-dr27',
  'channel-order-ds38',
  'containment-n28x-83',
  'containment-prof-2',
  'containment-rb-26',
  'containment-rb-3',
  'habits-20261206-189',
  'habits-fin209',
  'habits-rb-41',
  'health-rule-634',
  'liveness-103',
  'liveness-20',
  'liveness-fo-7',
  'liveness-loss7s-659',
  'loss-ledger-20261125-210',
  'loss-ledger-loss7n-144',
  'node-sockets-20261205-2253',
  'node-sockets-20261205-918',
  'rebuilt-from-facts-20261223-112',
  'search-edges-n28x-107',
  'search-edges-n28x-152',
  'staleness-20261211-612',
  'staleness-605',
]);

/** Declares a test for each kept case whose name is wanted. */
export function describeCases(isWanted: (name: string) => boolean): void {
  for (const { name, regression } of keptRegressions()) {
    if (!isWanted(name)) continue;
    it(`should hold: ${name} (${regression.story})`, { timeout: PATIENCE_MS }, async () => {
      const { options, plan } = caseOf(regression);
      const { crashes, violations } = await runSimulation(options, { plan });
      expect({ crashes, violations }).toEqual({ crashes: [], violations: [] });
    });
  }
}
