// At the end of a run on a real PostgreSQL both databases are asked for all that checkers look at, so that they have judged
// what the tables hold, also where no Console ever read it back.
import type { RelationalStores } from '../../../storage/ports/stores.ts';

export type LookedAt = Pick<
  RelationalStores,
  | 'users'
  | 'audit'
  | 'auditChain'
  | 'inventory'
  | 'alerts'
  | 'alertRules'
  | 'settings'
  | 'webhooks'
  | 'deliveries'
> & {
  readonly sensors: Omit<RelationalStores['sensors'], 'watchIdentities'>;
  readonly designation: Pick<RelationalStores['designation'], 'last'>;
};

const ALL = Number.MAX_SAFE_INTEGER;
const EVERYTHING = { limit: ALL, before: null } as const;

/** Asks for it; what differs is told call by call. */
export async function lookAtAll(on: LookedAt): Promise<void> {
  await on.sensors.loadSensors();
  await on.sensors.loadIdentities();
  await on.sensors.listTokens(EVERYTHING);
  await on.users.list({ limit: ALL, after: null });
  await on.audit.recent(ALL);
  await on.auditChain.checkpoints({ after: 0, limit: ALL });
  await on.designation.last();
  for (const { sensorId, section } of await on.inventory.loadHashes()) {
    await on.inventory.get(sensorId, section);
  }
  for (const { alert } of await on.alerts.list(EVERYTHING)) {
    await on.alerts.events({ alertId: alert.alertId, ...EVERYTHING });
  }
  await on.alerts.untold(ALL);
  await on.alertRules.list();
  await on.settings.list();
  for (const { webhookId } of await on.webhooks.list()) {
    await on.deliveries.list({ webhookId, ...EVERYTHING });
  }
}
