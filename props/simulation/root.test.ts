// The pinned run in which the root changes; the bugs of this part are found among the planted ones. decision: D173
import { describe } from 'vitest';
import { itOutlivesRootsOver } from './root-suite.ts';

describe('a new root in the simulated fleet', () => {
  itOutlivesRootsOver(['1']);
});
