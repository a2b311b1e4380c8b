// Runs in which the root changes, and one whose seed is fresh where PROPS_SEED is. decision: D173
import { describe } from 'vitest';
import { itOutlivesRootsOver } from './root-suite.ts';
import { shareOf } from './share.ts';

describe('a new root in the simulated fleet', () => {
  itOutlivesRootsOver(shareOf(['1', '2', '3', '4', process.env['PROPS_SEED'] ?? '5']));
});
