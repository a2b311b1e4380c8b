// Counted failures, shared by every Console on one database. Keys are taken in one order, so that two tries never wait
// for each other crosswise.
import { type Kysely, type Selectable, sql } from 'kysely';
import type { LoginFailureStore, LoginFailures } from '../../ports/access/login-failures.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

type Row = Selectable<Database['login_failures']>;

/** Makes the store. */
export function createLoginFailures(db: Kysely<Database>): LoginFailureStore {
  return {
    takeTry: (input) => takeTry(db, input),
    async returnTry(given) {
      const keys = ordered(given);
      if (keys.length === 0) return;
      await orUnavailable(() =>
        db.transaction().execute(async (trx) => {
          const all = trx.selectFrom('login_failures').select('key').where('key', 'in', keys);
          await all.orderBy('key').forUpdate().execute();
          await trx
            .updateTable('login_failures')
            .set({ failures: sql<number>`GREATEST(failures - 1, 0)` })
            .where('key', 'in', keys)
            .execute();
        }),
      );
    },
    async noteFailure({ keys: given, nowMs, windowMs }) {
      const keys = ordered(given);
      if (keys.length === 0) return [];
      const rows = await orUnavailable(() =>
        db
          .insertInto('login_failures')
          .values(keys.map((key) => ({ ...fresh(key, nowMs), failures: 1 })))
          .onConflict((on) =>
            on.column('key').doUpdateSet({
              failures: sql<number>`CASE WHEN login_failures.last_at_ms <= ${nowMs - windowMs}
                THEN 1 ELSE login_failures.failures + 1 END`,
              first_at_ms: sql<number>`CASE WHEN login_failures.last_at_ms <= ${nowMs - windowMs}
                THEN excluded.first_at_ms ELSE login_failures.first_at_ms END`,
              last_at_ms: sql<number>`GREATEST(login_failures.last_at_ms, excluded.last_at_ms)`,
            }),
          )
          .returningAll()
          .execute(),
      );
      return rows.map(failuresOf);
    },
    async failuresOf(given, nowMs, windowMs) {
      const keys = ordered(given);
      if (keys.length === 0) return [];
      const rows = await orUnavailable(() =>
        db
          .selectFrom('login_failures')
          .selectAll()
          .where('key', 'in', keys)
          .where('failures', '>', 0)
          .where('last_at_ms', '>', nowMs - windowMs)
          .orderBy('key')
          .execute(),
      );
      return rows.map(failuresOf);
    },
    async forgetFailures(given) {
      const keys = ordered(given);
      if (keys.length === 0) return;
      await orUnavailable(() => db.deleteFrom('login_failures').where('key', 'in', keys).execute());
    },
    async sweepFailures(beforeMs) {
      const { numDeletedRows } = await orUnavailable(() =>
        db.deleteFrom('login_failures').where('last_at_ms', '<', beforeMs).executeTakeFirst(),
      );
      return Number(numDeletedRows);
    },
  };
}

function takeTry(
  db: Kysely<Database>,
  { keys: given, nowMs, windowMs, waitMs }: Parameters<LoginFailureStore['takeTry']>[0],
): Promise<number> {
  const keys = ordered(given);
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      await trx
        .insertInto('login_failures')
        .values(keys.map((key) => fresh(key, nowMs)))
        .onConflict((on) => on.column('key').doNothing())
        .execute();
      const locked = await trx
        .selectFrom('login_failures')
        .selectAll()
        .where('key', 'in', keys)
        .orderBy('key')
        .forUpdate()
        .execute();
      const current = locked.map((row) => asOf(row, nowMs, windowMs));
      const wait = Math.max(0, ...current.map((row) => waitMs(failuresOf(row))));
      const counted = current.map((row) => ({
        ...row,
        failures: row.failures + 1,
        last_at_ms: Math.max(row.last_at_ms, nowMs),
      }));
      // Who must wait is counted nowhere; an instant that was taken back is kept, or the wait would never end.
      const isAhead = ({ last_at_ms: lastAtMs }: Row) => lastAtMs > nowMs + windowMs;
      const ahead = new Set(locked.filter(isAhead).map(({ key }) => key));
      const changed = wait > 0 ? current.filter(({ key }) => ahead.has(key)) : counted;
      for (const { key, ...row } of changed) {
        await trx.updateTable('login_failures').set(row).where('key', '=', key).execute();
      }
      return wait;
    }),
  );
}

/** A count as it stands now: over after its window, and never of a day that a wrong clock wrote. */
function asOf(row: Row, nowMs: number, windowMs: number): Row {
  if (row.last_at_ms <= nowMs - windowMs) return fresh(row.key, nowMs);
  return row.last_at_ms > nowMs + windowMs ? { ...row, last_at_ms: nowMs } : row;
}

function fresh(key: string, nowMs: number): Row {
  return { key, failures: 0, first_at_ms: nowMs, last_at_ms: nowMs };
}

function ordered(keys: readonly string[]): readonly string[] {
  return [...new Set(keys.map(storableText))].sort();
}

function failuresOf(row: Row): LoginFailures {
  const { key, failures, first_at_ms: firstAtMs, last_at_ms: lastAtMs } = row;
  return { key, failures, firstAtMs, lastAtMs };
}
