// Attacks with certificates: revoked, expired, superseded, foreign, resumed. What the TLS handshake once accepted is
// judged again on every request. invariant: I3, I4, I9, I12; decision: D10
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeCsr,
  makeKeys,
} from './sensor-plane.client.ts';
import {
  openAuthority,
  removeSharedKeys,
  type SensorPlaneUnderTest,
  startSensorPlane,
} from './sensor-plane.fixture.ts';

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
let plane: SensorPlaneUnderTest;
let keys: readonly KeyPair[];
const key = (n: number): KeyPair => {
  const found = keys[n];
  if (found === undefined) throw new Error('no such key');
  return found;
};
const pemOf = (pair: KeyPair) =>
  pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const beat = (identity: Pick<Identity, 'cert' | 'key'> | null, more = {}) =>
  plane.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []), more);
const codeOf = (answer: { status: number; body: Record<string, unknown> }) => [
  answer.status,
  answer.body['code'],
];
async function renew(identity: Identity, pair: KeyPair): Promise<Identity> {
  const answer = await plane.ask(identity, '/sensors/renew', { csr_pem: makeCsr(pair, 'node') });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const cert = String(answer.body['control_plane_certificate_pem']);
  return { sensorId: identity.sensorId, cert, key: pemOf(pair) };
}

beforeAll(async () => {
  keys = await makeKeys(4);
});
beforeEach(async () => {
  plane = await startSensorPlane();
});
afterEach(() => plane.stop());
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await removeSharedKeys();
});

