// Runs with cloned nodes, and one whose seed is fresh where PROPS_SEED is. decision: D172
import { describe } from 'vitest';
import { itIsToldOfClonesOver } from './clone-suite.ts';
import { shareOf } from './share.ts';

describe('cloned nodes of the simulated fleet', () => {
  itIsToldOfClonesOver(shareOf(['1', '2', '3', '4', process.env['PROPS_SEED'] ?? '5']));
});
