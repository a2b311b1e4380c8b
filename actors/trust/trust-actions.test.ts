// Tokens, enrollment, renewal and revocation over the stores in memory: what each answers, tells and writes down. The
// certificate authority is a port here; `props/attacks` has the real one.
import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import { EventStoreUnavailable } from '../../storage/ports/telemetry/event-store.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createEnrollment } from './enrollment.ts';
import { type IdentityCache, openIdentityCache } from './identity-cache.ts';
import { orUnavailable } from './outage.ts';
import { createAuthenticate, createRenewal } from './renewal.ts';
import { createRevocation } from './revocation.ts';
import { createTokenService, hashOfSecret, isTokenText } from './tokens.ts';

const HOUR_MS = 3_600_000;
const intervals = DEFAULT_INTERVALS;
const TTL_MS = intervals.CLIENT_CERTIFICATE_TTL_MS;
const ADDRESS = '10.1.1.1';
let nowMs = 0;
let store: ReturnType<typeof createMemoryRelational>;
let cache: IdentityCache;
let told: unknown[][];
let opened: unknown[][];
let known: Set<string>;
let nodesAllowed: number | null;
/** Whether the database tells of what changed. */
let isTelling: boolean;
let tokens: ReturnType<typeof createTokenService>;
let enroll: ReturnType<typeof createEnrollment>;
let renew: ReturnType<typeof createRenewal>;
let authenticate: ReturnType<typeof createAuthenticate>;
let revoke: ReturnType<typeof createRevocation>;

const certificates = {
  rootsPem: 'the roots',
  newSerial: () => randomUUID().replaceAll('-', ''),
  checkCsr: ({ csrPem }: { csrPem: string }) =>
    csrPem === 'bad'
      ? { ok: false, code: 'csr_refused', detail: 'a bad request' }
      : { ok: true, publicKeySpki: Buffer.from(csrPem), keyDigest: `digest of ${csrPem}` },
  issueSensorCertificate: async (asked: Record<string, unknown>) => ({
    ...{ pem: JSON.stringify({ ...asked, publicKeySpki: String(asked['publicKeySpki']) }) },
    ...{ serial: asked['serial'], fingerprint: `of ${asked['publicKeySpki']}` },
    ...{ notBeforeMs: asked['notBeforeMs'], notAfterMs: asked['notAfterMs'] },
  }),
};

beforeEach(async () => {
  nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  store = createMemoryRelational();
  [told, opened, known, nodesAllowed, isTelling] = [[], [], new Set(), null, true];
  const now = () => nowMs;
  const registry: typeof store.sensors = {
    ...store.sensors,
    watchIdentities: (watch) =>
      store.sensors.watchIdentities({
        ...watch,
        onChange: (sensorId) => isTelling && watch.onChange(sensorId),
      }),
  };
  cache = await openIdentityCache({
    ...{ registry, overlapMs: HOUR_MS, monotonicNow: () => 0, logger: silentLogger },
    timers: { now, setTimeout: () => 0, clearTimeout: () => undefined },
    revokeAgain: () => Promise.reject(new Error('nothing was forgotten')),
  });
  const sensors = {
    open: (...words: unknown[]) => void opened.push(words),
    tell: (sensorId: string, event: unknown) => {
      told.push([sensorId, event]);
      return known.has(sensorId) ? ('told' as const) : ('absent' as const);
    },
  };
  const deps = {
    ...{ registry, certificates, cache, sensors, audit: store.audit, intervals, now },
    ...{ logger: silentLogger, platform: 'standard', policyPublicKeyPem: 'the policy key' },
    license: { nodesAllowed: () => nodesAllowed },
  } as never;
  tokens = createTokenService({ registry, ttlMs: HOUR_MS, now });
  enroll = createEnrollment(deps);
  renew = createRenewal(deps);
  authenticate = createAuthenticate(deps);
  revoke = createRevocation(deps);
});

