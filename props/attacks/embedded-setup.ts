// The Consoles of this file keep what they know in the embedded databases: in a PostgreSQL database of their own each
// time, and in one event store, where the sensors of others are strangers. decision: D7
import { afterAll, inject } from 'vitest';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import type { MemoryMode } from '../../storage/memory/telemetry/memory-events.ts';
import { openRealAnalytics, openRealRelational } from '../contracts/real-stores.ts';
import type { RelayFault } from '../contracts/relay.ts';
import { copyDatabase } from '../contracts/template-database.ts';
import { keepIn, type Stores } from './stores.fixture.ts';

const FAULTS: Readonly<Record<MemoryMode, RelayFault>> = {
  work: 'none',
  fail: 'away',
  fail_after: 'answer_lost',
  stall: 'stalled',
};
const open = new Set<Stores>();

async function openEmbedded(): Promise<Stores> {
  const copy = await copyDatabase(inject('templateUrl'));
  const [control, telemetry] = await Promise.all([
    openRealRelational(copy.url),
    openRealAnalytics(inject('eventStore')),
  ]);
  const stores: Stores = {
    relational: { ...control.relational, setAway: control.setAway },
    events: { ...telemetry.analytics, setMode: (mode) => telemetry.setFault(FAULTS[mode]) },
    retryMs: DEFAULT_INTERVALS.RETRY_AFTER_STORE_MS,
    async close() {
      if (!open.delete(stores)) return;
      await Promise.all([control.close(), telemetry.close()]);
      await copy.drop();
    },
  };
  open.add(stores);
  return stores;
}

keepIn(openEmbedded);
afterAll(async () => {
  for (const stores of open) await stores.close();
});
