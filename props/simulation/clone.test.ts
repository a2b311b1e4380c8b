// The pinned run with cloned nodes; the bugs of this part are found among the planted ones. decision: D172
import { describe } from 'vitest';
import { itIsToldOfClonesOver } from './clone-suite.ts';

describe('cloned nodes of the simulated fleet', () => {
  itIsToldOfClonesOver(['1']);
});
