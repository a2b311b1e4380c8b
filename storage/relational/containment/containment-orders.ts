// Containment orders on PostgreSQL. decision: D85
import type { Kysely, Selectable } from 'kysely';
import {
  auditOfOrder,
  type ContainmentOrderRow,
  type ContainmentOrders,
  type PlaceOrder,
  type PlaceOutcome,
} from '../../ports/containment/containment-orders.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { notifyIdentities } from '../plumbing/transaction.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { ContainmentOrdersTable } from './tables.ts';

/** Makes the store. */
export function createContainmentOrders(db: Kysely<Database>): ContainmentOrders {
  return {
    place: (input) => place(db, input),
    async list({ sensorId, limit, before }) {
      let page = db
        .selectFrom('containment_orders')
        .selectAll()
        .where('sensor_id', '=', storableText(sensorId))
        .orderBy('order_id', 'desc')
        .limit(limit);
      if (before !== null) page = page.where('order_id', '<', storableText(before));
      return (await orUnavailable(() => page.execute())).map(orderOf);
    },
  };
}

export function orderOf(row: Selectable<ContainmentOrdersTable>): ContainmentOrderRow {
  return {
    orderId: row.order_id,
    sensorId: row.sensor_id,
    wanted: row.wanted,
    reason: row.reason,
    orderedBy: row.ordered_by,
    orderedAtMs: row.ordered_at_ms,
    untilMs: row.until_ms,
  };
}

function place(db: Kysely<Database>, input: PlaceOrder): Promise<PlaceOutcome> {
  const sensorId = storableText(input.sensorId);
  return orUnavailable(() =>
    db.transaction().execute(async (trx): Promise<PlaceOutcome> => {
      // Orders of one sensor wait for each other here.
      const sensor = await trx
        .selectFrom('sensors')
        .select(['revoked_at_ms', 'containment_order_id'])
        .where('sensor_id', '=', sensorId)
        .forUpdate()
        .executeTakeFirst();
      if (sensor === undefined || sensor.revoked_at_ms !== null) {
        const code = sensor === undefined ? 'not_found' : 'sensor_is_revoked';
        await appendAudit(trx, [auditOfOrder(input, code)]);
        return { ok: false, code };
      }
      const newest = sensor.containment_order_id;
      if (newest !== null && newest >= input.orderId) {
        return { ok: false, code: 'overtaken', by: newest };
      }
      const row = await trx
        .insertInto('containment_orders')
        .values({
          order_id: input.orderId,
          sensor_id: sensorId,
          wanted: input.wanted,
          reason: storableText(input.reason),
          ordered_by: storableText(input.actor),
          ordered_at_ms: input.nowMs,
          until_ms: input.untilMs,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await trx
        .updateTable('sensors')
        .set({ containment_order_id: input.orderId })
        .where('sensor_id', '=', sensorId)
        .execute();
      await appendAudit(trx, [auditOfOrder(input, 'ok')]);
      await notifyIdentities(trx, sensorId);
      return { ok: true, order: orderOf(row) };
    }),
  );
}
