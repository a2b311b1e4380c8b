// Runs with somebody who publishes policies, and one whose seed is fresh where PROPS_SEED is. decision: D170
import { describe } from 'vitest';
import { itPublishesOver } from './publisher-suite.ts';
import { shareOf } from './share.ts';

describe('the publisher of the simulated fleet', () => {
  itPublishesOver(shareOf(['1', '2', '3', '4', '5', process.env['PROPS_SEED'] ?? '6']));
});
