// A Sensor renews by itself: a new key, a new certificate, the old one good for the overlap and not an instant longer. One
// whose certificate ran out while it was off keeps what it sees and comes back as itself. invariant: I4, I9, I13
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generateKeyPem } from '../../sensor/transport/signing-request.ts';
import { slackOf } from '../yardstick.ts';
import { api } from './api.ts';
import {
  createToken,
  enroll,
  isHealthy,
  isSkipped,
  type ListedSensor,
  missingForEngine,
  onlySensor,
  startConsole,
  startSensor,
  status,
  stop,
} from './fleet.ts';
import { listedMarks, startMarks, wrongMarks } from './marks.ts';
import { csrOf, enrollBody, HARMLESS, identityOf, type Pair, post } from './peer.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from './programs.ts';

const TTL_MS = 40_000;
const OVERLAP_MS = 6_000;
const LATE_MS = 2_000;
const TIMEOUT_MS = 900_000;
const INTERVALS = {
  HEARTBEAT_INTERVAL_MS: 2_000,
  HEARTBEAT_TIMEOUT_MS: 2_000,
  TRUST_ERROR_WINDOW_MS: 2_000,
  CLIENT_CERTIFICATE_TTL_MS: TTL_MS,
  RENEWAL_RECOMMENDED_MS: 32_000,
  RENEWAL_DUE_MS: 12_000,
  PREVIOUS_CERTIFICATE_OVERLAP_MS: OVERLAP_MS,
  RENEWAL_RETRY_MIN_MS: 500,
};
const skip = isSkipped('renewal by the program', missingForEngine());

let home: Home;
let running: Program;
beforeAll(async () => {
  home = await makeHome(INTERVALS);
  running = await startConsole(home);
});
afterAll(async () => {
  await stop(running);
  await removeHome(home);
});

it.skipIf(skip)(
  'should renew, overlap, expire and come back',
  { timeout: TIMEOUT_MS },
  async () => {
    expect(await enroll(home, await createToken(home))).toMatchObject({ code: 0 });
    const first = identityOf(home);
    let sensor = startSensor(home);
    const { sensor_id: sensorId } = await onlySensor(home, isHealthy);

    // By itself, with a new key; the old certificate is good for the overlap and cannot renew any more.
    const second = await eventually('the Sensor renews', () => {
      const now = identityOf(home);
      return now.cert === first.cert ? null : now;
    });
    const renewedAt = Date.now();
    expect(second.key).not.toBe(first.key);
    expect(await post(home, { ...HARMLESS, pair: second })).toMatchObject({ status: 200 });
    expect(await post(home, { ...HARMLESS, pair: first })).toMatchObject({ status: 200 });
    expect(await renew(first, await generateKeyPem())).toMatchObject({
      status: 403,
      body: { code: 'renewal_not_allowed' },
    });
    const lateMs = LATE_MS + (await slackOf(() => post(home, { ...HARMLESS, pair: second })));
    const refused = await eventually('the old certificate is refused', async () => {
      const answer = await post(home, { ...HARMLESS, pair: first });
      return answer.status === 200 ? null : answer;
    });
    const tookMs = Date.now() - renewedAt;
    expect(refused).toMatchObject({ status: 403, body: { code: 'certificate_superseded' } });
    expect(tookMs).toBeGreaterThan(OVERLAP_MS - lateMs);
    expect(tookMs).toBeLessThan(OVERLAP_MS + lateMs);
    expect(await renew(first, await generateKeyPem())).toMatchObject({ status: 403 });

    // Off until its certificate is over: the handshake fails, the Sensor says so and keeps what it sees.
    await stop(sensor);
    const last = identityOf(home);
    const { certificate_expires_at: endsAt } = (await status(home)).identity ?? {};
    await eventually(
      'it expires',
      () => (Date.now() > Date.parse(endsAt ?? '') ? true : null),
      TTL_MS,
    );
    await expect(post(home, { ...HARMLESS, pair: last })).rejects.toThrow(/expired/i);
    sensor = startSensor(home);
    const marks = startMarks(home, `EXPIRED${process.pid}`, 50);
    const from = await eventually('events wait in the spool', async () => {
      const { summary, live } = await status(home);
      // What ran before the engine watches is not seen; lines left from the last run fill the spool earlier.
      const isWaiting =
        summary === 'certificate expired: re-enroll' &&
        live?.engine?.state === 'running' &&
        (live.spool?.depth ?? 0) > 20;
      return isWaiting ? marks.made() : null;
    });
    await eventually('more are made', () => (marks.made() > from + 20 ? true : null));
    expect(sensor.isRunning()).toBe(true);

    // A re-enrollment token brings it back as itself, with its events.
    const issued = await api(home, 'POST', `/api/v2/sensors/${sensorId}/reenroll`, {});
    expect(issued.status).toBe(201);
    expect(await enroll(home, (issued.body as { secret: string }).secret)).toMatchObject({
      code: 0,
    });
    const back = await onlySensor(home, (one: ListedSensor) => one.states?.stream === 'open');
    await marks.stop();
    expect(back.sensor_id).toBe(sensorId);
    const wrong = async () =>
      wrongMarks(await listedMarks(home, `EXPIRED${process.pid}`), from, marks.made() - 1);
    await eventually('every event arrives', async () =>
      (await wrong()).length === 0 ? true : null,
    ).catch(async () => expect(await wrong()).toEqual([]));
    await stop(sensor);
  },
);

it('should cost nothing when the answer of a renewal is lost', {
  timeout: TIMEOUT_MS,
}, async () => {
  const key = await generateKeyPem();
  const body = await enrollBody(await createToken(home), 'renewing-peer', key);
  const enrolled = await post(home, { path: '/sensors/enroll', body });
  const pair = { key, cert: certificateOf(enrolled.body) };
  const nextKey = await generateKeyPem();

  const lost = await renew(pair, nextKey);
  const again = await renew(pair, nextKey);
  const oldStillWorks = await post(home, { ...HARMLESS, pair });
  const renewed = { key: nextKey, cert: certificateOf(again.body) };
  const activated = await post(home, { ...HARMLESS, pair: renewed });
  const oldAsks = await renew(pair, await generateKeyPem());

  expect([enrolled.status, lost.status, again.status]).toEqual([201, 200, 200]);
  expect(certificateOf(again.body)).toBe(certificateOf(lost.body));
  expect(oldStillWorks.status).toBe(200);
  expect(activated.status).toBe(200);
  expect(oldAsks).toMatchObject({ status: 403, body: { code: 'renewal_not_allowed' } });
});

async function renew(pair: Pair, key: string) {
  const nodeName = /^CN=(.+)$/m.exec(new X509Certificate(pair.cert).subject)?.[1] ?? '';
  return post(home, {
    path: '/sensors/renew',
    body: { csr_pem: await csrOf(nodeName, key) },
    pair,
  });
}

function certificateOf(body: Readonly<Record<string, unknown>>): string {
  return String(body['control_plane_certificate_pem']);
}
