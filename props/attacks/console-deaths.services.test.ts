// The long run.
import { describe } from 'vitest';
import { describeDeaths } from './console-deaths.ts';

describe('attack 21: a Console that dies around the write of a batch', () => describeDeaths(12));
