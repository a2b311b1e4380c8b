// Attacks with time: the Console's clock and the Sensor's, wrong by an hour or by forty days, forwards and back. Dates are
// judged by the Console's clock to the millisecond; what a Sensor says of the time is information and nothing more. The
// Sensor's own clock is bent in props/peers/renewal.test.ts. invariant: I4; decision: D14
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleUnderTest, endOf, removeSharedKeys, startConsole } from './console.fixture.ts';
import { createIssuer, licensePayload } from './license-issuer.ts';
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

describe('attack 30: a license past its grace', () => {
  const at = (ms: number) => new Date(ms).toISOString();

  /** Imports a license for one node over the operator API, as people do. */
  async function importLicense(on: ConsoleUnderTest, more: Parameters<typeof licensePayload>[1]) {
    const { secret } = await on.newKey(['license:write']);
    const envelope = on.issuer.sign(licensePayload(Date.now(), more));
    return on.ask(null, '/api/v2/license', envelope, {
      headers: { authorization: `Bearer ${secret}` },
    });
  }

  it('should block new sensors above its number, from the end of grace on', async () => {
    const endMs = Date.now() + 10 * DAY_MS;
    const dates = { valid_until: at(endMs - DAY_MS), grace_until: at(endMs) };
    expect(await importLicense(console, { ...dates, max_protected_nodes: 3 })).toMatchObject({
      status: 200,
      body: { phase: 'valid', trust_anchor: 'evaluation' },
    });
    // A minute is left, since the actor's timer runs on while the wall clock is held.
    console.holdAt(endMs - MINUTE_MS);
    await console.enroll('second', nth(keys, 1));
    console.holdAt(endMs);
    await console.enroll('third');
    await expect(console.enroll('fourth')).rejects.toThrow('license_limit');
    expect(console.license.view().banners).toMatchObject([{ reason: 'expired' }]);
    // Setting the clock back gives nothing back; a revoked sensor makes room for another.
    console.travel(-40 * DAY_MS);
    await expect(console.enroll('fourth')).rejects.toThrow('license_limit');
    await console.revoke(identity.sensorId);
    await console.enroll('fourth');
    await expect(console.enroll('fifth')).rejects.toThrow('license_limit');
  });

  it('should burn no token by it, and let it in after a license with more nodes', async () => {
    const endMs = Date.now() + DAY_MS;
    await importLicense(console, { valid_until: at(endMs), grace_until: at(endMs) });
    console.holdAt(endMs);
    const token = await console.newToken();
    const body = enrollBody(token, 'second', nth(keys, 1));
    expect(codeOf(await console.ask(null, '/sensors/enroll', body))).toEqual([
      403,
      'license_limit',
    ]);
    const more = { license_id: 'more', max_protected_nodes: 2, issued_at: at(endMs) };
    const later = { valid_until: at(endMs + DAY_MS), grace_until: at(endMs + DAY_MS) };
    expect((await importLicense(console, { ...more, ...later })).status).toBe(200);
    expect((await console.ask(null, '/sensors/enroll', body)).status).toBe(201);
  });

  it('should touch nothing else: enrolled sensors beat, renew, re-enroll and keep their streams', async () => {
    // Soon: the handshake knows the real time, and new certificates are dated back by five minutes only.
    const endMs = Date.now() + 2 * MINUTE_MS;
    const dates = { valid_until: at(endMs), grace_until: at(endMs) };
    await importLicense(console, { ...dates, max_protected_nodes: 0 });
    const stream = await console.openStream(identity);
    stream.hello('1'.repeat(32));
    await stream.next('welcome');
    console.holdAt(endMs);
    await expect(console.enroll('second', nth(keys, 1))).rejects.toThrow('license_limit');
    expect((await beat()).body['trust_health']).toBe('healthy');
    expect(stream.socket.readyState).toBe(1);
    const csr = { csr_pem: makeCsr(nth(keys, 1), 'node') };
    expect((await console.ask(identity, '/sensors/renew', csr)).status).toBe(200);
    const { sensorId } = identity;
    const again = await console.tokens.createForSensor({ sensorId, actor: 'test' });
    if (!again.ok) throw new Error(again.code);
    const body = enrollBody(again.secret, 'node', nth(keys, 2));
    const answer = await console.ask(null, '/sensors/enroll', body);
    expect(answer.body['sensor_id']).toBe(sensorId);
    const cert = String(answer.body['control_plane_certificate_pem']);
    expect((await beat({}, { ...identity, cert, key: pemOf(nth(keys, 2)) })).status).toBe(200);
  });

  it('should be remembered by a Console that starts again with its clock set back', async () => {
    const endMs = Date.now() + DAY_MS;
    await importLicense(console, { valid_until: at(endMs), grace_until: at(endMs) });
    console.holdAt(endMs);
    await console.license.close();
    const { stores, issuer } = console;
    const again = await startConsole({ stores, issuer });
    try {
      await expect(again.enroll('second', nth(keys, 1))).rejects.toThrow('license_limit');
      expect(again.license.view()).toMatchObject({ phase: 'expired', isClockBehind: true });
    } finally {
      await again.stop();
    }
  });

  it('should import nothing that another key signed, and leave a trace of the try', async () => {
    const { secret } = await console.newKey(['license:write']);
    const headers = { authorization: `Bearer ${secret}` };
    const envelope = createIssuer().sign(licensePayload(Date.now()));
    const refused = await console.ask(null, '/api/v2/license', envelope, { headers });
    expect(codeOf(refused)).toEqual([422, 'license_refused']);
    await importLicense(console, {});
    expect(await console.audited()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'POST /api/v2/license', result: '422' }),
        expect.objectContaining({ action: 'license.import', result: 'ok', target: 'license-1' }),
      ]),
    );
  });
});
