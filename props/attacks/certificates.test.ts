// Attacks with certificates: revoked, expired, replaced, foreign, resumed. What the handshake once accepted is judged again
// on every request and every frame. invariant: I3, I4, I9, I12; decision: D10
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newSerial } from '../../storage/keys/certificate-authority.ts';
import {
  type ConsoleUnderTest,
  endOf,
  openAuthority,
  removeSharedKeys,
  startConsole,
} from './console.fixture.ts';
import {
  codeOf,
  eventsBody,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeCsr,
  makeKeys,
  nth,
  PATIENT,
  pemOf,
  talk,
} from './peer.ts';
import { openStores } from './stores.fixture.ts';

const HOUR_MS = 3_600_000;
/** Streams are looked at by nobody: what closes them heard of it. */
const UNASKED = { STREAM_IDENTITY_CHECK_MS: HOUR_MS, STREAM_PING_INTERVAL_MS: HOUR_MS };
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
const ONE = '1'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
const key = (at: number) => nth(keys, at);
const beat = (identity: Pick<Identity, 'cert' | 'key'> | null, more = {}, at = console) =>
  at.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []), more);
const renewal = (identity: Identity, pair: KeyPair) =>
  console.ask(identity, '/sensors/renew', { csr_pem: makeCsr(pair, 'node') });
async function renew(identity: Identity, pair: KeyPair): Promise<Identity> {
  const answer = await renewal(identity, pair);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const cert = String(answer.body['control_plane_certificate_pem']);
  return { sensorId: identity.sensorId, cert, key: pemOf(pair) };
}

/** A session as a thief of tickets would keep it. */
function sessionOf(
  identity: Identity,
  version: (typeof VERSIONS)[number],
  at = console,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { cert, key: pem } = identity;
    const limits = { minVersion: version, maxVersion: version } as const;
    const socket = connect({
      ...{ host: '127.0.0.1', port: at.port, ca: at.ca, cert, key: pem },
      ...limits,
    });
    socket.once('session', (session) => {
      socket.destroy();
      resolve(session);
    });
    socket.once('error', reject);
    socket.resume();
    // The tickets of TLS 1.3 come with the first answer.
    socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  });
}
const resumed = async (session: Buffer, version: (typeof VERSIONS)[number], at = console) => {
  // No certificate is shown: what the Console knows of the peer comes out of the ticket alone.
  const answer = await beat(null, { session, minVersion: version, maxVersion: version }, at);
  expect(answer.isResumed).toBe(true);
  return answer;
};

beforeAll(async () => {
  keys = await makeKeys(4);
});
beforeEach(async () => {
  console = await startConsole();
});
afterEach(() => console.stop());
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await removeSharedKeys();
});

