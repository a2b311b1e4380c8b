// The audit log: read by operators, and sealed while the Console runs. decision: D35; invariant: I17
import { startAuditSealer } from '../../../actors/audit/audit-sealer.actor.ts';
import { auditSealerMachine } from '../../../machines/console/audit/audit-sealer.machine.ts';
import type { Capability } from '../../capability.ts';
import { auditRoutes } from '../../operator-plane/audit/audit.ts';
import { createStoreView } from '../../operator-plane/system/store-view.ts';

export const audit: Capability<null> = {
  name: 'audit',
  open(context) {
    const { relational, clock, logger, time, cursors, keys } = context;
    const { audit: log, auditChain } = relational;
    const sealers = createStoreView(time.now, 'audit-sealer');
    return {
      service: null,
      operatorRoutes: () => [auditRoutes({ audit: log, auditChain, cursors, now: time.now })],
      machines: [auditSealerMachine],
      directories: [sealers],
      async background() {
        const signer = await keys.auditCheckpoints();
        const sealer = startAuditSealer({
          chain: auditChain,
          ...{ signer, clock, logger, now: time.now },
        });
        sealers.add('audit', sealer);
        return sealer.stop;
      },
    };
  },
};