const requestOf = (token: string, csr_pem = 'key 1', more: object = {}) => ({
  ...{ token, csr_pem, node_name: 'node-1', flavor: 'standard' as const, boot_id: 'boot' },
  ...{ sensor_version: '1.2.3' },
  system: { os_name: 'Debian', os_version: '12', architecture: 'x64', kernel_version: '6.1' },
  ...more,
});
const enrolling = (token: string, csr?: string, more?: object) =>
  enroll(requestOf(token, csr, more), { address: ADDRESS });
async function enrolled(csr = 'key 1') {
  const { secret } = await tokens.create({ note: '', actor: 'admin' });
  const done = await enrolling(secret, csr);
  if (!done.ok) throw new Error(done.code);
  const [identity] = cache.identitiesOf(done.response.sensor_id);
  if (identity === undefined) throw new Error('no identity');
  return { identity, sensorId: identity.sensorId, response: done.response };
}
const trail = (action: string) =>
  store.audit.search({ action, order: 'newest', after: null, limit: 100 });

describe('a token', () => {
  it('should be told once, kept as a hash, and live as long as its maker says', async () => {
    const made = await tokens.create({ note: 'for the rack', actor: 'admin' });
    expect(isTokenText(made.secret)).toBe(true);
    expect([isTokenText('x'), isTokenText('')]).toEqual([false, false]);
    const { token } = made;
    expect(token).toMatchObject({ kind: 'enroll', sensorId: null, note: 'for the rack' });
    expect([token.createdAtMs, token.expiresAtMs]).toEqual([nowMs, nowMs + HOUR_MS]);
    expect([token.consumedAtMs, token.revokedAtMs, token.consumedKeyDigest]).toEqual([
      ...[null, null, null],
    ]);
    expect(await store.sensors.findToken(hashOfSecret(made.secret))).toMatchObject(token);
    expect(hashOfSecret('x')).toEqual(createHash('sha256').update('x').digest());
    const brief = await tokens.create({ note: '', ttlMs: 5, actor: 'admin' });
    expect(brief.token.expiresAtMs).toBe(nowMs + 5);
    const listed = await tokens.list({ limit: 10, before: null });
    expect(listed.map(({ tokenId }) => tokenId)).toContain(token.tokenId);
    const gone = await tokens.revoke({ tokenId: token.tokenId, actor: 'admin' });
    expect(gone).toMatchObject({ tokenId: token.tokenId, revokedAtMs: nowMs });
    expect(await enrolling(made.secret)).toMatchObject({ code: 'token_invalid' });
  });

  it('should be for a sensor that is known and not revoked', async () => {
    const { sensorId } = await enrolled();
    const made = await tokens.createForSensor({ sensorId, actor: 'admin' });
    if (!made.ok) throw new Error(made.code);
    expect(made.token).toMatchObject({ kind: 'reenroll', sensorId, note: '' });
    expect(made.token.expiresAtMs).toBe(nowMs + HOUR_MS);
    const other = { sensorId: randomUUID(), actor: 'admin' };
    expect(await tokens.createForSensor(other)).toMatchObject({
      ...{ ok: false, code: 'not_found', detail: 'There is no such sensor.' },
    });
    await revoke({ sensorId, reason: 'stolen', actor: 'admin' });
    expect(await tokens.createForSensor({ sensorId, actor: 'admin' })).toMatchObject({
      ...{ ok: false, code: 'sensor_is_revoked' },
    });
  });
});