describe('a certificate on every request', () => {
  it('is demanded on every sensor route, and browsers still get in without', async () => {
    for (const path of ['renew', 'heartbeat', 'events', 'inventory']) {
      const answer = await plane.ask(null, `/sensors/${path}`);
      expect(codeOf(answer)).toEqual([401, 'client_certificate_required']);
      expect(answer.headers['content-type']).toBe('application/problem+json');
    }
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const headers = { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    const stream = await plane.ask(null, '/sensors/stream', null, { method: 'GET', headers });
    expect(codeOf(stream)).toEqual([401, 'client_certificate_required']);
    const browser = await plane.ask(null, '/', null, { method: 'GET' });
    expect(browser.body).toEqual({ text: 'browser' });
  });

  it('is refused when no sensor has it, although the authority signed it', async () => {
    const { authority } = plane;
    const issued = await authority.issueSensorCertificate({
      publicKeySpki: key(0).publicKey.export({ format: 'der', type: 'spki' }),
      nodeName: 'ghost',
      sensorId: '018f0000-0000-7000-8000-000000000001',
      notBeforeMs: Date.now() - SECOND_MS,
      notAfterMs: Date.now() + HOUR_MS,
      serial: '11223344556677889900aabbccddeeff',
    });
    const answer = await beat({ cert: issued.pem, key: pemOf(key(0)) });
    expect(codeOf(answer)).toEqual([401, 'certificate_unknown']);
  });

  it('ends in the handshake when another authority signed the same name', async () => {
    const mine = await plane.enroll('node', key(0));
    const foreign = await openAuthority(join(folder, 'ca'));
    const issued = await foreign.issueSensorCertificate({
      publicKeySpki: key(1).publicKey.export({ format: 'der', type: 'spki' }),
      nodeName: 'node',
      sensorId: mine.sensorId,
      notBeforeMs: Date.now() - SECOND_MS,
      notAfterMs: Date.now() + HOUR_MS,
      serial: '21223344556677889900aabbccddeeff',
    });
    await expect(beat({ cert: issued.pem, key: pemOf(key(1)) })).rejects.toThrow(/alert|ECONN/i);
  });

  it('is refused from the instant of its end, also on a socket that was opened before', async () => {
    const identity = await plane.enroll('node', key(0));
    const agent = plane.agent(identity);
    expect((await beat(identity, { agent })).status).toBe(200);
    plane.travel(720 * HOUR_MS - 20 * SECOND_MS);
    const last = await beat(identity, { agent });
    expect(last.body['trust_health']).toBe('renewal_due');
    expect(last.body['certificate']).toMatchObject({ renew_now: true });
    plane.travel(20 * SECOND_MS);
    expect(codeOf(await beat(identity, { agent }))).toEqual([401, 'certificate_expired']);
  });

  it('is refused at once when the sensor is revoked: keep-alive, resumed session and stream', async () => {
    const identity = await plane.enroll('node', key(0));
    const agent = plane.agent(identity);
    expect((await beat(identity, { agent })).status).toBe(200);
    const session = await sessionOf(identity);
    const stream = await plane.openStream(identity);
    stream.hello('1'.repeat(32));
    await stream.next('welcome');
    await plane.revoke({ sensorId: identity.sensorId, reason: 'stolen', actor: 'test' });
    await stream.next('revoked');
    expect(await stream.closed).toEqual({ code: 1008, reason: 'sensor_revoked' });
    expect(codeOf(await beat(identity, { agent }))).toEqual([403, 'sensor_revoked']);
    const resumed = await beat(null, { session, maxVersion: 'TLSv1.2' });
    expect(resumed.isResumed).toBe(true);
    expect(codeOf(resumed)).toEqual([403, 'sensor_revoked']);
    expect(plane.picture.get(identity.sensorId)?.trust_state).toBe('trust_revoked');
    const again = await plane.revoke({
      sensorId: identity.sensorId,
      reason: 'again',
      actor: 'test',
    });
    expect(again?.revokedReason).toBe('stolen');
  });

  it('is judged again when its body has arrived', async () => {
    const identity = await plane.enroll('node', key(0));
    const { cert, key: pem } = identity;
    const body = JSON.stringify(heartbeatBody(0, []));
    const head = `POST /sensors/heartbeat HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
    const socket = connect({ host: '127.0.0.1', port: plane.port, ca: plane.ca, cert, key: pem });
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString()));
    });
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    // Another request proves that the first part has been read.
    expect((await beat(identity)).status).toBe(200);
    await plane.revoke({ sensorId: identity.sensorId, reason: 'stolen', actor: 'test' });
    socket.write(body.slice(9));
    expect(await answer).toMatch(/^HTTP\/1.1 403 [\s\S]*sensor_revoked/);
    socket.destroy();
  });

  it('stays refused although a late answer of the database knows nothing of the revocation', async () => {
    const identity = await plane.enroll('node', key(0));
    const before = plane.cache.identitiesOf(identity.sensorId);
    await plane.revoke({ sensorId: identity.sensorId, reason: 'stolen', actor: 'test' });
    plane.cache.apply(identity.sensorId, before);
    expect(codeOf(await beat(identity))).toEqual([403, 'sensor_revoked']);
  });
});

/** A TLS session of an identity, as a thief of tickets would keep it. */
function sessionOf(identity: Identity): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({
      host: '127.0.0.1',
      port: plane.port,
      ca: plane.ca,
      cert: identity.cert,
      key: identity.key,
      maxVersion: 'TLSv1.2',
    });
    socket.once('session', (session) => {
      socket.destroy();
      resolve(session);
    });
    socket.once('error', reject);
  });
}

describe('renewal', () => {
  it('keeps the previous certificate exactly 24 hours, and it can never renew', async () => {
    const first = await plane.enroll('node', key(0));
    const second = await renew(first, key(1));
    // A lost answer costs nothing: the old one stays current until the new one is used.
    expect((await beat(first)).status).toBe(200);
    expect((await beat(second)).status).toBe(200);
    const activatedAtMs = plane.cache
      .identitiesOf(first.sensorId)
      .find((one) => one.status === 'previous')?.supersededAtMs;
    const agent = plane.agent(first);
    expect((await beat(first, { agent })).status).toBe(200);
    const csr = { csr_pem: makeCsr(key(2), 'node') };
    const refused = await plane.ask(first, '/sensors/renew', csr);
    expect(codeOf(refused)).toEqual([403, 'renewal_not_allowed']);
    const leftMs = (activatedAtMs ?? 0) + 24 * HOUR_MS - plane.now();
    plane.travel(leftMs - SECOND_MS);
    expect((await beat(first, { agent })).status).toBe(200);
    plane.travel(SECOND_MS);
    expect(codeOf(await beat(first, { agent }))).toEqual([403, 'certificate_superseded']);
    expect((await beat(second)).status).toBe(200);
  });

  it('answers the same key with the same certificate, and a newer key replaces the pending one', async () => {
    const first = await plane.enroll('node', key(0));
    const second = await renew(first, key(1));
    expect((await renew(first, key(1))).cert).toBe(second.cert);
    const third = await renew(first, key(2));
    expect((await beat(third)).status).toBe(200);
    expect((await beat(second)).status).toBe(403);
  });

  it('refuses a key that was used before', async () => {
    const first = await plane.enroll('node', key(0));
    const reused = await plane.ask(first, '/sensors/renew', { csr_pem: makeCsr(key(0), 'node') });
    expect(codeOf(reused)).toEqual([422, 'csr_refused']);
  });

  it('answers 503 when the first use of a new certificate cannot be recorded', async () => {
    const first = await plane.enroll('node', key(0));
    const second = await renew(first, key(1));
    plane.switches.database = false;
    expect(codeOf(await beat(second))).toEqual([503, 'store_unavailable']);
    plane.switches.database = true;
    expect((await beat(second)).status).toBe(200);
  });

  it('activates once, however many requests come first', async () => {
    const first = await plane.enroll('node', key(0));
    const second = await renew(first, key(1));
    const answers = await Promise.all(Array.from({ length: 8 }, () => beat(second)));
    expect(answers.map((one) => one.status)).toEqual(Array.from({ length: 8 }, () => 200));
    const states = plane.cache.identitiesOf(first.sensorId).map((one) => one.status);
    expect(states.sort()).toEqual(['current', 'previous']);
  });
});

describe('the revocation view', () => {
  it('answers 503 rather than trust what it cannot be sure of, and recovers', async () => {
    const identity = await plane.enroll('node', key(0));
    const [watch] = plane.stores.held.watches;
    watch?.onLost();
    expect((await beat(identity)).status).toBe(200);
    plane.travel(5 * SECOND_MS + 1);
    const unsure = await beat(identity);
    expect(codeOf(unsure)).toEqual([503, 'trust_unavailable']);
    expect(Number(unsure.headers['retry-after'])).toBeGreaterThan(0);
    watch?.onRestored();
    await expect.poll(async () => (await beat(identity)).status).toBe(200);
  });

  it('follows a revocation that another replica made', async () => {
    const identity = await plane.enroll('node', key(0));
    await plane.stores.registry.revoke({
      sensorId: identity.sensorId,
      nowMs: plane.now(),
      reason: 'elsewhere',
      actor: 'test',
    });
    const stream = await plane.openStream(identity);
    for (const watch of plane.stores.held.watches) watch.onChange(identity.sensorId);
    await stream.next('revoked');
    expect((await stream.closed).reason).toBe('sensor_revoked');
    expect(codeOf(await beat(identity))).toEqual([403, 'sensor_revoked']);
  });
});
