// Deliveries in PostgreSQL: one row each, moved under the epoch of the Console that is designated. decision: D60, D101
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Alert } from '../../../machines/console/delivery/alert.ts';
import type { SensorMark } from '../../../machines/console/delivery/sensor-alerts.rules.ts';
import { newDelivery } from '../../../machines/console/delivery/standing.ts';
import { auditEntryOf } from '../../ports/audit/audit-entry.ts';
import type {
  AttemptRow,
  DeliveryCounts,
  DeliveryRow,
  DeliveryStore,
  NewDelivery,
} from '../../ports/delivery/delivery-store.ts';
import { after } from '../../ports/delivery/fold.ts';
import { auditOfReplayDead } from '../../ports/delivery/webhook-audit.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import {
  claim,
  deliveryOf,
  deliveryRows,
  reclaim,
  settle,
  sweep,
  write,
} from './delivery-moves.ts';

/** Makes the store. */
export function createDeliveryStore(db: Kysely<Database>): DeliveryStore {
  const transaction = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  const fenced = <T>(
    epoch: number | undefined,
    run: (trx: Transaction<Database>) => Promise<T>,
  ): Promise<T> =>
    transaction(async (trx) => {
      await holdFence(trx, epoch);
      return run(trx);
    });
  return {
    async marks() {
      const rows = await orUnavailable(() => db.selectFrom('alert_marks').selectAll().execute());
      return new Map<string, SensorMark>(rows.map((row) => [row.sensor_id, row.mark]));
    },
    post: (input) => fenced(input.epoch, (trx) => post(trx, input)),
    reclaim: (input) => fenced(input.epoch, (trx) => reclaim(trx, input)),
    claim: (input) => fenced(input.epoch, (trx) => claim(trx, input)),
    settle: (input) => fenced(input.epoch, (trx) => settle(trx, input)),
    sweep: (input) => fenced(input.epoch, (trx) => sweep(trx, input)),
    async list({ webhookId, state, limit, before }) {
      let page = deliveryRows(db).orderBy('deliveries.delivery_id', 'desc').limit(limit);
      if (webhookId !== undefined) {
        page = page.where('deliveries.webhook_id', '=', storableText(webhookId));
      }
      if (state !== undefined) page = page.where('deliveries.state', '=', state);
      if (before !== null) page = page.where('deliveries.delivery_id', '<', storableText(before));
      return (await orUnavailable(() => page.execute())).map(deliveryOf);
    },
    get: (deliveryId) => orUnavailable(() => get(db, storableText(deliveryId))),
    async counts() {
      const { rows } = await orUnavailable(() =>
        sql<{
          webhook_id: string;
          state: DeliveryCounts[number]['state'];
          count: number;
          oldest: number;
        }>`
          SELECT webhook_id, state, count(*)::bigint AS count, min(created_at_ms) AS oldest
          FROM deliveries GROUP BY webhook_id, state ORDER BY webhook_id, state
        `.execute(db),
      );
      return rows.map(({ webhook_id: webhookId, state, count, oldest: oldestAtMs }) => ({
        ...{ webhookId, state, count, oldestAtMs },
      }));
    },
    replay: (input) => transaction((trx) => replay(trx, input)),
    replayDead: (input) => transaction((trx) => replayDead(trx, input)),
  };
}

async function post(
  trx: Transaction<Database>,
  input: Parameters<DeliveryStore['post']>[0],
): Promise<void> {
  const { nowMs, alerts, deliveries, marks } = input;
  const there = await trx.selectFrom('webhooks').select('webhook_id').forKeyShare().execute();
  const known = new Set(there.map(({ webhook_id: id }) => id));
  const kept = deliveries.filter(({ webhookId }) => known.has(webhookId));
  const byId = new Map(alerts.map((alert) => [alert.alertId, alert]));
  const told = [...new Set(kept.map(({ alertId }) => alertId))].flatMap((id) => byId.get(id) ?? []);
  if (told.length > 0) {
    await trx
      .insertInto('delivery_alerts')
      .values(
        told.map((alert) => ({
          ...{ alert_id: alert.alertId, alert: JSON.stringify(alert), posted_at_ms: nowMs },
        })),
      )
      .onConflict((conflict) =>
        conflict.column('alert_id').doUpdateSet((eb) => ({
          alert: eb.ref('excluded.alert'),
          posted_at_ms: eb.ref('excluded.posted_at_ms'),
        })),
      )
      .execute();
    await sql`
      INSERT INTO deliveries (delivery_id, webhook_id, alert_id, dedup_key, state, due_at_ms,
        attempts, give_up_at_ms, created_at_ms)
      SELECT v.delivery_id, v.webhook_id, v.alert_id, v.dedup_key, v.state, v.due_at_ms,
        v.attempts, v.give_up_at_ms, ${nowMs}
      FROM json_to_recordset(${JSON.stringify(kept.map((one) => newRow(one, byId, nowMs)))}::json)
        AS v (delivery_id text, webhook_id text, alert_id text, dedup_key text, state text,
          due_at_ms bigint, attempts integer, give_up_at_ms bigint)
    `.execute(trx);
  }
  if (marks.length > 0) await writeMarks(trx, marks);
}

