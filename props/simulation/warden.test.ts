// The pinned run with somebody who contains nodes; the bugs of this part are found among the planted ones. decision: D168
import { describe } from 'vitest';
import { itContainsOver } from './warden-suite.ts';

describe('the warden of the simulated fleet', () => {
  itContainsOver(['2']);
});