describe('an enrollment', () => {
  it('should give an identity of now, open its actor and be trusted', async () => {
    const { sensorId, identity, response } = await enrolled();
    expect(response).toMatchObject({
      ...{ sensor_id: sensorId, trust_state: 'trusted', stream_path: '/sensors/stream' },
      ...{ control_plane_ca_certificate_pem: 'the roots' },
      ...{ policy_signing_public_key_pem: 'the policy key' },
      certificate_expires_at: new Date(nowMs + TTL_MS).toISOString(),
      heartbeat_interval_seconds: intervals.HEARTBEAT_INTERVAL_MS / 1_000,
      certificate_reference: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(JSON.parse(response.control_plane_certificate_pem)).toMatchObject({
      ...{ publicKeySpki: 'key 1', nodeName: 'node-1', sensorId, notAfterMs: nowMs + TTL_MS },
      notBeforeMs: nowMs - intervals.CERTIFICATE_BACKDATE_MS,
    });
    expect(await authenticate(identity.fingerprint)).toEqual({ ok: true, identity });
    const event = { type: 'certificate.changed', atMs: nowMs, notAfterMs: nowMs + TTL_MS };
    expect(told).toEqual([[sensorId, event]]);
    expect(opened).toMatchObject([
      [
        {
          ...{ sensorId, nodeName: 'node-1', flavorMismatch: false, labels: {}, facts: null },
          ...{ declaredRole: null, enrolledAtMs: nowMs, currentNotAfterMs: nowMs + TTL_MS },
          ...{ revokedAtMs: null, revokedReason: null, lastHeartbeatAtMs: null },
        },
        'sensor.enrolled',
      ],
    ]);
  });

  it('should keep what the node says of itself, and open no second actor', async () => {
    const { sensorId } = await enrolled();
    known.add(sensorId);
    const made = await tokens.createForSensor({ sensorId, actor: 'admin' });
    const secret = made.ok ? made.secret : '';
    const more = { flavor: 'telco', declared_role: 'db', labels: { site: 'north' } };
    expect(await enrolling(secret, 'key 2', more)).toMatchObject({
      response: { sensor_id: sensorId },
    });
    expect(opened).toHaveLength(1);
    expect(await store.sensors.getSensor(sensorId)).toMatchObject({
      ...{ flavor: 'telco', declaredRole: 'db', labels: { site: 'north' }, flavorMismatch: true },
      system: { os_name: 'Debian', os_version: '12', architecture: 'x64', kernel_version: '6.1' },
    });
  });

  it('should repeat its answer to the same key and refuse another', async () => {
    const { secret } = await tokens.create({ note: '', actor: 'admin' });
    const first = await enrolling(secret);
    const again = await enrolling(secret);
    expect(again.ok && first.ok ? again.response : null).toEqual(first.ok ? first.response : 0);
    expect(await enrolling(secret, 'key 2')).toMatchObject({
      ...{ ok: false, code: 'token_consumed', detail: 'The token was used with another key.' },
    });
  });

  it('should be refused before anything is used up, and leave one entry each', async () => {
    const { secret } = await tokens.create({ note: '', actor: 'admin' });
    const unknown = secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A');
    expect(await enrolling('no token')).toMatchObject({ ok: false, code: 'token_invalid' });
    expect(await enrolling(unknown)).toMatchObject({ ok: false, code: 'token_invalid' });
    expect(await enrolling(secret, 'bad')).toMatchObject({
      ...{ ok: false, code: 'csr_refused', detail: 'a bad request' },
    });
    expect(await trail('sensor.enroll')).toMatchObject(
      ['csr_refused', 'token_invalid', 'token_invalid'].map((result) => ({
        ...{ result, actor: 'anonymous', target: 'node-1', from: ADDRESS },
      })),
    );
    nodesAllowed = 0;
    expect(await enrolling(secret)).toMatchObject({ ok: false, code: 'license_limit' });
    nodesAllowed = null;
    nowMs += HOUR_MS;
    expect(await enrolling(secret)).toMatchObject({ ok: false, code: 'token_expired' });
    nowMs -= 1;
    expect(await enrolling(secret)).toMatchObject({ ok: true });
  });

  it('should be put off while the database is away', async () => {
    const { secret } = await tokens.create({ note: '', actor: 'admin' });
    await store.setAway(true);
    expect(await enrolling(secret)).toMatchObject({
      ...{ ok: false, code: 'store_unavailable', retryAfterMs: expect.any(Number) },
    });
  });
});

describe('a renewal', () => {
  it('should wait for its first request, and be current from then on', async () => {
    const { identity, sensorId } = await enrolled();
    nowMs += HOUR_MS;
    const done = await renew({ identity, csrPem: 'key 2', from: ADDRESS });
    expect(done).toMatchObject({
      ok: true,
      response: {
        control_plane_ca_certificate_pem: 'the roots',
        certificate_expires_at: new Date(nowMs + TTL_MS).toISOString(),
        certificate_reference: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    });
    const statuses = () =>
      cache
        .identitiesOf(sensorId)
        .map(({ status }) => status)
        .toSorted();
    expect(statuses()).toEqual(['current', 'pending']);
    told.length = 0;
    const verdicts = await Promise.all([authenticate('of key 2'), authenticate('of key 2')]);
    expect(verdicts).toMatchObject(Array(2).fill({ ok: true, identity: { status: 'current' } }));
    const event = { type: 'certificate.changed', atMs: nowMs, notAfterMs: nowMs + TTL_MS };
    expect([told, statuses()]).toEqual([[[sensorId, event]], ['current', 'previous']]);
    expect(authenticate('of key 2')).toMatchObject({ ok: true });
    const [old] = cache.identitiesOf(sensorId).filter(({ status }) => status === 'previous');
    if (old === undefined) throw new Error('no previous one');
    expect(await renew({ identity: old, csrPem: 'key 3', from: ADDRESS })).toMatchObject({
      ...{ ok: false, code: 'renewal_not_allowed' },
      detail: 'Only the current certificate may renew.',
    });
    expect(await trail('sensor.renew')).toContainEqual(
      expect.objectContaining({
        ...{ result: 'renewal_not_allowed', actor: `sensor:${sensorId}`, target: sensorId },
        from: ADDRESS,
      }),
    );
  });

  it('should be known here before the database tells of it, as its first request is', async () => {
    isTelling = false;
    const { identity, sensorId } = await enrolled();
    const statuses = () => cache.identitiesOf(sensorId).map(({ status }) => status);
    expect(await renew({ identity, csrPem: 'key 2' })).toMatchObject({ ok: true });
    expect(statuses().toSorted()).toEqual(['current', 'pending']);
    expect(await authenticate('of key 2')).toMatchObject({ ok: true });
    expect(statuses().toSorted()).toEqual(['current', 'previous']);
  });

  it('should be refused for a bad request, a used key, and while the database is away', async () => {
    const { identity } = await enrolled();
    await enrolled('key of another');
    const refused = async (csrPem: string) => {
      const done = await renew({ identity, csrPem });
      return done.ok ? 'done' : [done.code, done.detail];
    };
    expect(await refused('bad')).toEqual(['csr_refused', 'a bad request']);
    expect((await refused('key of another'))[0]).toBe('key_in_use');
    expect((await refused('key 1'))[0]).toBe('csr_refused');
    expect(await refused('key 2')).toBe('done');
    await store.setAway(true);
    expect((await refused('key 3'))[0]).toBe('store_unavailable');
    expect(await authenticate('of key 2')).toMatchObject({ ok: false, code: 'store_unavailable' });
    await store.setAway(false);
    expect(await authenticate('of key 2')).toMatchObject({ ok: true });
  });
});

describe('a use of the database', () => {
  it('should be put off while a store is away, and fail for anything else', async () => {
    const failing = (error: Error) => orUnavailable(() => Promise.reject(error));
    for (const away of [new StoreUnavailable('away'), new EventStoreUnavailable('away')]) {
      expect(await failing(away)).toMatchObject({ ok: false, code: 'store_unavailable' });
    }
    await expect(failing(new Error('broken'))).rejects.toThrow('broken');
  });
});

describe('a revocation', () => {
  it('should hold at once, be told to the actor, and be null for nobody', async () => {
    const { identity, sensorId } = await enrolled();
    told.length = 0;
    const row = await revoke({ sensorId, reason: 'stolen', actor: 'admin' });
    expect(row).toMatchObject({ sensorId, revokedAtMs: nowMs, revokedReason: 'stolen' });
    expect(told).toEqual([[sensorId, { type: 'sensor.revoked', atMs: nowMs, reason: 'stolen' }]]);
    expect(await authenticate(identity.fingerprint)).toMatchObject({ code: 'sensor_revoked' });
    expect(await renew({ identity, csrPem: 'key 2' })).toMatchObject({ code: 'sensor_revoked' });
    const nobody = { sensorId: randomUUID(), reason: '', actor: 'admin' };
    expect(await revoke(nobody)).toBeNull();
    expect(told).toHaveLength(1);
  });
});
