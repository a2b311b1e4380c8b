// The moves of deliveries inside a transaction that holds the fence: many rows in few statements. The machine decides what a
// row becomes; where one statement moves rows that nobody read, it says the same. decision: D101
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Alert } from '../../../machines/console/delivery/alert.ts';
import { DELIVERY_ATTEMPTS_KEPT_MAX } from '../../../machines/limits.ts';
import type {
  ClaimedDelivery,
  DeliveryRow,
  DeliveryStore,
} from '../../ports/delivery/delivery-store.ts';
import { takenOf } from '../../ports/delivery/fold.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import type { DeliveriesTable } from './tables.ts';

/** Deliveries with their alerts. */
export function deliveryRows(on: Kysely<Database> | Transaction<Database>) {
  return on
    .selectFrom('deliveries')
    .innerJoin('delivery_alerts', 'delivery_alerts.alert_id', 'deliveries.alert_id')
    .selectAll('deliveries')
    .select('delivery_alerts.alert');
}

export function deliveryOf(
  row: Selectable<DeliveriesTable> & { readonly alert: Alert },
): DeliveryRow {
  return {
    deliveryId: row.delivery_id,
    webhookId: row.webhook_id,
    alert: row.alert,
    createdAtMs: row.created_at_ms,
    state: row.state,
    dueAtMs: row.due_at_ms,
    attempts: row.attempts,
    giveUpAtMs: row.give_up_at_ms,
    endedAtMs: row.ended_at_ms,
    reason: row.reason,
    foldedInto: row.folded_into,
  };
}

type Standing = Pick<
  DeliveryRow,
  | 'deliveryId'
  | 'state'
  | 'dueAtMs'
  | 'attempts'
  | 'giveUpAtMs'
  | 'endedAtMs'
  | 'reason'
  | 'foldedInto'
>;
type Lease = { readonly epoch: number; readonly untilMs: number };

/** Writes what rows became; which ones were there. `heldBy`: only those that are being sent under this epoch. */
export async function write(
  trx: Transaction<Database>,
  rows: readonly Standing[],
  { lease, heldBy }: { readonly lease?: Lease; readonly heldBy?: number } = {},
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const values = rows.map((row) => ({
    delivery_id: row.deliveryId,
    state: row.state,
    due_at_ms: row.dueAtMs,
    attempts: row.attempts,
    give_up_at_ms: row.giveUpAtMs,
    ended_at_ms: row.endedAtMs,
    reason: row.reason,
    folded_into: row.foldedInto,
    lease_epoch: row.state === 'sending' ? (lease?.epoch ?? null) : null,
    lease_until_ms: row.state === 'sending' ? (lease?.untilMs ?? null) : null,
  }));
  const { rows: written } = await sql<{ delivery_id: string }>`
    UPDATE deliveries AS d
    SET state = v.state, due_at_ms = v.due_at_ms, attempts = v.attempts,
      give_up_at_ms = v.give_up_at_ms, ended_at_ms = v.ended_at_ms, reason = v.reason,
      folded_into = v.folded_into, lease_epoch = v.lease_epoch, lease_until_ms = v.lease_until_ms
    FROM json_to_recordset(${JSON.stringify(values)}::json) AS v (delivery_id text, state text,
      due_at_ms bigint, attempts integer, give_up_at_ms bigint, ended_at_ms bigint, reason text,
      folded_into text, lease_epoch bigint, lease_until_ms bigint)
    WHERE d.delivery_id = v.delivery_id AND (${heldBy ?? null}::bigint IS NULL
      OR (d.state = 'sending' AND d.lease_epoch = ${heldBy ?? null}::bigint
        AND d.attempts = v.attempts))
    RETURNING d.delivery_id
  `.execute(trx);
  return new Set(written.map(({ delivery_id: id }) => id));
}

