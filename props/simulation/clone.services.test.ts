// Further runs with cloned nodes, and one whose seed is fresh where PROPS_SEED is. decision: D172
import { describe } from 'vitest';
import { itIsToldOfClonesOver } from './clone-suite.ts';

describe('cloned nodes of the simulated fleet', () => {
  itIsToldOfClonesOver(['2', '3', '4', process.env['PROPS_SEED'] ?? '5']);
});