describe('attack 3: revocation with stream, keep-alive and resumed ticket', () => {
  it('should refuse the next request of each and close the stream at once', async () => {
    await console.stop();
    console = await startConsole({ intervals: UNASKED });
    const identity = await console.enroll('node', key(0));
    const { sensorId } = identity;
    const agent = console.agent(identity);
    expect((await beat(identity, { agent })).status).toBe(200);
    const tickets = [await sessionOf(identity, 'TLSv1.2'), await sessionOf(identity, 'TLSv1.3')];
    const stream = await console.openStream(identity);
    stream.hello(ONE);
    await stream.next('welcome');
    await console.revoke(sensorId);
    await stream.next('revoked');
    expect(await stream.closed).toEqual({ code: 1008, reason: 'sensor_revoked' });
    expect(codeOf(await beat(identity, { agent }))).toEqual([403, 'sensor_revoked']);
    for (const [at, ticket] of tickets.entries()) {
      const answer = await resumed(ticket, VERSIONS[at] ?? 'TLSv1.2');
      expect(codeOf(answer)).toEqual([403, 'sensor_revoked']);
    }
    await expect(console.openStream(identity)).rejects.toThrow('status 403');
    expect(console.fleet.liveView.get(sensorId)?.trust_state).toBe('trust_revoked');
    expect((await console.revoke(sensorId))?.revokedReason).toBe('stolen');
  });

  it('should hold at once on a replica that did not make it, and after a restart', async () => {
    const stores = await openStores();
    const start = () => startConsole({ stores, intervals: UNASKED });
    const [here, there] = [await start(), await start()];
    try {
      const identity = await here.enroll('node', key(0));
      await expect.poll(async () => (await beat(identity, {}, there)).status, PATIENT).toBe(200);
      const agent = there.agent(identity);
      expect((await beat(identity, { agent }, there)).status).toBe(200);
      const ticket = await sessionOf(identity, 'TLSv1.3', there);
      const stream = await there.openStream(identity);
      await here.revoke(identity.sensorId);
      expect((await stream.closed).reason).toBe('sensor_revoked');
      expect(codeOf(await beat(identity, { agent }, there))).toEqual([403, 'sensor_revoked']);
      expect(codeOf(await resumed(ticket, 'TLSv1.3', there))).toEqual([403, 'sensor_revoked']);
      const later = await startConsole({ stores });
      expect(codeOf(await beat(identity, {}, later))).toEqual([403, 'sensor_revoked']);
      await later.stop();
    } finally {
      await Promise.all([here.stop(), there.stop()]);
    }
  });

  it('should hold for a request whose body is still on its way', async () => {
    const identity = await console.enroll('node', key(0));
    const { cert, key: pem } = identity;
    const body = JSON.stringify(heartbeatBody(0, []));
    const head =
      'POST /sensors/heartbeat HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
    const socket = connect({
      ...{ host: '127.0.0.1', port: console.port, ca: console.ca, cert, key: pem },
    });
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString()));
    });
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    // Another request proves that the first part has been read.
    expect((await beat(identity)).status).toBe(200);
    await console.revoke(identity.sensorId);
    socket.write(body.slice(9));
    expect(await answer).toMatch(/^HTTP\/1.1 403 [\s\S]*sensor_revoked/);
    socket.destroy();
  });

  it('should not be taken back by a late answer of the database', async () => {
    const identity = await console.enroll('node', key(0));
    const { identities } = console.fleet;
    const before = identities.identitiesOf(identity.sensorId);
    await console.revoke(identity.sensorId);
    identities.apply(identity.sensorId, before);
    expect(codeOf(await beat(identity))).toEqual([403, 'sensor_revoked']);
  });

  it('should make a Console that hears of no revocations trust nobody, until it does', async () => {
    const identity = await console.enroll('node', key(0));
    let sequence = 0;
    const send = () => {
      sequence += 1;
      return console.ask(identity, '/sensors/events', eventsBody(sequence, [sequence]));
    };
    await console.stores.relational.setAway(true);
    expect((await send()).status).toBe(202);
    console.time.age(5_001);
    const unsure = await send();
    expect(codeOf(unsure)).toEqual([503, 'trust_unavailable']);
    expect(Number(unsure.headers['retry-after'])).toBeGreaterThan(0);
    await console.stores.relational.setAway(false);
    await expect.poll(async () => (await send()).status, PATIENT).toBe(202);
  });
});

describe('attack 4: a certificate that ends during a connection or behind a ticket', () => {
  it('should be refused at the first request from its end on', async () => {
    const identity = await console.enroll('node', key(0));
    const endMs = endOf(identity);
    const agent = console.agent(identity);
    expect((await beat(identity, { agent })).status).toBe(200);
    const tickets = [await sessionOf(identity, 'TLSv1.2'), await sessionOf(identity, 'TLSv1.3')];
    console.holdAt(endMs - 1);
    const last = await beat(identity, { agent });
    expect(last.status).toBe(200);
    expect(last.body['certificate']).toMatchObject({ renew_now: true });
    console.holdAt(endMs);
    expect(codeOf(await beat(identity, { agent }))).toEqual([401, 'certificate_expired']);
    for (const [at, ticket] of tickets.entries()) {
      const answer = await resumed(ticket, VERSIONS[at] ?? 'TLSv1.2');
      expect(codeOf(answer)).toEqual([401, 'certificate_expired']);
    }
  });

  it('should end an open stream at its next frame, and at its next ping', async () => {
    const identity = await console.enroll('node', key(0));
    const stream = await console.openStream(identity);
    stream.hello(ONE);
    await stream.next('welcome');
    console.travel(720 * HOUR_MS);
    stream.send({ type: 'events', sequence: 1, events: [] });
    expect(await stream.closed).toEqual({ code: 1008, reason: 'certificate_expired' });
    expect(console.batches).toHaveLength(0);
    console.travel(-720 * HOUR_MS);
    const silent = await console.openStream(identity);
    silent.hello(ONE);
    await silent.next('welcome');
    console.travel(720 * HOUR_MS);
    expect(await silent.closed).toEqual({ code: 1008, reason: 'certificate_expired' });
  });
});

