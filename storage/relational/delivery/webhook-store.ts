// Webhooks in PostgreSQL. invariant: I11, I18; decision: D104
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { newDestination } from '../../../machines/console/delivery/standing.ts';
import { WEBHOOKS_MAX } from '../../../machines/limits.ts';
import {
  auditOfWebhookChange,
  auditOfWebhookCreate,
  auditOfWebhookRemoval,
} from '../../ports/delivery/webhook-audit.ts';
import type { WebhookRow, WebhookStore } from '../../ports/delivery/webhook-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { WebhooksTable } from './tables.ts';

const CREATE_LOCK = 7_210_154_840;

/** Makes the store. */
export function createWebhookStore(db: Kysely<Database>): WebhookStore {
  const transaction = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    async list() {
      const rows = await orUnavailable(() =>
        db.selectFrom('webhooks').selectAll().orderBy('webhook_id').execute(),
      );
      return rows.map(webhookOf);
    },
    async get(webhookId) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('webhooks')
          .selectAll()
          .where('webhook_id', '=', storableText(webhookId))
          .executeTakeFirst(),
      );
      return row === undefined ? null : webhookOf(row);
    },
    create: (input) => transaction((trx) => create(trx, input)),
    change: (input) => transaction((trx) => change(trx, input)),
    remove: (input) =>
      transaction(async (trx) => {
        const row = await trx
          .deleteFrom('webhooks')
          .where('webhook_id', '=', storableText(input.webhookId))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        await appendAudit(trx, [auditOfWebhookRemoval(input, webhookOf(row))]);
        return true;
      }),
    reseal: ({ webhookId, was, sealed }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('webhooks')
          .set({
            secret_sealed: sealed.secretSealed,
            next_secret_sealed: sealed.nextSecretSealed,
          })
          .where('webhook_id', '=', storableText(webhookId))
          .where('secret_sealed', 'is not distinct from', was.secretSealed)
          .where('next_secret_sealed', 'is not distinct from', was.nextSecretSealed)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
  };
}

async function create(
  trx: Transaction<Database>,
  input: Parameters<WebhookStore['create']>[0],
): Promise<WebhookRow | 'full'> {
  // Those who add one wait for each other here, so that there are never more than there may be.
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(CREATE_LOCK)})`.execute(trx);
  const { count } = await trx
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) >= WEBHOOKS_MAX) {
    await appendAudit(trx, [auditOfWebhookCreate(input, 'full')]);
    return 'full';
  }
  const { webhook, nowMs } = input;
  const row = await trx
    .insertInto('webhooks')
    .values({
      webhook_id: storableText(webhook.webhookId),
      webhook_type: webhook.type,
      name: storableText(webhook.name),
      target_url: storableText(webhook.targetUrl),
      secret_sealed: webhook.secretSealed,
      next_secret_sealed: webhook.nextSecretSealed,
      rotates_at_ms: webhook.rotatesAtMs,
      options: JSON.stringify(webhook.options),
      paused_at_ms: null,
      destination: JSON.stringify(newDestination),
      created_at_ms: nowMs,
      changed_at_ms: nowMs,
      revision: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await appendAudit(trx, [auditOfWebhookCreate(input, 'ok')]);
  return webhookOf(row);
}

async function change(
  trx: Transaction<Database>,
  input: Parameters<WebhookStore['change']>[0],
): Promise<WebhookRow | 'not_found' | 'conflict'> {
  const webhookId = storableText(input.webhookId);
  const row = await trx
    .selectFrom('webhooks')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return 'not_found';
  if (row.revision !== input.revision) return 'conflict';
  const before = webhookOf(row);
  const after: WebhookRow = { ...before, ...input.patch };
  const changed = await trx
    .updateTable('webhooks')
    .set({
      name: storableText(after.name),
      target_url: storableText(after.targetUrl),
      secret_sealed: after.secretSealed,
      next_secret_sealed: after.nextSecretSealed,
      rotates_at_ms: after.rotatesAtMs,
      options: JSON.stringify(after.options),
      paused_at_ms: after.pausedAtMs,
      destination: JSON.stringify(after.destination),
      changed_at_ms: input.nowMs,
      revision: row.revision + 1,
    })
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await appendAudit(trx, [auditOfWebhookChange(input, before, webhookOf(changed))]);
  return webhookOf(changed);
}

function webhookOf(row: Selectable<WebhooksTable>): WebhookRow {
  return {
    webhookId: row.webhook_id,
    type: row.webhook_type,
    name: row.name,
    targetUrl: row.target_url,
    secretSealed: row.secret_sealed,
    nextSecretSealed: row.next_secret_sealed,
    rotatesAtMs: row.rotates_at_ms,
    options: row.options,
    pausedAtMs: row.paused_at_ms,
    destination: row.destination,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    revision: row.revision,
  };
}
