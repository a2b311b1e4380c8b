// Of the callers that differ by one scope a part tries each route; the services have all of them.
import { describe } from 'vitest';
import { describeRoleMatrix } from './role-matrix-suite.ts';

describe('attack 28: every operator route with every kind of caller', () => describeRoleMatrix(32));
