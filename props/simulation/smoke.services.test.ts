// The pinned seeds of the smoke profile that `npm test` has no time for; `.ci/nightly seeds` has ten thousand fresh ones.
import { describe } from 'vitest';
import { itHoldsOver } from './smoke-suite.ts';

describe('the simulated fleet, further seeds', () => itHoldsOver(1, 16));
