// The planted bugs whose runs take long.
import { describe } from 'vitest';
import { shareOf } from '../share.ts';
import { describeBugs, SLOW } from './planted-suite.ts';

const wanted = new Set(shareOf([...SLOW]));

describe('planted bugs, the slow ones', () => describeBugs((name) => wanted.has(name)));