function newRow(
  { deliveryId, webhookId, alertId, dueAtMs: wantedMs }: NewDelivery,
  alerts: ReadonlyMap<string, Alert>,
  nowMs: number,
) {
  const { state, dueAtMs, attempts, giveUpAtMs } = newDelivery(wantedMs ?? nowMs);
  return {
    delivery_id: deliveryId,
    webhook_id: webhookId,
    alert_id: alertId,
    dedup_key: storableText(alerts.get(alertId)?.dedupKey ?? alertId),
    state,
    due_at_ms: dueAtMs,
    attempts,
    give_up_at_ms: giveUpAtMs,
  };
}

// A sensor that is gone keeps no mark.
async function writeMarks(
  trx: Transaction<Database>,
  marks: Parameters<DeliveryStore['post']>[0]['marks'],
): Promise<void> {
  await sql`
    INSERT INTO alert_marks (sensor_id, mark)
    SELECT s.sensor_id, v.mark::json
    FROM unnest(
      ${marks.map(({ sensorId }) => storableText(sensorId))}::text[],
      ${marks.map(({ mark }) => JSON.stringify(mark))}::text[]
    ) AS v (sensor_id, mark)
    JOIN sensors AS s ON s.sensor_id = v.sensor_id
    ON CONFLICT (sensor_id) DO UPDATE SET mark = excluded.mark
  `.execute(trx);
}

async function get(db: Kysely<Database>, deliveryId: string): ReturnType<DeliveryStore['get']> {
  const row = await deliveryRows(db)
    .where('deliveries.delivery_id', '=', deliveryId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const attempts = await db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('number')
    .execute();
  const folded = await db
    .selectFrom('deliveries')
    .select('delivery_id')
    .where('folded_into', '=', deliveryId)
    .orderBy('delivery_id')
    .execute();
  return {
    delivery: deliveryOf(row),
    attempts: attempts.map(
      (one): AttemptRow => ({
        number: one.number,
        atMs: one.at_ms,
        durationMs: one.duration_ms,
        outcome: one.outcome,
        status: one.status,
        detail: one.detail,
        request: one.request,
        response: one.response,
      }),
    ),
    folded: folded.map(({ delivery_id: id }) => id),
  };
}

async function replay(
  trx: Transaction<Database>,
  input: Parameters<DeliveryStore['replay']>[0],
): Promise<DeliveryRow | 'not_found' | 'not_ended'> {
  const found = await deliveryRows(trx)
    .where('deliveries.delivery_id', '=', storableText(input.deliveryId))
    .forUpdate('deliveries')
    .executeTakeFirst();
  if (found === undefined) return 'not_found';
  const before = deliveryOf(found);
  const next = after(before, { type: 'delivery.replayed', atMs: input.nowMs });
  if (next.state === before.state) return 'not_ended';
  await write(trx, [next]);
  await appendAudit(trx, [auditEntryOf(input, 'delivery.replay', input.deliveryId, 'ok')]);
  return next;
}

async function replayDead(
  trx: Transaction<Database>,
  input: Parameters<DeliveryStore['replayDead']>[0],
): Promise<number> {
  const found = await deliveryRows(trx)
    .where('deliveries.webhook_id', '=', storableText(input.webhookId))
    .where('deliveries.state', '=', 'dead')
    .orderBy('deliveries.delivery_id')
    .limit(input.limit)
    .forUpdate('deliveries')
    .execute();
  const atMs = input.nowMs;
  const next = found.map((row) => after(deliveryOf(row), { type: 'delivery.replayed', atMs }));
  await write(trx, next);
  await appendAudit(trx, [auditOfReplayDead(input, next.length)]);
  return next.length;
}
