// Attacks on enrollment: stolen and guessed tokens, odd certificate requests, floods. invariant: I2, I11
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrollBody, type KeyPair, makeCsr, makeKeys } from './sensor-plane.client.ts';
import {
  removeSharedKeys,
  type SensorPlaneUnderTest,
  startSensorPlane,
} from './sensor-plane.fixture.ts';

const TRIES = 50;
let plane: SensorPlaneUnderTest;
let keys: readonly KeyPair[];
const key = (n: number): KeyPair => {
  const found = keys[n];
  if (found === undefined) throw new Error('no such key');
  return found;
};
const newToken = async () => (await plane.tokens.create({ note: '', actor: 'test' })).secret;
const enroll = (body: unknown) => plane.ask(null, '/sensors/enroll', body);

beforeAll(async () => {
  [plane, keys] = await Promise.all([startSensorPlane(), makeKeys(TRIES)]);
});
afterAll(async () => {
  await plane.stop();
  await removeSharedKeys();
});

describe('enrollment under attack', () => {
  it('makes exactly one certificate of 50 parallel tries with one token', async () => {
    const token = await newToken();
    const before = plane.stores.held.audit.length;
    const sensors = plane.stores.held.sensors.size;
    const answers = await Promise.all(
      keys.map((own, n) => enroll(enrollBody(token, `node-${n}`, own))),
    );
    const made = answers.filter((one) => one.status === 201);
    expect(made).toHaveLength(1);
    for (const one of answers) {
      if (one.status !== 201)
        expect([one.status, one.body['code']]).toEqual([409, 'token_consumed']);
    }
    expect(plane.stores.held.sensors.size).toBe(sensors + 1);
    expect(plane.stores.held.audit.length).toBe(before + TRIES);
  });

  it('gives the same certificate to the same key again, and nothing to another', async () => {
    const token = await newToken();
    const body = enrollBody(token, 'again', key(0));
    const [first, second] = [await enroll(body), await enroll(body)];
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    const other = await enroll(enrollBody(token, 'again', key(1)));
    expect([other.status, other.body['code']]).toEqual([409, 'token_consumed']);
  });

  it('answers what the specification names', async () => {
    const answer = await enroll(enrollBody(await newToken(), 'fields', key(2)));
    expect(Object.keys(answer.body).sort()).toEqual([
      'certificate_expires_at',
      'certificate_reference',
      'control_plane_ca_certificate_pem',
      'control_plane_certificate_pem',
      'heartbeat_interval_seconds',
      'policy_signing_public_key_pem',
      'sensor_id',
      'stream_path',
      'trust_state',
    ]);
    const pem = String(answer.body['control_plane_certificate_pem']);
    const certificate = new X509Certificate(pem);
    expect(certificate.subject).toContain('CN=fields');
    expect(certificate.subjectAltName).toBe(`URI:urn:service:sensor:${answer.body['sensor_id']}`);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('refuses unknown, mistyped, withdrawn and expired tokens', async () => {
    const token = await newToken();
    const guesses = ['', 'svce_x', `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`];
    for (const guess of guesses) {
      const answer = await enroll(enrollBody(guess, 'guess', key(0)));
      expect([answer.status, answer.body['code']]).toEqual([401, 'token_invalid']);
    }
    const withdrawn = await plane.tokens.create({ note: '', actor: 'test' });
    await plane.tokens.revoke({ tokenId: withdrawn.token.tokenId, actor: 'test' });
    const gone = await enroll(enrollBody(withdrawn.secret, 'guess', key(0)));
    expect([gone.status, gone.body['code']]).toEqual([401, 'token_invalid']);
    const brief = await plane.tokens.create({ note: '', ttlMs: 0, actor: 'test' });
    const late = await enroll(enrollBody(brief.secret, 'guess', key(0)));
    expect([late.status, late.body['code']]).toEqual([410, 'token_expired']);
  });

  it('refuses odd certificate requests and burns no token by it', async () => {
    const token = await newToken();
    const name = (value: string) => ({ name: 'commonName', value });
    const service = { name: 'organizationName', value: 'Service Sensor' };
    const [small] = await makeKeys(1, 1_024);
    if (small === undefined) throw new Error('no key');
    const own = key(3);
    const odd: readonly string[] = [
      makeCsr(own, 'odd', { subject: [name('evil'), name('odd'), service] }),
      makeCsr(own, 'odd', { subject: [name('odd\nCN=console'), service] }),
      makeCsr(own, 'odd', { subject: [name('odd'), { ...service, value: 'admin' }] }),
      makeCsr(own, 'odd', { subject: [name('other'), service] }),
      makeCsr(own, 'odd', { signWith: key(4) }),
      makeCsr(small, 'odd'),
      'not a request',
      `${makeCsr(own, 'odd')}${'\n'.repeat(17_000)}`,
    ];
    for (const csr of odd) {
      const answer = await enroll(enrollBody(token, 'odd', own, csr));
      expect([answer.status, answer.body['code']]).toEqual([422, 'csr_refused']);
    }
    expect((await enroll(enrollBody(token, 'odd', own))).status).toBe(201);
  });

  it('takes nothing but the key from a request', async () => {
    const csr = makeCsr(key(5), 'greedy', {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: 'console' }] },
      ],
    });
    const answer = await enroll(enrollBody(await newToken(), 'greedy', key(5), csr));
    // Refusing it would be as good; issuing what it asks for would not.
    if (answer.status === 422) return;
    const made = new X509Certificate(String(answer.body['control_plane_certificate_pem']));
    expect(made.ca).toBe(false);
    expect(made.subjectAltName).not.toContain('console');
  });

  it('names the fields that do not fit and ignores those it does not know', async () => {
    const body = enrollBody(await newToken(), 'fits', key(6));
    const bad = await enroll({ ...body, node_name: '../etc' });
    expect([bad.status, bad.body['code']]).toEqual([422, 'schema_violation']);
    expect(bad.body['errors']).toMatchObject([{ pointer: '/node_name' }]);
    expect((await enroll({ ...body, colour: 'blue' })).status).toBe(201);
  });

  it('re-enrolls under the same identity, ends older certificates at once, never a revoked one', async () => {
    const identity = await plane.enroll('lost-key', key(7));
    const issued = await plane.tokens.createForSensor({
      sensorId: identity.sensorId,
      actor: 'test',
    });
    if (!issued.ok) throw new Error(issued.code);
    const answer = await enroll(enrollBody(issued.secret, 'lost-key', key(8)));
    expect(answer.body['sensor_id']).toBe(identity.sensorId);
    const old = await plane.ask(identity, '/sensors/heartbeat');
    expect([old.status, old.body['code']]).toEqual([403, 'certificate_superseded']);
    const late = await plane.tokens.createForSensor({ sensorId: identity.sensorId, actor: 'test' });
    await plane.revoke({ sensorId: identity.sensorId, reason: 'test', actor: 'test' });
    expect(
      await plane.tokens.createForSensor({ sensorId: identity.sensorId, actor: 'test' }),
    ).toMatchObject({ ok: false, code: 'sensor_is_revoked' });
    expect(await plane.tokens.createForSensor({ sensorId: 'nobody', actor: 'test' })).toMatchObject(
      { ok: false, code: 'not_found' },
    );
    if (!late.ok) throw new Error(late.code);
    const refused = await enroll(enrollBody(late.secret, 'lost-key', key(9)));
    expect([refused.status, refused.body['code']]).toEqual([409, 'sensor_is_revoked']);
  });

  it('says 503 with Retry-After while the database is away, and the token stays good', async () => {
    const body = enrollBody(await newToken(), 'patient', key(10));
    plane.switches.database = false;
    const away = await enroll(body);
    plane.switches.database = true;
    expect([away.status, away.body['code']]).toEqual([503, 'store_unavailable']);
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
    expect((await enroll(body)).status).toBe(201);
  });
});

