// Attacks with time: the Console's clock and the Sensor's, wrong by an hour or by forty days, forwards and back. Dates are
// judged by the Console's clock to the millisecond; what a Sensor says of the time is information and nothing more. The
// Sensor's own clock is bent in props/peers/renewal.test.ts. invariant: I4; decision: D14
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleUnderTest, endOf, removeSharedKeys, startConsole } from './console.fixture.ts';
import {
  codeOf,
  enrollBody,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeCsr,
  makeKeys,
  nth,
  pemOf,
} from './peer.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WRONG_BY = [-40 * DAY_MS, -HOUR_MS, HOUR_MS, 40 * DAY_MS];
let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
const beat = (body: object = {}, own = identity) =>
  console.ask(own, '/sensors/heartbeat', { ...heartbeatBody(0, []), ...body });
const healthOf = async (body: object = {}) => (await beat(body)).body['trust_health'];

beforeAll(async () => {
  keys = await makeKeys(3);
});
beforeEach(async () => {
  console = await startConsole();
  identity = await console.enroll('node', nth(keys, 0));
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

describe('attack 30: the edges of every window', () => {
  it('should recommend renewal from 72 hours, demand it from 24, and end at the end', async () => {
    const endMs = endOf(identity);
    // Before an edge a minute is left, since the actor's timer runs on while the wall clock is held; from the edge on it
    // is exact. Both sides to the millisecond are in props/machines/certificate.test.ts.
    const edges: readonly (readonly [number, string])[] = [
      [72 * HOUR_MS + MINUTE_MS, 'healthy'],
      [72 * HOUR_MS, 'renewal_recommended'],
      [24 * HOUR_MS + MINUTE_MS, 'renewal_recommended'],
      [24 * HOUR_MS, 'renewal_due'],
      [1, 'renewal_due'],
    ];
    const states: Record<string, string> = { healthy: 'trusted' };
    for (const [leftMs, expected] of edges) {
      console.holdAt(endMs - leftMs);
      const state = states[expected] ?? expected;
      const trust = { ...heartbeatBody(0, []).trust, state };
      // The sensor agrees with the Console, so that the dates alone decide.
      const { body } = await beat({ trust });
      expect([leftMs, body['trust_health']]).toEqual([leftMs, expected]);
      expect(body['certificate']).toMatchObject({ renew_now: expected !== 'healthy' });
    }
    console.holdAt(endMs);
    expect(codeOf(await beat())).toEqual([401, 'certificate_expired']);
    // A clock that goes back brings the certificate back, and nobody has to do anything for it.
    console.holdAt(endMs - 73 * HOUR_MS);
    expect((await beat()).status).toBe(200);
  });

  it('should accept the previous certificate for 24 hours less a millisecond', async () => {
    const csr = { csr_pem: makeCsr(nth(keys, 1), 'node') };
    const renewed = await console.ask(identity, '/sensors/renew', csr);
    const cert = String(renewed.body['control_plane_certificate_pem']);
    const next = { ...identity, cert, key: pemOf(nth(keys, 1)) };
    const replacedAtMs = Date.now();
    console.holdAt(replacedAtMs);
    expect((await beat({}, next)).status).toBe(200);
    console.holdAt(replacedAtMs + DAY_MS - 1);
    expect((await beat()).status).toBe(200);
    console.holdAt(replacedAtMs + DAY_MS);
    expect(codeOf(await beat())).toEqual([403, 'certificate_superseded']);
    expect((await beat({}, next)).status).toBe(200);
  });

  it('should grant a token for 15 minutes less a millisecond', async () => {
    const atMs = Date.now();
    console.holdAt(atMs);
    const [early, late] = [await console.newToken(), await console.newToken()];
    const enroll = (token: string) =>
      console.ask(null, '/sensors/enroll', enrollBody(token, 'node', nth(keys, 2)));
    console.holdAt(atMs + 15 * MINUTE_MS - 1);
    expect((await enroll(early)).status).toBe(201);
    console.holdAt(atMs + 15 * MINUTE_MS);
    expect(codeOf(await enroll(late))).toEqual([410, 'token_expired']);
  });

  it('should hold a trust error for 15 minutes, by the clock of the Console', async () => {
    const atMs = Date.now();
    console.holdAt(atMs);
    const trust = (errorAtMs: number) => ({
      trust: {
        ...heartbeatBody(0, []).trust,
        last_trust_error_at: new Date(errorAtMs).toISOString(),
      },
    });
    expect(await healthOf(trust(atMs - 15 * MINUTE_MS + 1))).toBe('renewal_due');
    expect(await healthOf(trust(atMs - 15 * MINUTE_MS - 1))).toBe('healthy');
  });
});

describe('attack 30: a clock that is wrong', () => {
  it('should be of no matter in what a Sensor writes', async () => {
    for (const byMs of WRONG_BY) {
      const wrong = new Date(Date.now() + byMs).toISOString();
      const answer = await beat({ sent_at: wrong });
      expect([byMs, answer.status, answer.body['trust_health']]).toEqual([byMs, 200, 'healthy']);
      expect(Math.abs(Date.parse(String(answer.body['server_time'])) - Date.now())).toBeLessThan(
        MINUTE_MS,
      );
      const row = await console.stores.relational.sensors.getSensor(identity.sensorId);
      expect(Math.abs((row?.lastHeartbeatAtMs ?? 0) - Date.now())).toBeLessThan(MINUTE_MS);
    }
  });

  it('should shut no enrolled sensor out for an hour, nor for good when it comes right again', async () => {
    const stream = await console.openStream(identity);
    stream.hello('1'.repeat(32));
    await stream.next('welcome');
    for (const byMs of [-HOUR_MS, HOUR_MS, -40 * DAY_MS]) {
      console.travel(byMs);
      expect([byMs, (await beat()).status]).toEqual([byMs, 200]);
      console.travel(-byMs);
      expect((await beat()).status).toBe(200);
    }
    expect(stream.socket.readyState).toBe(1);
    console.travel(40 * DAY_MS);
    expect(codeOf(await beat())).toEqual([401, 'certificate_expired']);
    expect((await stream.closed).reason).toBe('certificate_expired');
    console.travel(-40 * DAY_MS);
    expect((await beat()).status).toBe(200);
    expect(await healthOf()).toBe('healthy');
  });

  it('should not bring a revoked sensor back', async () => {
    await console.revoke(identity.sensorId);
    for (const byMs of WRONG_BY) {
      console.travel(byMs);
      const { status, body } = await beat();
      expect([byMs, status]).toEqual([byMs, 403]);
      expect(body['code']).toBe('sensor_revoked');
      console.travel(-byMs);
    }
  });

  it('should not let a token live longer by going back after it was used', async () => {
    const token = await console.newToken();
    const enroll = (n: number) =>
      console.ask(null, '/sensors/enroll', enrollBody(token, 'node', nth(keys, n)));
    expect((await enroll(1)).status).toBe(201);
    console.travel(-40 * DAY_MS);
    expect(codeOf(await enroll(2))).toEqual([409, 'token_consumed']);
  });
});

describe('attack 30: a license that is full', () => {
  it('should refuse new sensors only', async () => {
    const stores = console.stores;
    const full = await startConsole({
      stores,
      // The license gate has no limit yet; the number it will give goes to the registry with each enrollment.
      registry: (real) => ({
        ...real,
        enroll: (input) => real.enroll({ ...input, nodesAllowed: 1 }),
      }),
    });
    try {
      await expect(full.enroll('second', nth(keys, 1))).rejects.toThrow('license_limit');
      const again = await full.tokens.createForSensor({
        sensorId: identity.sensorId,
        actor: 'test',
      });
      if (!again.ok) throw new Error(again.code);
      const body = enrollBody(again.secret, 'node', nth(keys, 2));
      const answer = await full.ask(null, '/sensors/enroll', body);
      expect(answer.body['sensor_id']).toBe(identity.sensorId);
      const renewed = {
        ...identity,
        cert: String(answer.body['control_plane_certificate_pem']),
        key: pemOf(nth(keys, 2)),
      };
      const beating = await full.ask(renewed, '/sensors/heartbeat', heartbeatBody(0, []));
      expect(beating.status).toBe(200);
    } finally {
      await full.stop();
    }
  });
});
