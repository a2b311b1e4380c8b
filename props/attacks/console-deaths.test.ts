// The short run; `console-deaths.services.test.ts` dies more often.
import { describe } from 'vitest';
import { describeDeaths } from './console-deaths.ts';

describe('attack 21: a Console that dies around the write of a batch', () => describeDeaths(3));
