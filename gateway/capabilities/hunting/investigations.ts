// Investigations: what belongs to one suspicion, until it has its outcome. Archives are signed with the key of the audit
// checkpoints, which people know already. decision: D143
import { createInvestigations } from '../../../actors/hunting/investigations.ts';
import { investigationMachine } from '../../../machines/console/hunting/investigation.machine.ts';
import type { Capability } from '../../capability.ts';
import { investigationItemRoutes } from '../../operator-plane/hunting/investigation-items.ts';
import { investigationRoutes } from '../../operator-plane/hunting/investigations.ts';
import { telemetry } from '../telemetry/telemetry.ts';

export const investigations: Capability = {
  name: 'investigations',
  async open(context) {
    const { relational, analytics, time, chance, cursors } = context;
    const { searches } = context.use(telemetry);
    const { events } = analytics;
    const { alerts, sensors, audit, users } = relational;
    const signer = await context.keys.auditCheckpoints();
    const service = createInvestigations({
      ...{ store: relational.investigations, items: relational.investigationItems, chance },
    });
    const routes = { investigations: service, users, cursors, now: time.now };
    const collected = { ...routes, events, searches, alerts, sensors, audit, signer };
    return {
      service,
      operatorRoutes: () => [investigationRoutes(routes), investigationItemRoutes(collected)],
      machines: [investigationMachine],
    };
  },
};
