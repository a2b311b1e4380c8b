// The pinned seeds of the smoke profile that `npm test` has no time for; `.ci/nightly seeds` has ten thousand fresh ones.
import { describe } from 'vitest';
import { shareOf } from './share.ts';
import { itHoldsOver } from './smoke-suite.ts';

const SEEDS = Array.from({ length: 16 }, (_, at) => at + 1);

describe('the simulated fleet, further seeds', () => itHoldsOver(shareOf(SEEDS)));