export async function reclaim(
  trx: Transaction<Database>,
  { epoch, nowMs }: Parameters<DeliveryStore['reclaim']>[0],
): Promise<number> {
  const { rows } = await sql<{ delivery_id: string }>`
    WITH lost AS (
      SELECT delivery_id, attempts FROM deliveries
      WHERE state = 'sending' AND (lease_epoch <> ${epoch} OR lease_until_ms <= ${nowMs})
      FOR UPDATE
    ), told AS (
      INSERT INTO delivery_attempts (delivery_id, number, at_ms, duration_ms, outcome, status,
        detail, request, response)
      SELECT delivery_id, attempts, ${nowMs}, 0, 'interrupted', NULL,
        'the Console that tried is gone', '', '' FROM lost
      ON CONFLICT DO NOTHING
    )
    UPDATE deliveries AS d SET state = 'waiting', due_at_ms = least(d.due_at_ms, ${nowMs}),
      lease_epoch = NULL, lease_until_ms = NULL
    FROM lost WHERE d.delivery_id = lost.delivery_id
    RETURNING d.delivery_id
  `.execute(trx);
  return rows.length;
}

export async function claim(
  trx: Transaction<Database>,
  { epoch, nowMs, leaseUntilMs, quotas, limit }: Parameters<DeliveryStore['claim']>[0],
): Promise<readonly ClaimedDelivery[]> {
  const wanted = [...quotas].filter(([, quota]) => quota > 0);
  if (wanted.length === 0 || limit <= 0) return [];
  const { rows: due } = await sql<{ webhook_id: string; dedup_key: string }>`
    SELECT d.webhook_id, d.dedup_key
    FROM unnest(
      ${wanted.map(([id]) => storableText(id))}::text[], ${wanted.map(([, quota]) => quota)}::int[]
    ) AS q (webhook_id, quota)
    CROSS JOIN LATERAL (
      SELECT webhook_id, dedup_key, due_at_ms,
        row_number() OVER (ORDER BY due_at_ms, delivery_id) AS place
      FROM deliveries
      WHERE webhook_id = q.webhook_id AND state = 'waiting' AND due_at_ms <= ${nowMs}
      ORDER BY due_at_ms, delivery_id LIMIT q.quota
    ) AS d
    ORDER BY d.place, d.due_at_ms LIMIT ${limit}
  `.execute(trx);
  if (due.length === 0) return [];
  // Those that are due, and whatever else waits with their keys.
  const waiting = await deliveryRows(trx)
    .where('deliveries.state', '=', 'waiting')
    .where(
      sql<boolean>`(deliveries.webhook_id, deliveries.dedup_key) IN (
        SELECT * FROM unnest(${due.map((row) => row.webhook_id)}::text[],
          ${due.map((row) => row.dedup_key)}::text[]))`,
    )
    .forUpdate('deliveries')
    .skipLocked()
    .execute();
  const taken = takenOf(waiting.map(deliveryOf), nowMs);
  const changed = taken.flatMap(({ carrier, folded }) => [carrier, ...folded]);
  await write(trx, changed, { lease: { epoch, untilMs: leaseUntilMs } });
  const counts = await carry(trx, taken);
  return taken.map(({ carrier }) => ({
    ...carrier,
    folded: counts.get(carrier.deliveryId) ?? 0,
  }));
}

