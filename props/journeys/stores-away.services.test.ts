// Each store is stopped for half a minute under load. Away ClickHouse: the heartbeat is still answered 200, its facts
// applied, nothing acknowledged, and told when to come again. Away PostgreSQL: 503 with Retry-After. No process ends,
// nothing acknowledged is lost, and both come back without a restart. invariant: I1
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generateKeyPem } from '../../sensor/transport/signing-request.ts';
import { items } from './api.ts';
import {
  type ExternalStore,
  externalClickhouse,
  externalPostgres,
  missingForPostgres,
} from './external-stores.ts';
import {
  createToken,
  enroll,
  isHealthy,
  isSkipped,
  type ListedSensor,
  missingForEngine,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { type Beating, startBeating } from './heartbeats.ts';
import { listedMarks, type Marks, startMarks, wrongMarks } from './marks.ts';
import { enrollBody, post } from './peer.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from './programs.ts';
import { askClickhouse, tablesWithEvents } from './stored.ts';

const OUTAGE_MS = 30_000;
/** What was on its way when the store stopped is not looked at. */
const SETTLE_MS = 3_000;
const RECOVER_WITHIN_MS = 45_000;
const TIMEOUT_MS = 900_000;
const word = `AWAY${process.pid}`;
const skip = isSkipped('stores away', missingForEngine() ?? missingForPostgres());

let home: Home;
let postgres: ExternalStore;
let clickhouse: Awaited<ReturnType<typeof externalClickhouse>>;
let running: Program;
let sensor: Program;
let marks: Marks;
let beating: Beating;

beforeAll(async () => {
  if (skip) return;
  home = await makeHome({
    HEARTBEAT_INTERVAL_MS: 5_000,
    HEARTBEAT_TIMEOUT_MS: 5_000,
    TRUST_ERROR_WINDOW_MS: 5_000,
  });
  [postgres, clickhouse] = await Promise.all([
    externalPostgres(home.folder),
    externalClickhouse(home.folder),
  ]);
  running = await startConsole(home, {
    SERVICE_CONSOLE_DATABASE_URL: postgres.url,
    SERVICE_CONSOLE_CLICKHOUSE_URL: clickhouse.url,
  });
  expect(await enroll(home, await createToken(home))).toMatchObject({ code: 0 });
  sensor = startSensor(home);
  const key = await generateKeyPem();
  const body = await enrollBody(await createToken(home), 'beating-peer', key);
  const enrolled = await post(home, { path: '/sensors/enroll', body });
  beating = startBeating(home, {
    pair: { key, cert: String(enrolled.body['control_plane_certificate_pem']) },
    expiresAt: String(enrolled.body['certificate_expires_at']),
  });
  await eventually('the Sensor is healthy', programIsHealthy);
  marks = startMarks(home, word, 40);
  await eventually('marks flow', async () =>
    (await listedMarks(home, word)).size > 5 ? true : null,
  );
});
afterAll(async () => {
  if (skip) return;
  await beating.stop();
  await marks.stop();
  await stop(sensor);
  await stop(running);
  await clickhouse.stop();
  await postgres.stop();
  await removeHome(home);
});

it.skipIf(skip)(
  'should hold its word while ClickHouse is away',
  { timeout: TIMEOUT_MS },
  async () => {
    const answers = await whileAway(clickhouse);

    expect(answers.length).toBeGreaterThan(5);
    const highest = answers[0]?.body['acknowledged_sequence'];
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 200,
        body: { acknowledged_sequence: highest, retry_after_ms: expect.any(Number) },
      });
      expect(answer.sequence).toBe(Number(highest) + 1);
    }
    await expectNothingLost();
  },
);

it.skipIf(skip)(
  'should hold its word while PostgreSQL is away',
  { timeout: TIMEOUT_MS },
  async () => {
    const answers = await whileAway(postgres);

    expect(answers.length).toBeGreaterThan(3);
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 503,
        body: { code: expect.stringMatching(/^(store|trust)_unavailable$/) },
      });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await expectNothingLost();
    expect(await tablesWithEvents(postgres.url, clickhouse.access, word)).toEqual([]);
  },
);

/** Stops a store for the outage; answers what the heartbeats of that time were told. */
async function whileAway(store: ExternalStore) {
  await store.stop();
  const fromMs = Date.now() + SETTLE_MS;
  await sleep(OUTAGE_MS);
  const toMs = Date.now();
  await store.start();
  expect([running.isRunning(), sensor.isRunning()]).toEqual([true, true]);
  return beating.answers().filter(({ sentAtMs, gotAtMs }) => sentAtMs >= fromMs && gotAtMs <= toMs);
}

/** Recovery without a restart; every mark and every acknowledged event is stored, once. */
async function expectNothingLost(): Promise<void> {
  const before = beating.acknowledged();
  await eventually('the Sensor is healthy again', programIsHealthy, RECOVER_WITHIN_MS);
  await eventually(
    'heartbeats are acknowledged again',
    () => (beating.acknowledged() > before ? true : null),
    RECOVER_WITHIN_MS,
  );
  const last = marks.made() - 1;
  const wrong = async () => wrongMarks(await listedMarks(home, word), 0, last);
  await eventually('every mark arrives', async () =>
    (await wrong()).length === 0 ? true : null,
  ).catch(async () => expect(await wrong()).toEqual([]));
  const acknowledged = beating.acknowledged();
  const [stored] = await askClickhouse<{ count: string; highest: string }>(
    clickhouse.access,
    `SELECT uniqExact(sequence) AS count, max(sequence) AS highest FROM runtime_events
     WHERE channel = 'heartbeat' AND node_name = 'beating-peer' AND sequence <= {last: UInt64}`,
    { last: acknowledged },
  );
  expect(stored).toEqual({ count: String(acknowledged), highest: String(acknowledged) });
  expect([running.isRunning(), sensor.isRunning()]).toEqual([true, true]);
}

async function programIsHealthy(): Promise<true | null> {
  const all = await items<ListedSensor>(home, '/api/v2/sensors');
  const own = all.filter(({ node_name }) => node_name !== 'beating-peer');
  return own.length === 1 && own.every(isHealthy) ? true : null;
}
