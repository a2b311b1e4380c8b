import { describeRoleMatrix } from './role-matrix-suite.ts';

describeRoleMatrix(16);