describe('the budget of an address', () => {
  it('ends guessing with 429, and gives honest enrollments their request back', async () => {
    const small = await startSensorPlane({ budget: 3 });
    try {
      for (let n = 0; n < 6; n += 1) await small.enroll(`honest-${n}`, key(n));
      const guess = () => small.ask(null, '/sensors/enroll', enrollBody('svce_x', 'a', key(0)));
      const codes = [];
      for (let n = 0; n < 4; n += 1) codes.push((await guess()).body['code']);
      expect(codes).toEqual(['token_invalid', 'token_invalid', 'token_invalid', 'rate_limited']);
      const spent = await small.ask(null, '/sensors/heartbeat');
      expect([spent.status, spent.body['code']]).toEqual([429, 'rate_limited']);
      expect(Number(spent.headers['retry-after'])).toBeGreaterThan(0);
      expect(spent.headers['ratelimit-policy']).toContain('q=3');
      expect(spent.headers['ratelimit']).toContain('r=0');
    } finally {
      await small.stop();
    }
  });

  it('refuses above the license, and only new identities', async () => {
    const full = await startSensorPlane({ license: { nodesAllowed: () => 1 } });
    try {
      const first = await full.enroll('first', key(0));
      await expect(full.enroll('second', key(1))).rejects.toThrow('license_limit');
      const again = await full.tokens.createForSensor({ sensorId: first.sensorId, actor: 'test' });
      if (!again.ok) throw new Error(again.code);
      const body = enrollBody(again.secret, 'first', key(2));
      expect((await full.ask(null, '/sensors/enroll', body)).status).toBe(201);
    } finally {
      await full.stop();
    }
  });
});
