// Runs with receivers of webhooks, and one whose seed is fresh where PROPS_SEED is. decision: D165
import { describe } from 'vitest';
import { itDeliversOver } from './deliveries-suite.ts';
import { shareOf } from './share.ts';

const FRESH = process.env['PROPS_SEED'] ?? '20261121';

describe('deliveries of the simulated fleet', () => {
  itDeliversOver(shareOf(['2', '3', '4', '9', '13', '18', '20', `${FRESH}/deliveries`]));
  // So many that not all of them can be sent to at once.
  itDeliversOver(['5'], 25);
});
