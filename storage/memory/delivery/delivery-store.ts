// The reference store of deliveries. decision: D60, D101
import type { SensorMark } from '../../../machines/console/delivery/sensor-alerts.rules.ts';
import { newDelivery } from '../../../machines/console/delivery/standing.ts';
import { DELIVERY_ATTEMPTS_KEPT_MAX } from '../../../machines/limits.ts';
import type {
  AttemptRow,
  DeliveryCounts,
  DeliveryRow,
  DeliveryStore,
} from '../../ports/delivery/delivery-store.ts';
import { after, takenOf } from '../../ports/delivery/fold.ts';
import { auditOfReplayDead, auditOfWebhook } from '../../ports/delivery/webhook-audit.ts';
import type { WebhookRow } from '../../ports/delivery/webhook-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { DeliveryDeps } from './webhook-store.ts';

type Lease = { readonly epoch: number; readonly untilMs: number };
type Kept = DeliveryRow & { readonly lease: Lease | null };
export type DeliveryState = {
  readonly webhooks: Map<string, WebhookRow>;
  readonly deliveries: Map<string, Kept>;
  readonly attempts: Map<string, readonly AttemptRow[]>;
  readonly marks: Map<string, SensorMark>;
};

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
      for (const { deliveryId, webhookId, alertId } of wanted) {
        const alert = byId.get(alertId);
        if (!webhooks.has(webhookId) || alert === undefined) continue;
        const row = { deliveryId, webhookId, alert, createdAtMs: nowMs, ...newDelivery(nowMs) };
        deliveries.set(deliveryId, { ...row, lease: null });
      }
      for (const { sensorId, mark } of marks) if (hasSensor(sensorId)) kept.set(sensorId, mark);
    },
  };
}

function moveCalls(
  { webhooks, deliveries, attempts: log }: DeliveryState,
  { fence }: DeliveryDeps,
): Pick<Calls<DeliveryStore>, 'reclaim' | 'claim' | 'settle' | 'sweep'> {
  const put = (row: DeliveryRow, lease: Lease | null): void =>
    void deliveries.set(row.deliveryId, { ...row, lease: row.state === 'sending' ? lease : null });
  const note = (deliveryId: string, attempt: AttemptRow): void => {
    const own = log.get(deliveryId) ?? [];
    if (own.some(({ number }) => number === attempt.number)) return;
    const kept = [...own, attempt].sort((a, b) => a.number - b.number);
    const newest = Math.max(...kept.map(({ number }) => number));
    log.set(
      deliveryId,
      kept.filter(({ number }) => number > newest - DELIVERY_ATTEMPTS_KEPT_MAX),
    );
  };
  return {
    reclaim({ epoch, nowMs: atMs }) {
      fence(epoch);
      const lost = [...deliveries.values()].filter(
        ({ state, lease }) =>
          state === 'sending' && (lease?.epoch !== epoch || lease.untilMs <= atMs),
      );
      for (const row of lost) {
        note(row.deliveryId, {
          ...{ number: row.attempts, atMs, durationMs: 0, outcome: 'interrupted', status: null },
          ...{ detail: 'the Console that tried is gone', request: '', response: '' },
        });
        put(after(row, { type: 'attempt.lost', atMs }), null);
      }
      return lost.length;
    },
    claim({ epoch, nowMs, leaseUntilMs, quotas }) {
      fence(epoch);
      const waiting = [...deliveries.values()].filter(({ state }) => state === 'waiting');
      const due = [...quotas].flatMap(([id, quota]) =>
        waiting
          .filter(({ webhookId, dueAtMs }) => webhookId === id && dueAtMs <= nowMs)
          .sort((a, b) => a.dueAtMs - b.dueAtMs || (a.deliveryId < b.deliveryId ? -1 : 1))
          .slice(0, quota),
      );
      const keyOf = (row: DeliveryRow): string =>
        `${row.webhookId} ${storableText(row.alert.dedupKey)}`;
      const keys = new Set(due.map(keyOf));
      const taken = takenOf(
        waiting.filter((row) => keys.has(keyOf(row))),
        nowMs,
      );
      for (const { carrier, folded } of taken) {
        put(carrier, { epoch, untilMs: leaseUntilMs });
        const gone = new Set(folded.map(({ deliveryId }) => deliveryId));
        for (const row of folded) put(row, null);
        for (const row of deliveries.values()) {
          if (row.foldedInto === null || !gone.has(row.foldedInto)) continue;
          put({ ...row, foldedInto: carrier.deliveryId }, null);
        }
      }
      return taken.map(({ carrier }) => ({
        ...carrier,
        folded: carriedBy(deliveries, carrier.deliveryId).length,
      }));
    },
    settle({ epoch, nowMs, attempts, destinations, recovered }) {
      fence(epoch);
      for (const { deliveryId, standing, attempt } of attempts) {
        const row = deliveries.get(deliveryId);
        if (row?.state !== 'sending' || row.lease?.epoch !== epoch) continue;
        if (row.attempts !== standing.attempts) continue;
        const { deliveryId: _id, ...next } = { ...standing, deliveryId };
        put({ ...row, ...next }, null);
        const { detail, request, response } = attempt;
        note(deliveryId, {
          ...attempt,
          detail: storableText(detail),
          request: storableText(request),
          response: storableText(response),
        });
      }
      for (const { webhookId, destination } of destinations) {
        const row = webhooks.get(webhookId);
        if (row !== undefined) webhooks.set(webhookId, { ...row, destination });
      }
      for (const row of deliveries.values()) {
        if (row.state !== 'waiting' || !recovered.includes(row.webhookId)) continue;
        put(after(row, { type: 'destination.recovered', atMs: nowMs }), null);
      }
    },
    sweep({ epoch, nowMs: atMs, waitingMax, endedBeforeMs, limit }) {
      fence(epoch);
      const tooMany = [...webhooks.keys()].flatMap((id) =>
        [...deliveries.values()]
          .filter(({ webhookId, state }) => webhookId === id && state === 'waiting')
          .sort((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1))
          .slice(waitingMax),
      );
      const dropped = tooMany.sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
      for (const row of dropped.slice(0, limit)) {
        put(after(row, { type: 'delivery.dropped', atMs }), null);
      }
      const old = [...deliveries.values()]
        .filter(({ endedAtMs }) => endedAtMs !== null && endedAtMs < endedBeforeMs)
        .slice(0, limit);
      for (const { deliveryId } of old) {
        deliveries.delete(deliveryId);
        log.delete(deliveryId);
      }
      return { dropped: Math.min(limit, dropped.length), removed: old.length };
    },
  };
}

function readCalls(
  { deliveries, attempts }: DeliveryState,
  record: DeliveryDeps['record'],
): Pick<Calls<DeliveryStore>, 'list' | 'get' | 'counts' | 'replay' | 'replayDead'> {
  const all = (): readonly DeliveryRow[] =>
    [...deliveries.values()]
      .map(plain)
      .sort((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1));
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
      record(auditOfWebhook(input, 'delivery.replay', input.deliveryId, 'ok'));
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

function carriedBy(deliveries: ReadonlyMap<string, Kept>, deliveryId: string): readonly string[] {
  return [...deliveries.values()]
    .filter(({ foldedInto }) => foldedInto === deliveryId)
    .map((row) => row.deliveryId)
    .sort();
}

function plain({ lease: _lease, ...row }: Kept): DeliveryRow {
  return row;
}