/** What a folded one carried is carried by its carrier now; how many each carries. */
async function carry(
  trx: Transaction<Database>,
  taken: ReturnType<typeof takenOf>,
): Promise<ReadonlyMap<string, number>> {
  const folded = taken.flatMap((one) => one.folded);
  if (folded.length > 0) {
    await sql`
      UPDATE deliveries AS d SET folded_into = v.into_id
      FROM unnest(${folded.map((row) => row.deliveryId)}::text[],
        ${folded.map((row) => row.foldedInto)}::text[]) AS v (from_id, into_id)
      WHERE d.folded_into = v.from_id
    `.execute(trx);
  }
  const { rows } = await sql<{ id: string; count: number }>`
    SELECT folded_into AS id, count(*)::int AS count FROM deliveries
    WHERE folded_into = ANY(${taken.map(({ carrier }) => carrier.deliveryId)}::text[])
    GROUP BY folded_into
  `.execute(trx);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export async function settle(
  trx: Transaction<Database>,
  input: Parameters<DeliveryStore['settle']>[0],
): Promise<void> {
  const { epoch, nowMs, attempts, destinations, recovered } = input;
  const standings = attempts.map(({ deliveryId, standing }) => ({ ...standing, deliveryId }));
  const written = await write(trx, standings, { heldBy: epoch });
  const rows = attempts
    .filter(({ deliveryId }) => written.has(deliveryId))
    .map(({ deliveryId, attempt }) => ({
      delivery_id: deliveryId,
      number: attempt.number,
      at_ms: attempt.atMs,
      duration_ms: attempt.durationMs,
      outcome: attempt.outcome,
      status: attempt.status,
      detail: storableText(attempt.detail),
      request: storableText(attempt.request),
      response: storableText(attempt.response),
    }));
  if (rows.length > 0) {
    await trx
      .insertInto('delivery_attempts')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await forgetAttempts(
      trx,
      rows.filter(({ number }) => number > DELIVERY_ATTEMPTS_KEPT_MAX),
    );
  }
  if (destinations.length > 0) {
    await sql`
      UPDATE webhooks AS w SET destination = v.destination::json
      FROM unnest(${destinations.map(({ webhookId }) => storableText(webhookId))}::text[],
        ${destinations.map(({ destination }) => JSON.stringify(destination))}::text[])
        AS v (webhook_id, destination)
      WHERE w.webhook_id = v.webhook_id
    `.execute(trx);
  }
  if (recovered.length > 0) {
    await sql`
      UPDATE deliveries SET due_at_ms = ${nowMs}
      WHERE webhook_id = ANY(${recovered.map(storableText)}::text[]) AND state = 'waiting'
        AND due_at_ms > ${nowMs} AND attempts > 0
    `.execute(trx);
  }
}

async function forgetAttempts(
  trx: Transaction<Database>,
  rows: readonly { readonly delivery_id: string; readonly number: number }[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    DELETE FROM delivery_attempts AS a
    USING unnest(${rows.map((row) => row.delivery_id)}::text[],
      ${rows.map((row) => row.number - DELIVERY_ATTEMPTS_KEPT_MAX)}::int[]) AS v (id, number)
    WHERE a.delivery_id = v.id AND a.number <= v.number
  `.execute(trx);
}

export async function sweep(
  trx: Transaction<Database>,
  input: Parameters<DeliveryStore['sweep']>[0],
): ReturnType<DeliveryStore['sweep']> {
  const { nowMs, waitingMax, endedBeforeMs, limit } = input;
  const { rows: dropped } = await sql<{ delivery_id: string }>`
    UPDATE deliveries AS d
    SET state = 'dead', reason = 'queue_full', ended_at_ms = ${nowMs}
    FROM (
      SELECT delivery_id FROM (
        SELECT delivery_id, row_number() OVER (
          PARTITION BY webhook_id ORDER BY delivery_id DESC
        ) AS place
        FROM deliveries WHERE state = 'waiting'
      ) AS placed
      WHERE place > ${waitingMax} ORDER BY delivery_id LIMIT ${limit}
    ) AS v
    WHERE d.delivery_id = v.delivery_id AND d.state = 'waiting'
    RETURNING d.delivery_id
  `.execute(trx);
  const { rows: removed } = await sql<{ delivery_id: string }>`
    DELETE FROM deliveries WHERE delivery_id IN (
      SELECT delivery_id FROM deliveries WHERE ended_at_ms < ${endedBeforeMs}
      ORDER BY ended_at_ms LIMIT ${limit}
    )
    RETURNING delivery_id
  `.execute(trx);
  await sql`
    DELETE FROM delivery_alerts WHERE alert_id IN (
      SELECT alert_id FROM delivery_alerts AS a
      WHERE posted_at_ms < ${endedBeforeMs}
        AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.alert_id = a.alert_id)
      ORDER BY alert_id LIMIT ${limit}
    )
  `.execute(trx);
  return { dropped: dropped.length, removed: removed.length };
}
