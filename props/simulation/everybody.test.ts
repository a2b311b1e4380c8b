// A short run in which everybody is there: people, a keeper of alert rules, a warden, a publisher and receivers of webhooks.
// Each of them has runs of its own among the services. decision: D165, D168, D170
import { describe } from 'vitest';
import { CALM, RECEIVED } from './planted/settings.ts';
import { itHoldsOver } from './rough-suite.ts';

describe('everybody of the simulated fleet', () => {
  itHoldsOver(['2'], {
    promise: 'has what was promised to each of them',
    options: {
      ...{ ...CALM, ...RECEIVED, sensors: 1, people: 1, hours: 0.1, faultsPerHour: 60 },
      ...{ keepers: 1, wardens: 1, publishers: 1 },
      kinds: ['console.kill', 'relational.unsure', 'network.cut', 'node.kill', 'engine.crash'],
    },
    seen: { 'policies.in_force': 0, 'filter.applied': 0, 'webhook.received': 0, 'rule.told': 0 },
  });
});
