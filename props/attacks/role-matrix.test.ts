// Attack 28: of the callers that differ by one scope a part tries each route; the services have all of them.
import { describeRoleMatrix } from './role-matrix-suite.ts';

describeRoleMatrix(16);
