// The pinned seeds of the smoke profile that `npm test` has no time for.
import { describe } from 'vitest';
import { itHoldsOver } from './smoke-suite.ts';

describe('the simulated fleet, further seeds', () => itHoldsOver(9, 40));
