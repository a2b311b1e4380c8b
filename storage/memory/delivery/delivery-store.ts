// The reference store of deliveries. decision: D60, D101
import { newDelivery } from '../../../machines/console/delivery/standing.ts';
import { auditEntryOf } from '../../ports/audit/audit-entry.ts';
import type {
  DeliveryCounts,
  DeliveryRow,
  DeliveryStore,
} from '../../ports/delivery/delivery-store.ts';
import { after } from '../../ports/delivery/fold.ts';
import { auditOfReplayDead } from '../../ports/delivery/webhook-audit.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import { moveCalls } from './delivery-moves.ts';
import { carriedBy, type DeliveryDeps, type DeliveryState, type Kept } from './delivery-state.ts';

/** The calls on a state. */
export function deliveryCalls(state: DeliveryState, deps: DeliveryDeps): Calls<DeliveryStore> {
  return { ...postCalls(state, deps), ...moveCalls(state, deps), ...readCalls(state, deps.record) };
}

function postCalls(
  { webhooks, deliveries, marks: kept }: DeliveryState,
  { fence, hasSensor }: DeliveryDeps,
): Pick<Calls<DeliveryStore>, 'marks' | 'post'> {
  return {
    marks: () => new Map(kept),
    post({ epoch, nowMs, alerts, deliveries: wanted, marks }) {
      fence(epoch);
      const byId = new Map(alerts.map((alert) => [alert.alertId, alert]));
      for (const { deliveryId, webhookId, alertId, dueAtMs = nowMs } of wanted) {
        const alert = byId.get(alertId);
        if (!webhooks.has(webhookId) || alert === undefined) continue;
        const row = { deliveryId, webhookId, alert, createdAtMs: nowMs, ...newDelivery(dueAtMs) };
        deliveries.set(deliveryId, { ...row, lease: null });
      }
      const posted = new Set(wanted.map(({ alertId }) => alertId));
      for (const [id, row] of deliveries) {
        const alert = posted.has(row.alert.alertId) ? byId.get(row.alert.alertId) : undefined;
        if (alert !== undefined) deliveries.set(id, { ...row, alert });
      }
      for (const { sensorId, mark } of marks) if (hasSensor(sensorId)) kept.set(sensorId, mark);
    },
  };
}

function readCalls(
  { deliveries, attempts }: DeliveryState,
  record: DeliveryDeps['record'],
): Pick<Calls<DeliveryStore>, 'list' | 'get' | 'counts' | 'replay' | 'replayDead'> {
  const all = (): readonly DeliveryRow[] =>
    [...deliveries.values()].map(plain).sort((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1));
  const put = (row: DeliveryRow): void =>
    void deliveries.set(row.deliveryId, { ...row, lease: null });
  return {
    list: ({ webhookId, state, limit, before }) =>
      all()
        .filter((row) => webhookId === undefined || row.webhookId === webhookId)
        .filter((row) => state === undefined || row.state === state)
        .filter((row) => before === null || row.deliveryId < before)
        .slice(0, limit),
    get(deliveryId) {
      const row = deliveries.get(deliveryId);
      if (row === undefined) return null;
      const folded = carriedBy(deliveries, deliveryId);
      return { delivery: plain(row), attempts: attempts.get(deliveryId) ?? [], folded };
    },
    counts: () => countsOf(all()),
    replay(input) {
      const row = deliveries.get(input.deliveryId);
      if (row === undefined) return 'not_found';
      const next = after(plain(row), { type: 'delivery.replayed', atMs: input.nowMs });
      if (next.state === row.state) return 'not_ended';
      put(next);
      record(auditEntryOf(input, 'delivery.replay', input.deliveryId, 'ok'));
      return next;
    },
    replayDead(input) {
      const dead = all()
        .filter(({ webhookId, state }) => webhookId === input.webhookId && state === 'dead')
        .toReversed()
        .slice(0, input.limit);
      for (const row of dead) put(after(row, { type: 'delivery.replayed', atMs: input.nowMs }));
      record(auditOfReplayDead(input, dead.length));
      return dead.length;
    },
  };
}

function countsOf(rows: readonly DeliveryRow[]): DeliveryCounts {
  const counts = new Map<string, DeliveryCounts[number]>();
  for (const { webhookId, state, createdAtMs } of rows) {
    const key = `${webhookId} ${state}`;
    const { count = 0, oldestAtMs = createdAtMs } = counts.get(key) ?? {};
    const oldest = Math.min(oldestAtMs, createdAtMs);
    counts.set(key, { webhookId, state, count: count + 1, oldestAtMs: oldest });
  }
  return [...counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function plain({ lease: _lease, ...row }: Kept): DeliveryRow {
  return row;
}
