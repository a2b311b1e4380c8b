// The simulated fleet over the SQL of the product, on a PostgreSQL of its own: short runs, since every call is a real one.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawOptions } from './options.ts';
import { NOT_REPLAYABLE, type RealServer, startRealServer } from './real-database.ts';
import { runSimulation } from './run.ts';
import { shareOf } from './share.ts';

const FRESH = String(randomBytes(4).readUInt32LE());
const HOURS = 0.1;
const TIME_MAX_MS = 1_800_000;

/** What a database does that has lost a part of its SQL. */
const PLANTED = [
  ['a revocation that is not written', 'sensors', ['revoked_at_ms']],
  ['a token that stays unused', 'enrollment_tokens', ['consumed_at_ms']],
] as const;
const REVOKING = drawOptions('1', 'smoke', {
  ...{ hours: HOURS, faultsPerHour: 120, kinds: ['operator.revoke'], sensors: 2, people: 0 },
});

describe('the simulated fleet on a real PostgreSQL', () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startRealServer();
    console.info(`${NOT_REPLAYABLE}; the fresh seed is ${FRESH}`);
  });
  afterAll(() => server?.stop());

  it.each([...shareOf(['3', '9']), FRESH])(
    'always keeps its promises and always recovers, and both databases say the same, over the seed %s',
    async (seed) => {
      const database = await server.copy();
      const options = drawOptions(seed, 'smoke', { hours: HOURS });
      const result = await runSimulation(options, { databaseUrl: database.url });
      await database.drop();
      const { outcome, violations, crashes } = result;
      const replay = `npm run simulate -- --seed ${seed} --profile smoke --hours ${HOURS} --database postgres`;
      expect({ outcome, violations, crashes }, `${replay} (${NOT_REPLAYABLE})`).toEqual({
        ...{ outcome: 'held', violations: [], crashes: [] },
      });
      expect(result.observations['heartbeat.taken'], replay).toBeGreaterThan(0);
    },
    TIME_MAX_MS,
  );

  it.each(PLANTED)(
    'should find %s',
    async (_what, table, columns) => {
      const database = await server.copy();
      await breakIn(database.url, table, columns);
      const result = await runSimulation(REVOKING, { databaseUrl: database.url });
      await database.drop();
      expect(result.violations[0]?.checker, NOT_REPLAYABLE).toBe('same-database');
    },
    TIME_MAX_MS,
  );
});

/** From now on an update leaves these columns as they were. */
async function breakIn(url: string, table: string, columns: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const kept = columns.map((name) => `NEW.${name} := OLD.${name};`).join(' ');
  await client.query(`
    CREATE FUNCTION public.keeps() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN ${kept} RETURN NEW; END $$;
    CREATE TRIGGER keeps BEFORE UPDATE ON public.${table} FOR EACH ROW EXECUTE FUNCTION public.keeps()
  `);
  await client.end();
}
