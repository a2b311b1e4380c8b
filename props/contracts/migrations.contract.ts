// The promises of the migration runner on real stores: each file runs once, a changed file and a newer database are
// refused before anything runs, and runners that start together do not meet.
import { describe, expect, it } from 'vitest';
import {
  applyMigrations,
  type Migration,
  type MigrationStores,
  migrationOf,
  planMigrations,
  readMigrations,
} from '../../storage/migrate.ts';
import { hex } from './samples.ts';

/** The stores must have every migration of this code applied. */
export function migrationsContract(
  stores: () => Pick<MigrationStores, 'pool' | 'analytics'>,
): void {
  const planOf = (migrations: readonly Migration[]) => planMigrations({ ...stores(), migrations });
  const applyOf = (migrations: readonly Migration[]) =>
    applyMigrations({ ...stores(), migrations });
  async function next(store: Migration['store'], name: string, sql: string) {
    const known = await readMigrations();
    const newest = Math.max(...known.filter((x) => x.store === store).map((x) => x.number));
    return { known, migrations: [...known, migrationOf(store, newest + 1, name, sql)] };
  }
  async function forget(name: string): Promise<void> {
    await stores().pool.query('DELETE FROM schema_migrations WHERE name = $1', [name]);
  }
  async function exists(table: string): Promise<boolean> {
    const { rows } = await stores().pool.query<{ known: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS known',
      [table],
    );
    return rows[0]?.known === true;
  }

  it('should have nothing to do when everything is applied', async () => {
    const known = await readMigrations();
    expect(await planOf(known)).toEqual({ ok: true, steps: [] });
    expect(await applyOf(known)).toEqual({ ok: true, steps: [] });
  });

  describe('refusals', () => {
    it('should refuse a changed file and run nothing', async () => {
      const table = `t_${hex(4)}`;
      const { known, migrations } = await next('relational', table, `CREATE TABLE ${table} ()`);
      const changed = known.map((one) => migrationOf(one.store, one.number, one.name, 'SELECT 1'));
      const all = [...changed, ...migrations.slice(-1)];
      expect(await planOf(all)).toMatchObject({ ok: false, reason: 'changed_after_applied' });
      expect(await applyOf(all)).toMatchObject({ ok: false, reason: 'changed_after_applied' });
      expect(await exists(table)).toBe(false);
    });

    it('should refuse a database that is newer than this code', async () => {
      const known = await readMigrations();
      for (const store of ['relational', 'analytics'] as const) {
        const older = known.filter((one) => one.store !== store);
        expect(await applyOf(older)).toMatchObject({ ok: false, reason: 'database_is_newer' });
      }
    });
  });

  it('should run a file once when two runners start at once', async () => {
    const table = `t_${hex(4)}`;
    const { migrations } = await next('relational', table, `CREATE TABLE ${table} ()`);
    try {
      const outcomes = await Promise.all([applyOf(migrations), applyOf(migrations)]);
      const steps = outcomes.map((one) => (one.ok ? one.steps.length : one.reason));
      expect(steps.sort()).toEqual([0, 1]);
      expect(await exists(table)).toBe(true);
    } finally {
      await forget(table);
      await stores().pool.query(`DROP TABLE IF EXISTS ${table}`);
    }
  });

  it('should leave nothing of a relational file that fails in the middle', async () => {
    const table = `t_${hex(4)}`;
    const sql = `CREATE TABLE ${table} (); SELECT 1 / 0`;
    const { migrations, known } = await next('relational', table, sql);
    await expect(applyOf(migrations)).rejects.toThrow('division by zero');
    expect(await exists(table)).toBe(false);
    expect(await planOf(known)).toEqual({ ok: true, steps: [] });
  });

  it('should run an analytics file again that failed in the middle', async () => {
    const table = `t_${hex(4)}`;
    const made = `CREATE TABLE IF NOT EXISTS ${table} (a UInt8) ENGINE = MergeTree ORDER BY a`;
    const broken = await next('analytics', table, `${made}\n;\nSELECT throwIf(1)\n;\n`);
    await expect(applyOf(broken.migrations)).rejects.toThrow();
    expect(await planOf(broken.known)).toEqual({ ok: true, steps: [] });
    const whole = await next('analytics', table, `${made}\n;\n`);
    try {
      expect(await applyOf(whole.migrations)).toMatchObject({ ok: true, steps: [{ name: table }] });
    } finally {
      await forget(table);
      await stores().analytics(`DROP TABLE IF EXISTS ${table}`);
    }
  });
}