describe('attack 5: the previous certificate around the end of its overlap', () => {
  it('should be accepted one second before 24 hours, refused one second after, and never renew', async () => {
    const first = await console.enroll('node', key(0));
    const second = await renew(first, key(1));
    // A lost answer costs nothing: the old one stays current until the new one is used.
    expect((await beat(first)).status).toBe(200);
    expect((await beat(second)).status).toBe(200);
    const replacedAtMs = console.fleet.identities
      .identitiesOf(first.sensorId)
      .find((one) => one.status === 'previous')?.supersededAtMs;
    if (!replacedAtMs) throw new Error('nothing was replaced');
    const agent = console.agent(first);
    const ticket = await sessionOf(first, 'TLSv1.3');
    expect(codeOf(await renewal(first, key(2)))).toEqual([403, 'renewal_not_allowed']);
    const stream = await console.openStream(first);
    stream.hello(ONE);
    await stream.next('welcome');
    console.holdAt(replacedAtMs + 24 * HOUR_MS - 1_000);
    expect((await beat(first, { agent })).status).toBe(200);
    expect(codeOf(await renewal(first, key(2)))).toEqual([403, 'renewal_not_allowed']);
    console.holdAt(replacedAtMs + 24 * HOUR_MS + 1_000);
    expect(codeOf(await beat(first, { agent }))).toEqual([403, 'certificate_superseded']);
    expect(codeOf(await resumed(ticket, 'TLSv1.3'))).toEqual([403, 'certificate_superseded']);
    expect(await stream.closed).toEqual({ code: 1008, reason: 'certificate_superseded' });
    expect((await beat(second)).status).toBe(200);
  });

  it('should be the only one replaced: one answer for one key, the newest key waits', async () => {
    const first = await console.enroll('node', key(0));
    const second = await renew(first, key(1));
    expect((await renew(first, key(1))).cert).toBe(second.cert);
    const third = await renew(first, key(2));
    const answers = await Promise.all(Array.from({ length: 8 }, () => beat(third)));
    expect(answers.map((one) => one.status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await beat(second)).status).toBe(403);
    const held = console.fleet.identities.identitiesOf(first.sensorId);
    const live = held.map((one) => one.status).filter((status) => status !== 'ended');
    expect(live.sort()).toEqual(['current', 'previous']);
  });

  it('should be left alone while the first use of the new one cannot be recorded', async () => {
    const first = await console.enroll('node', key(0));
    const second = await renew(first, key(1));
    await console.stores.relational.setAway(true);
    expect(codeOf(await beat(second))).toEqual([503, 'store_unavailable']);
    await console.stores.relational.setAway(false);
    expect((await beat(first)).status).toBe(200);
    expect((await beat(second)).status).toBe(200);
  });
});

describe('attack 6: a certificate of a foreign authority, or of nobody', () => {
  async function forged(authority: ConsoleUnderTest['authority'], sensorId: string) {
    const issued = await authority.issueSensorCertificate({
      publicKeySpki: key(1).publicKey.export({ format: 'der', type: 'spki' }),
      nodeName: 'node',
      sensorId,
      notBeforeMs: Date.now() - 1_000,
      notAfterMs: Date.now() + HOUR_MS,
      serial: newSerial(),
    });
    return { cert: issued.pem, key: pemOf(key(1)) };
  }

  it('should end in the handshake when another authority signed the same name', async () => {
    const mine = await console.enroll('node', key(0));
    const forgery = await forged(await openAuthority(join(folder, 'ca')), mine.sensorId);
    await expect(beat(forgery)).rejects.toThrow(/alert|ECONN/i);
    await expect(console.openStream({ ...mine, ...forgery })).rejects.toThrow(/alert|ECONN/i);
    expect(await talk(console, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', forgery)).toBe('');
    expect((await beat(mine)).status).toBe(200);
  });

  it('should be refused when the own authority signed it and no sensor has it', async () => {
    const mine = await console.enroll('node', key(0));
    const forgery = await forged(console.authority, mine.sensorId);
    expect(codeOf(await beat(forgery))).toEqual([401, 'certificate_unknown']);
  });

  it('should be missed on every sensor route, while browsers need none', async () => {
    for (const path of ['renew', 'heartbeat', 'events', 'inventory']) {
      const answer = await console.ask(null, `/sensors/${path}`);
      expect(codeOf(answer)).toEqual([401, 'client_certificate_required']);
      expect(answer.headers['content-type']).toBe('application/problem+json');
    }
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const headers = { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    const stream = await console.ask(null, '/sensors/stream', null, { method: 'GET', headers });
    expect(codeOf(stream)).toEqual([401, 'client_certificate_required']);
    const browser = await console.ask(null, '/', null, { method: 'GET' });
    expect(browser.status).toBe(200);
    expect(browser.headers['content-type']).toContain('text/html');
  });
});

describe('attack 7: a gateway without the authority of its sensors', () => {
  it('should refuse to start, never serve everybody as nobody', async () => {
    const empty = join(folder, 'empty.pem');
    const noise = join(folder, 'noise.pem');
    writeFileSync(empty, '');
    writeFileSync(noise, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    for (const clientCaFile of ['/nonexistent/ca.pem', empty, noise, folder]) {
      await expect(startConsole({ clientCaFile })).rejects.toThrow(
        /cannot be built|holds no certificate|does not hold a CA/,
      );
    }
  });
});
