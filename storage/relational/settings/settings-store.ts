// Settings in one table, a row each. A change holds the whole table, since rules join settings and a name that nobody ever
// set has no row to lock: of two people who saw the same only one changes them. decision: D38
import { type Kysely, type Selectable, sql } from 'kysely';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import {
  auditOfSettings,
  namesJudged,
  type SettingRow,
  type SettingsStore,
} from '../../ports/settings/settings-store.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { SettingsTable } from './tables.ts';

type PutInput = Parameters<SettingsStore['put']>[0];
type PutResult = Awaited<ReturnType<SettingsStore['put']>>;

class Conflict extends Error {
  override readonly name = 'Conflict';
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super('somebody else changed a setting first');
    this.names = names;
  }
}

/** Makes the store. */
export function createSettingsStore(db: Kysely<Database>): SettingsStore {
  return {
    list: async () =>
      (
        await orUnavailable(() => db.selectFrom('settings').selectAll().orderBy('name').execute())
      ).map(rowOf),
    async put(input) {
      try {
        return await orUnavailable(() => put(db, input));
      } catch (error) {
        if (error instanceof Conflict) return { ok: false, conflicts: error.names };
        throw error;
      }
    },
  };
}

function put(db: Kysely<Database>, input: PutInput): Promise<PutResult> {
  const names = Object.keys(input.values).sort();
  if (names.length === 0) return Promise.resolve({ ok: true, rows: [] });
  return db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE settings IN SHARE ROW EXCLUSIVE MODE`.execute(trx);
    const judged = namesJudged(input);
    const found = await trx
      .selectFrom('settings')
      .selectAll()
      .where('name', 'in', judged)
      .execute();
    const before = new Map(found.map((row) => [row.name, row]));
    const conflicts = judged.filter(
      (name) => (before.get(name)?.revision ?? 0) !== input.revisions[name],
    );
    if (conflicts.length > 0) throw new Conflict(conflicts);
    const rows: SettingRow[] = [];
    for (const name of names) {
      const changed = {
        value: JSON.stringify(input.values[name] ?? null),
        changed_at_ms: input.nowMs,
        changed_by: storableText(input.actor),
        revision: (before.get(name)?.revision ?? 0) + 1,
      };
      const written = before.has(name)
        ? await trx
            .updateTable('settings')
            .set(changed)
            .where('name', '=', name)
            .returningAll()
            .executeTakeFirst()
        : await trx
            .insertInto('settings')
            .values({ name, ...changed })
            .onConflict((conflict) => conflict.column('name').doNothing())
            .returningAll()
            .executeTakeFirst();
      if (written === undefined) throw new Conflict([name]);
      rows.push(rowOf(written));
    }
    const valuesBefore = names.map((name) => [name, before.get(name)?.value ?? null]);
    await appendAudit(trx, [auditOfSettings(input, Object.fromEntries(valuesBefore))]);
    return { ok: true, rows };
  });
}

function rowOf(row: Selectable<SettingsTable>): SettingRow {
  const { name, value, revision, changed_at_ms: changedAtMs, changed_by: changedBy } = row;
  return { name, value, revision, changedAtMs, changedBy };
}
