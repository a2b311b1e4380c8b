// The planted bugs whose runs take long.
import { describe } from 'vitest';
import { describeBugs, SLOW } from './planted-suite.ts';

describe('planted bugs, the slow ones', () => describeBugs((name) => SLOW.has(name)));
