// Runs with somebody who contains nodes, and one whose seed is fresh where PROPS_SEED is. decision: D168
import { describe } from 'vitest';
import { shareOf } from './share.ts';
import { itContainsOver } from './warden-suite.ts';

describe('the warden of the simulated fleet', () => {
  itContainsOver(shareOf(['1', '2', '3', '4', process.env['PROPS_SEED'] ?? '5']));
});
