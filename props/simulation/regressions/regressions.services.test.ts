// The kept failing runs that take long.
import { describe } from 'vitest';
import { shareOf } from '../share.ts';
import { describeCases, SLOW } from './regressions-suite.ts';

const wanted = new Set(shareOf([...SLOW]));

describe('kept regressions, the slow ones', () => describeCases((name) => wanted.has(name)));
