// The audit log: read by operators, and sealed while the Console runs. decision: D35; invariant: I17
import { auditSealerLoop } from '../../../actors/audit/audit-sealer.ts';
import type { Capability } from '../../capability.ts';
import { auditRoutes } from '../../operator-plane/audit/audit.ts';

export const audit: Capability<null> = {
  name: 'audit',
  open(context) {
    const { relational, logger, time, cursors, keys } = context;
    const { audit: log, auditChain: chain } = relational;
    const { now } = time;
    return {
      service: null,
      operatorRoutes: () => [auditRoutes({ audit: log, auditChain: chain, cursors, now })],
      async loops() {
        const signer = await keys.auditCheckpoints();
        return [auditSealerLoop({ chain, signer, logger, now })];
      },
    };
  },
};
