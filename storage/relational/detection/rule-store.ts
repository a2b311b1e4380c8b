// Alert rules in PostgreSQL. decision: D131
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { RULE_VERSIONS_KEPT_MAX, RULES_MAX } from '../../../machines/limits.ts';
import { auditOfRule } from '../../ports/detection/rule-audit.ts';
import type { RuleRow, RuleStore } from '../../ports/detection/rule-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { AlertRulesTable } from './tables.ts';

const RULES_LOCK = 7_130_002;

/** Makes the store. */
export function createRuleStore(db: Kysely<Database>): RuleStore {
  const transaction = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    list: () =>
      orUnavailable(async () =>
        (await db.selectFrom('alert_rules').selectAll().orderBy('rule_id').execute()).map(rowOf),
      ),
    get: (ruleId) => orUnavailable(() => get(db, storableText(ruleId))),
    put: (input) => transaction((trx) => put(trx, input)),
    remove: (input) => transaction((trx) => remove(trx, input)),
    async pause({ ruleId, version, pause }) {
      const done = await orUnavailable(() =>
        db
          .updateTable('alert_rules')
          .set({ pause: JSON.stringify(pause) })
          .where('rule_id', '=', storableText(ruleId))
          .where('version', '=', version)
          .where('pause', 'is', null)
          .executeTakeFirst(),
      );
      return done.numUpdatedRows > 0n;
    },
    async cursor(name) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('rule_cursors')
          .select('received_ms')
          .where('name', '=', name)
          .executeTakeFirst(),
      );
      return row?.received_ms ?? null;
    },
    async advance({ name, receivedMs, fromMs }) {
      const { rows } = await orUnavailable(() =>
        sql<{ received_ms: number }>`
          INSERT INTO rule_cursors (name, received_ms) VALUES (${name}, ${receivedMs})
          ON CONFLICT (name) DO UPDATE
          SET received_ms = greatest(rule_cursors.received_ms, excluded.received_ms)
          WHERE ${fromMs === undefined} OR rule_cursors.received_ms = ${fromMs ?? null}::bigint
          RETURNING received_ms
        `.execute(db),
      );
      return rows.length > 0;
    },
    async cursors() {
      const rows = await orUnavailable(() => db.selectFrom('rule_cursors').selectAll().execute());
      return new Map(rows.map((row) => [row.name, row.received_ms]));
    },
    async dropCursor({ name, receivedMs }) {
      await orUnavailable(() =>
        db
          .deleteFrom('rule_cursors')
          .where('name', '=', name)
          .where('received_ms', '=', receivedMs)
          .execute(),
      );
    },
  };
}

async function get(db: Kysely<Database>, ruleId: string): ReturnType<RuleStore['get']> {
  const row = await db
    .selectFrom('alert_rules')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const versions = await db
    .selectFrom('alert_rule_versions')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .orderBy('version', 'desc')
    .execute();
  return {
    row: rowOf(row),
    versions: versions.map(({ version, spec, at_ms: atMs, actor }) => ({
      ...{ version, spec, atMs, actor },
    })),
  };
}

async function put(
  trx: Transaction<Database>,
  input: Parameters<RuleStore['put']>[0],
): ReturnType<RuleStore['put']> {
  const { version: asked, spec, nowMs, actor } = input;
  const ruleId = storableText(input.ruleId);
  const action = asked === null ? 'alert_rule.create' : 'alert_rule.change';
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(RULES_LOCK)})`.execute(trx);
  const found = await trx
    .selectFrom('alert_rules')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .executeTakeFirst();
  if (asked !== null && found === undefined) return 'not_found';
  if (asked !== (found?.version ?? null)) return 'conflict';
  if (found === undefined && (await count(trx)) >= RULES_MAX) {
    await appendAudit(trx, [auditOfRule(input, { action, ruleId, result: 'full' })]);
    return 'full';
  }
  const version = (found?.version ?? 0) + 1;
  const values = {
    ...{ rule_id: ruleId, spec: JSON.stringify(spec), version, pause: null },
    ...{ active_since_ms: nowMs, created_at_ms: found?.created_at_ms ?? nowMs },
    ...{ changed_at_ms: nowMs, changed_by: storableText(actor) },
  };
  const row = await trx
    .insertInto('alert_rules')
    .values(values)
    .onConflict((conflict) => conflict.column('rule_id').doUpdateSet(values))
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('alert_rule_versions')
    .values({
      ...{ rule_id: ruleId, version, spec: JSON.stringify(spec), at_ms: nowMs },
      actor: storableText(actor),
    })
    .execute();
  await trx
    .deleteFrom('alert_rule_versions')
    .where('rule_id', '=', ruleId)
    .where('version', '<=', version - RULE_VERSIONS_KEPT_MAX)
    .execute();
  const was = found === undefined ? {} : { before: found.spec };
  await appendAudit(trx, [
    auditOfRule(input, { action, ruleId, result: 'ok', ...was, after: spec }),
  ]);
  return rowOf(row);
}

async function count(trx: Transaction<Database>): Promise<number> {
  const { rows } = await sql<{ rules: number }>`
    SELECT count(*)::int AS rules FROM alert_rules
  `.execute(trx);
  return rows[0]?.rules ?? 0;
}

async function remove(
  trx: Transaction<Database>,
  input: Parameters<RuleStore['remove']>[0],
): Promise<boolean> {
  const ruleId = storableText(input.ruleId);
  const gone = await trx
    .deleteFrom('alert_rules')
    .where('rule_id', '=', ruleId)
    .returning('spec')
    .executeTakeFirst();
  if (gone === undefined) return false;
  const told = { action: 'alert_rule.remove', ruleId, result: 'ok' } as const;
  await appendAudit(trx, [auditOfRule(input, { ...told, before: gone.spec })]);
  return true;
}

function rowOf(row: Selectable<AlertRulesTable>): RuleRow {
  return {
    ruleId: row.rule_id,
    spec: row.spec,
    version: row.version,
    pause: row.pause,
    activeSinceMs: row.active_since_ms,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    changedBy: row.changed_by,
  };
}
