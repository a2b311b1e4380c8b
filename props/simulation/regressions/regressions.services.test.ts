// The kept failing runs that take long.
import { describe } from 'vitest';
import { describeCases, SLOW } from './regressions-suite.ts';

describe('kept regressions, the slow ones', () => describeCases((name) => SLOW.has(name)));
