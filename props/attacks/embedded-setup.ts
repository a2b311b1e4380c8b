// The Consoles of this file keep what they know in the embedded databases: in a PostgreSQL database of their own each
// time, and in one event store, where the sensors of others are strangers. decision: D7
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import type { MemoryMode } from '../../storage/memory/telemetry/memory-events.ts';
import { openRealAnalytics, openRealRelational } from '../contracts/real-stores.ts';
import type { RelayFault } from '../contracts/relay.ts';
import { keepIn, type Stores } from './stores.fixture.ts';

const FAULTS: Readonly<Record<MemoryMode, RelayFault>> = {
  work: 'none',
  fail: 'away',
  fail_after: 'answer_lost',
  stall: 'stalled',
};
const template = new URL(inject('templateUrl'));
const open = new Set<Stores>();

/** One statement from a database that nobody copies. */
async function administer(statement: string): Promise<void> {
  const url = new URL(template);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function openEmbedded(): Promise<Stores> {
  const name = `attack_${randomUUID().replaceAll('-', '')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`);
  const url = new URL(template);
  url.pathname = `/${name}`;
  const [control, telemetry] = await Promise.all([
    openRealRelational(url.toString()),
    openRealAnalytics(inject('eventStore')),
  ]);
  const stores: Stores = {
    relational: { ...control.relational, setAway: control.setAway },
    events: { ...telemetry.analytics, setMode: (mode) => telemetry.setFault(FAULTS[mode]) },
    async close() {
      if (!open.delete(stores)) return;
      await Promise.all([control.close(), telemetry.close()]);
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
  open.add(stores);
  return stores;
}

keepIn(openEmbedded);
afterAll(async () => {
  for (const stores of open) await stores.close();
});
