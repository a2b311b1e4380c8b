// Attacks on the door that needs no certificate: one token in many hands, a Console that dies in the middle, certificate
// requests that ask for more than a key. invariant: I2, I11
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { codeOf, enrollBody, type KeyPair, makeCsr, makeKeys, nth } from './peer.ts';
import { openStores, type Stores } from './stores.fixture.ts';

const TRIES = 50;
/** Keys of the other attacks on the same Console: a key serves one sensor only. */
const OTHERS = 14;
let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
const key = (at: number) => nth(keys, at);
const enroll = (body: unknown, at = console) => at.ask(null, '/sensors/enroll', body);
const sensorsIn = async (stores: Stores) => (await stores.relational.sensors.loadSensors()).length;
const certificatesIn = async (stores: Stores) =>
  (await stores.relational.sensors.loadIdentities()).length;

beforeAll(async () => {
  [console, keys] = await Promise.all([startConsole(), makeKeys(OTHERS + TRIES)]);
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

describe('attack 1: one token in fifty hands at the same instant', () => {
  it('should make one certificate, one sensor, and one audit entry a try', async () => {
    const token = await console.newToken();
    const audited = (await console.audited()).length;
    const [sensors, certificates] = [
      await sensorsIn(console.stores),
      await certificatesIn(console.stores),
    ];
    const answers = await Promise.all(
      keys.slice(OTHERS).map((own, n) => enroll(enrollBody(token, `node-${n}`, own))),
    );
    const refused = answers.filter((one) => one.status !== 201);
    expect(refused).toHaveLength(TRIES - 1);
    for (const one of refused) expect(codeOf(one)).toEqual([409, 'token_consumed']);
    expect(await sensorsIn(console.stores)).toBe(sensors + 1);
    expect(await certificatesIn(console.stores)).toBe(certificates + 1);
    expect((await console.audited()).length).toBe(audited + TRIES);
  });

  it('should be as strict across two replicas', async () => {
    const stores = await openStores();
    const replicas = [await startConsole({ stores }), await startConsole({ stores })];
    try {
      const token = (await replicas[0]?.newToken()) ?? '';
      const answers = await Promise.all(
        keys.slice(0, 20).map((own, n) => enroll(enrollBody(token, 'node', own), replicas[n % 2])),
      );
      expect(answers.filter((one) => one.status === 201)).toHaveLength(1);
      expect(await sensorsIn(stores)).toBe(1);
    } finally {
      await Promise.all(replicas.map((one) => one.stop()));
    }
  });

  it('should give the same key its answer again, and another key nothing', async () => {
    const token = await console.newToken();
    const body = enrollBody(token, 'again', key(0));
    const [first, second] = [await enroll(body), await enroll(body)];
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    const other = await enroll(enrollBody(token, 'again', key(1)));
    expect(codeOf(other)).toEqual([409, 'token_consumed']);
  });
});

describe('attack 2: a Console that dies between the token and the answer', () => {
  let stores: Stores;
  let running: ConsoleUnderTest | null = null;
  beforeAll(async () => {
    stores = await openStores();
  });
  afterEach(async () => running?.stop());

  /** Enrolls at a Console that stops for good when it reaches `where`, and comes back over the same stores. */
  async function dieAt(where: 'before the commit' | 'after the commit', body: unknown) {
    const never = new Promise<never>(() => undefined);
    const reached = Promise.withResolvers<void>();
    const registry = (real: SensorRegistry): SensorRegistry => ({
      ...real,
      async enroll(input) {
        if (where === 'after the commit') await real.enroll(input);
        reached.resolve();
        return never;
      },
    });
    const dying = await startConsole({ stores, registry });
    const lost = enroll(body, dying).then(
      () => 'answered',
      () => 'lost',
    );
    await reached.promise;
    await dying.stop();
    expect(await lost).toBe('lost');
    running = await startConsole({ stores });
    return running;
  }
  const newToken = async () => {
    const issuing = await startConsole({ stores });
    const token = await issuing.newToken();
    await issuing.stop();
    return token;
  };

  it('should leave the token unused when nothing was committed', async () => {
    const token = await newToken();
    const before = await sensorsIn(stores);
    const body = enrollBody(token, 'early', key(0));
    const again = await dieAt('before the commit', body);
    expect(await sensorsIn(stores)).toBe(before);
    expect((await enroll(enrollBody(token, 'early', key(1)), again)).status).toBe(201);
    expect(await sensorsIn(stores)).toBe(before + 1);
  });

  it('should let the same key finish, and nobody else, when it was', async () => {
    const token = await newToken();
    const before = [await sensorsIn(stores), await certificatesIn(stores)];
    const body = enrollBody(token, 'late', key(2));
    const again = await dieAt('after the commit', body);
    const thief = await enroll(enrollBody(token, 'late', key(3)), again);
    expect(codeOf(thief)).toEqual([409, 'token_consumed']);
    const answer = await enroll(body, again);
    expect(answer.status).toBe(201);
    const after = [await sensorsIn(stores), await certificatesIn(stores)];
    expect(after).toEqual(before.map((count) => count + 1));
    const identity = {
      cert: String(answer.body['control_plane_certificate_pem']),
      key: key(2).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    };
    const inside = await again.ask(identity, '/sensors/inventory', {
      is_full_snapshot: false,
      sections: {},
    });
    expect(inside.status).toBe(200);
  });
});

describe('attack 9: a certificate request that asks for more than a key', () => {
  const name = (value: string) => ({ name: 'commonName', value });
  const service = { name: 'organizationName', value: 'Service Sensor' };

  it('should be refused for odd names and odd text, and burn no token', async () => {
    const token = await console.newToken();
    const own = key(3);
    const odd: readonly string[] = [
      makeCsr(own, 'odd', { subject: [name('evil'), name('odd'), service] }),
      makeCsr(own, 'odd', { subject: [name('odd'), name('odd'), service] }),
      makeCsr(own, 'odd', { subject: [name('odd\nCN=console'), service] }),
      makeCsr(own, 'odd', { subject: [name('odd\0'), service] }),
      makeCsr(own, 'odd', { subject: [name('odd'), { ...service, value: 'admin' }] }),
      makeCsr(own, 'odd', { subject: [name('odd'), service, { ...service, value: 'admin' }] }),
      makeCsr(own, 'odd', { subject: [name('other'), service] }),
      makeCsr(own, 'odd', { subject: [] }),
      'not a request',
      `${makeCsr(own, 'odd')}${makeCsr(own, 'odd')}`,
      `${makeCsr(own, 'odd')}${'\n'.repeat(17_000)}`,
    ];
    for (const csr of odd) {
      const answer = await enroll(enrollBody(token, 'odd', own, csr));
      expect(codeOf(answer)).toEqual([422, 'csr_refused']);
    }
    expect((await enroll(enrollBody(token, 'odd', own))).status).toBe(201);
  });

  it('should get a certificate that carries only what the authority chose', async () => {
    const csr = makeCsr(key(5), 'greedy', {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'keyUsage', keyCertSign: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: 'console' }] },
      ],
    });
    const answer = await enroll(enrollBody(await console.newToken(), 'greedy', key(5), csr));
    expect(answer.status).toBe(201);
    const made = new X509Certificate(String(answer.body['control_plane_certificate_pem']));
    expect(made.ca).toBe(false);
    expect(made.subject.split('\n').sort()).toEqual(['CN=greedy', 'O=Service Sensor']);
    expect(made.subjectAltName).toBe(`URI:urn:service:sensor:${answer.body['sensor_id']}`);
    expect(made.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('should not get by with a node name that is a path, a list or a line', async () => {
    const body = enrollBody(await console.newToken(), 'fits', key(6));
    for (const name of ['../etc', 'a/b', 'a,CN=b', 'a\nb', '', 'x'.repeat(65)]) {
      const bad = await enroll({ ...body, node_name: name });
      expect(codeOf(bad)).toEqual([422, 'schema_violation']);
      expect(bad.body['errors']).toMatchObject([{ pointer: '/node_name' }]);
    }
    expect((await enroll({ ...body, colour: 'blue' })).status).toBe(201);
  });
});

describe('attack 10: keys that prove nothing', () => {
  it('should be refused when short, of a weak exponent, or not the signer', async () => {
    const [[short], [weak]] = await Promise.all([
      makeKeys(1, { bits: 1_024 }),
      makeKeys(1, { exponent: 3 }),
    ]);
    if (short === undefined || weak === undefined) throw new Error('no keys');
    const token = await console.newToken();
    for (const csr of [
      makeCsr(short, 'weak'),
      makeCsr(weak, 'weak'),
      makeCsr(key(10), 'weak', { signWith: key(4) }),
    ]) {
      const answer = await enroll(enrollBody(token, 'weak', key(10), csr));
      expect(codeOf(answer)).toEqual([422, 'csr_refused']);
    }
    expect((await enroll(enrollBody(token, 'weak', key(10)))).status).toBe(201);
  });

  it('should be refused at a renewal when used before, weak, or for another name', async () => {
    const identity = await console.enroll('reuse', key(11));
    const renew = (csr: string) => console.ask(identity, '/sensors/renew', { csr_pem: csr });
    for (const csr of [
      makeCsr(key(11), 'reuse'),
      makeCsr(key(1), 'other'),
      makeCsr(key(1), 'reuse', { signWith: key(2) }),
    ]) {
      expect(codeOf(await renew(csr))).toEqual([422, 'csr_refused']);
    }
    expect((await renew(makeCsr(key(1), 'reuse'))).status).toBe(200);
  });
});

describe('a key that serves another sensor', () => {
  it('should make no second sensor of one request, and leave the second token good', async () => {
    const [first, second] = [await console.newToken(), await console.newToken()];
    const csr = makeCsr(key(12), 'twin');
    expect((await enroll(enrollBody(first, 'twin', key(12), csr))).status).toBe(201);
    const before = await sensorsIn(console.stores);
    const again = await enroll(enrollBody(second, 'twin', key(12), csr));
    expect(codeOf(again)).toEqual([409, 'key_in_use']);
    expect(await sensorsIn(console.stores)).toBe(before);
    expect((await enroll(enrollBody(second, 'twin', key(13)))).status).toBe(201);
  });

  it('should renew nobody else', async () => {
    const [mine, theirs] = [await console.enroll('mine'), await console.enroll('theirs')];
    const foreign = {
      privateKey: createPrivateKey(theirs.key),
      publicKey: createPublicKey(theirs.key),
    };
    const csr = { csr_pem: makeCsr(foreign, 'mine') };
    expect(codeOf(await console.ask(mine, '/sensors/renew', csr))).toEqual([409, 'key_in_use']);
  });
});

describe('tokens nobody should get in with', () => {
  it('should be refused when unknown, mistyped, withdrawn or late', async () => {
    const token = await console.newToken();
    const guesses = ['', 'svce_x', `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`];
    for (const guess of guesses) {
      const answer = await enroll(enrollBody(guess, 'guess', key(0)));
      expect(codeOf(answer)).toEqual([401, 'token_invalid']);
    }
    const withdrawn = await console.tokens.create({ note: '', actor: 'test' });
    await console.stores.relational.sensors.revokeToken({
      tokenId: withdrawn.token.tokenId,
      nowMs: Date.now(),
      actor: 'test',
    });
    const gone = await enroll(enrollBody(withdrawn.secret, 'guess', key(0)));
    expect(codeOf(gone)).toEqual([401, 'token_invalid']);
    const brief = await console.tokens.create({ note: '', ttlMs: 0, actor: 'test' });
    const late = await enroll(enrollBody(brief.secret, 'guess', key(0)));
    expect(codeOf(late)).toEqual([410, 'token_expired']);
  });

  it('should bring back the same sensor, end its older certificates, and never a revoked one', async () => {
    const identity = await console.enroll('lost-key', key(7));
    const { sensorId } = identity;
    const issue = (id: string) => console.tokens.createForSensor({ sensorId: id, actor: 'test' });
    const issued = await issue(sensorId);
    if (!issued.ok) throw new Error(issued.code);
    const answer = await enroll(enrollBody(issued.secret, 'lost-key', key(8)));
    expect(answer.body['sensor_id']).toBe(sensorId);
    const old = await console.ask(identity, '/sensors/heartbeat');
    expect(codeOf(old)).toEqual([403, 'certificate_superseded']);
    const late = await issue(sensorId);
    await console.revoke(sensorId);
    expect(await issue(sensorId)).toMatchObject({ ok: false, code: 'sensor_is_revoked' });
    expect(await issue('nobody')).toMatchObject({ ok: false, code: 'not_found' });
    if (!late.ok) throw new Error(late.code);
    const refused = await enroll(enrollBody(late.secret, 'lost-key', key(9)));
    expect(codeOf(refused)).toEqual([409, 'sensor_is_revoked']);
  });

  it('should run out of guesses by address, while honest enrollments cost nothing', async () => {
    const small = await startConsole({ budget: 3 });
    try {
      for (let n = 0; n < 6; n += 1) await small.enroll(`honest-${n}`, key(n));
      const codes = [];
      for (let n = 0; n < 4; n += 1) {
        codes.push((await enroll(enrollBody('svce_x', 'a', key(0)), small)).body['code']);
      }
      expect(codes).toEqual(['token_invalid', 'token_invalid', 'token_invalid', 'rate_limited']);
      const spent = await small.ask(null, '/sensors/heartbeat');
      expect(codeOf(spent)).toEqual([429, 'rate_limited']);
      expect(Number(spent.headers['retry-after'])).toBeGreaterThan(0);
      expect(spent.headers['ratelimit-policy']).toContain('q=3');
      expect(spent.headers['ratelimit']).toContain('r=0');
    } finally {
      await small.stop();
    }
  });
});
