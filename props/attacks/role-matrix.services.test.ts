import { describe } from 'vitest';
import { describeRoleMatrix } from './role-matrix-suite.ts';

describe('attack 28: every operator route with every kind of caller', () => describeRoleMatrix(1));
