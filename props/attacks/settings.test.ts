// Settings on a whole Console: what an operator changes counts for the next token, the next certificate, the actors of the
// sensors that are there, and the event store, without a restart; a second Console on the same stores follows.
import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RETENTION_LOOP } from '../../actors/telemetry/retention-loop.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { makeKeys, nth } from './peer.ts';
import { openStores, type Stores } from './stores.fixture.ts';

const HOUR_MS = 3_600_000;
const keys = await makeKeys(1);
const running: ConsoleUnderTest[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});
afterAll(removeSharedKeys);

async function start(given?: Stores) {
  const made = await startConsole({ stores: given ?? (await openStores()) });
  running.push(made);
  return made;
}
const change = (values: Record<string, unknown>, revision = 0) => ({
  actor: 'user:ada@example.org',
  values,
  revisions: Object.fromEntries(Object.keys(values).map((name) => [name, revision])),
});

describe('settings of a running Console', () => {
  it('should count for the next token and the next certificate', async () => {
    const made = await start();
    await made.settings.change(
      change({ enrollment_token_ttl_seconds: 60, client_certificate_ttl_hours: 100 }),
    );
    const atMs = made.time.now();
    await made.newToken();
    const [token] = await made.stores.relational.sensors.listTokens({ limit: 1, before: null });
    expect((token?.expiresAtMs ?? 0) - atMs).toBeLessThan(61_000);
    const { cert } = await made.enroll('node-1', nth(keys, 0));
    const lastsMs = Date.parse(new X509Certificate(cert).validTo) - made.time.now();
    expect(Math.abs(lastsMs - 100 * HOUR_MS)).toBeLessThan(60_000);
  });

  it('should move the window in which a renewal is due, there and back', async () => {
    const made = await start();
    await made.settings.change(change({ client_certificate_ttl_hours: 73 }));
    const { sensorId } = await made.enroll('node-1', nth(keys, 0));
    made.travel(30 * HOUR_MS);
    const stateOf = () => made.fleet.sensors.view(sensorId, made.time.now())?.trustState;
    expect(stateOf()).toBe('renewal_recommended');
    await made.settings.change(change({ renewal_threshold_seconds: 50 * 3_600 }));
    expect(stateOf()).toBe('renewal_due');
    await made.settings.change(change({ renewal_threshold_seconds: null }, 1));
    expect(stateOf()).toBe('renewal_recommended');
  });

  it('should be followed by another Console on the same stores', async () => {
    const stores = await openStores();
    const [one, other] = [await start(stores), await start(stores)];
    const told = new Promise<number>((resolve) =>
      other.settings.subscribe(({ sessionIdleMinutes }) => resolve(sessionIdleMinutes)),
    );
    await one.settings.change(change({ session_idle_minutes: 7 }));
    expect(await told).toBe(7);
    expect(other.intervals.SESSION_IDLE_MS).toBe(7 * 60_000);
  });

  it('should set the retention again until the event store took the newest', async () => {
    const stores = await openStores();
    const asked: number[] = [];
    let isAway = false;
    const setRetentionDays = async (days: number) => {
      asked.push(days);
      if (isAway) throw new Error('away');
    };
    const events = { ...stores.events, events: { ...stores.events.events, setRetentionDays } };
    const made = await start({ ...stores, events });
    const view = () => made.loops.get(RETENTION_LOOP);
    await expect.poll(() => view()?.runs).toBe(1);
    isAway = true;
    await made.settings.change(change({ analytics_retention_days: 30 }));
    await expect.poll(() => view()?.failures).toBe(1);
    isAway = false;
    made.loops.runNow(RETENTION_LOOP);
    await expect.poll(() => view()?.failures).toBe(0);
    await made.settings.change(change({ analytics_retention_days: 40 }, 1));
    await made.settings.change(change({ session_idle_minutes: 8 }));
    await expect.poll(() => asked.at(-1)).toBe(40);
    expect(asked.filter((days) => days !== 90)).toEqual([30, 30, 40]);
  });
});
