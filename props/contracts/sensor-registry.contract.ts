// The promises of the sensor registry. invariant: I2, I3, I4; decision: D12
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { IDENTITY_WATCH_KEEPALIVE_MS, IDENTITY_WATCH_TIMEOUT_MS } from '../../machines/limits.ts';
import type { EnrollInput } from '../../storage/ports/fleet/sensor-registry.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import type { RelationalStores } from '../../storage/ports/stores.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { certificate, enrollment, hashOf, hex, NOW_MS } from './samples.ts';

const LIFE_MS = 900_000;

export function sensorRegistryContract(harness: Harness<Pick<RelationalStores, 'sensors'>>): void {
  const registryOf = () => harness.port().sensors;
  async function token(kind: 'enroll' | 'reenroll' = 'enroll', sensorId: string | null = null) {
    const hash = hashOf(hex(16));
    const tokenId = randomUUID();
    const made = await registryOf().createToken({
      tokenId,
      hash,
      kind,
      sensorId,
      note: 'test',
      nowMs: NOW_MS,
      expiresAtMs: NOW_MS + LIFE_MS,
      actor: 'test',
    });
    return { hash, tokenId, made };
  }
  async function enrolled(): Promise<EnrollInput> {
    const input = enrollment({ tokenHash: (await token()).hash });
    expect(await registryOf().enroll(input)).toMatchObject({ ok: true, repeated: false });
    return input;
  }

  describe('enrolling', () => {
    it('should make one identity when 50 keys race for one token', async () => {
      const { hash } = await token();
      const before = (await registryOf().loadIdentities()).length;
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, () => registryOf().enroll(enrollment({ tokenHash: hash }))),
      );
      expect(outcomes.filter((one) => one.ok)).toHaveLength(1);
      const codes = outcomes.flatMap((one) => (one.ok ? [] : [one.code]));
      expect(new Set(codes)).toEqual(new Set(['token_consumed']));
      expect((await registryOf().loadIdentities()).length).toBe(before + 1);
    });

    it('should give the same certificate when the same key repeats inside the lifetime', async () => {
      const input = await enrolled();
      const again = {
        ...input,
        certificate: certificate({ keyDigest: input.certificate.keyDigest }),
      };
      const repeat = await registryOf().enroll(again);
      expect(repeat).toMatchObject({
        ok: true,
        repeated: true,
        sensorId: input.sensor.sensorId,
        certificate: input.certificate,
      });
      const late = await registryOf().enroll({ ...again, nowMs: NOW_MS + LIFE_MS });
      expect(late).toEqual({ ok: false, code: 'token_expired' });
    });

    it('should call a token expired that is used and expired, whoever presents it', async () => {
      const input = await enrolled();
      const late = { ...input, nowMs: NOW_MS + LIFE_MS };
      const other = { ...late, certificate: certificate({ keyDigest: 'another key' }) };
      expect(await registryOf().enroll(late)).toEqual({ ok: false, code: 'token_expired' });
      expect(await registryOf().enroll(other)).toEqual({ ok: false, code: 'token_expired' });
      const early = { ...other, nowMs: NOW_MS + LIFE_MS - 1 };
      expect(await registryOf().enroll(early)).toEqual({ ok: false, code: 'token_consumed' });
    });

    it('should refuse unknown, expired and revoked tokens and burn none of them', async () => {
      const registry = registryOf();
      expect(await registry.enroll(enrollment())).toEqual({ ok: false, code: 'token_invalid' });
      const { hash, tokenId } = await token();
      const input = enrollment({ tokenHash: hash });
      const limited = await registry.enroll({ ...input, nodesAllowed: 0 });
      expect(limited).toEqual({ ok: false, code: 'license_limit' });
      const late = await registry.enroll({ ...input, nowMs: NOW_MS + LIFE_MS });
      expect(late).toEqual({ ok: false, code: 'token_expired' });
      expect((await registry.findToken(hash))?.consumedAtMs).toBeNull();
      await registry.revokeToken({ tokenId, nowMs: NOW_MS, actor: 'test' });
      expect(await registry.enroll(input)).toEqual({ ok: false, code: 'token_invalid' });
      expect(await registry.getSensor(input.sensor.sensorId)).toBeNull();
    });

    it('should end every older certificate at a re-enrollment of the same node only', async () => {
      const first = await enrolled();
      const { hash } = await token('reenroll', first.sensor.sensorId);
      const other = enrollment({ tokenHash: hash });
      expect(await registryOf().enroll(other)).toEqual({ ok: false, code: 'token_invalid' });
      const again = await registryOf().enroll({
        ...first,
        tokenHash: hash,
        certificate: certificate(),
      });
      expect(again).toMatchObject({ ok: true, sensorId: first.sensor.sensorId });
      const identities = await registryOf().identitiesOf(first.sensor.sensorId);
      expect(identities.map((one) => one.status).sort()).toEqual(['current', 'ended']);
    });
  });

  describe('a key of one identity', () => {
    it('should make no second sensor, and burn no token when it is tried', async () => {
      const first = await enrolled();
      const { keyDigest } = first.certificate;
      const { hash } = await token();
      const second = enrollment({ tokenHash: hash, certificate: certificate({ keyDigest }) });
      expect(await registryOf().enroll(second)).toEqual({ ok: false, code: 'key_in_use' });
      expect(await registryOf().getSensor(second.sensor.sensorId)).toBeNull();
      expect((await registryOf().findToken(hash))?.consumedAtMs).toBeNull();
      const fresh = { ...second, certificate: certificate() };
      expect(await registryOf().enroll(fresh)).toMatchObject({ ok: true, repeated: false });
    });

    it('should make one sensor when 20 tokens race with it', async () => {
      const { keyDigest } = certificate();
      const tokens = await Promise.all(Array.from({ length: 20 }, () => token()));
      const outcomes = await Promise.all(
        tokens.map(({ hash }) =>
          registryOf().enroll(
            enrollment({ tokenHash: hash, certificate: certificate({ keyDigest }) }),
          ),
        ),
      );
      expect(outcomes.filter((one) => one.ok)).toHaveLength(1);
      const codes = outcomes.flatMap((one) => (one.ok ? [] : [one.code]));
      expect(new Set(codes)).toEqual(new Set(['key_in_use']));
    });

    it('should renew and re-enroll no other sensor, however its own certificate ended', async () => {
      const [one, other] = [await enrolled(), await enrolled()];
      const foreign = certificate({ keyDigest: other.certificate.keyDigest });
      const by = { byFingerprint: one.certificate.fingerprint, nowMs: NOW_MS };
      const renewed = await registryOf().addPendingCertificate({ ...by, certificate: foreign });
      expect(renewed).toEqual({ ok: false, code: 'key_in_use' });
      const { sensorId } = other.sensor;
      await registryOf().revoke({ sensorId, nowMs: NOW_MS, reason: 'lost', actor: 'test' });
      const { hash } = await token('reenroll', one.sensor.sensorId);
      const again = { ...one, tokenHash: hash, certificate: foreign };
      expect(await registryOf().enroll(again)).toEqual({ ok: false, code: 'key_in_use' });
      const identities = await registryOf().identitiesOf(one.sensor.sensorId);
      expect(identities.map((each) => each.status)).toEqual(['current']);
    });
  });

  describe('renewing', () => {
    it('should keep the old certificate current until the new one is used', async () => {
      const { certificate: first, sensor } = await enrolled();
      const second = certificate();
      const by = { byFingerprint: first.fingerprint, nowMs: NOW_MS };
      const added = await registryOf().addPendingCertificate({ ...by, certificate: second });
      expect(added).toMatchObject({ ok: true, repeated: false });
      const repeat = await registryOf().addPendingCertificate({
        ...by,
        certificate: certificate({ keyDigest: second.keyDigest }),
      });
      expect(repeat).toMatchObject({ ok: true, repeated: true, certificate: second });
      const reused = certificate({ keyDigest: first.keyDigest });
      expect(await registryOf().addPendingCertificate({ ...by, certificate: reused })).toEqual({
        ok: false,
        code: 'csr_refused',
      });
      const after = await registryOf().activateCertificate({
        fingerprint: second.fingerprint,
        nowMs: NOW_MS + 5,
      });
      const statuses = new Map(after.map((one) => [one.fingerprint, one]));
      expect(statuses.get(second.fingerprint)?.status).toBe('current');
      expect(statuses.get(first.fingerprint)).toMatchObject({
        status: 'previous',
        supersededAtMs: NOW_MS + 5,
        sensorId: sensor.sensorId,
      });
      const old = await registryOf().addPendingCertificate({ ...by, certificate: certificate() });
      expect(old).toEqual({ ok: false, code: 'renewal_not_allowed' });
      const nobody = { byFingerprint: hex(32), nowMs: NOW_MS, certificate: certificate() };
      expect(await registryOf().addPendingCertificate(nobody)).toEqual({
        ok: false,
        code: 'certificate_unknown',
      });
    });
  });

  describe('revoking', () => {
    it('should be final, idempotent and seen by whoever watches', async () => {
      const registry = registryOf();
      const input = await enrolled();
      const { sensorId } = input.sensor;
      const { hash } = await token('reenroll', sensorId);
      let seen: (id: string) => void = () => undefined;
      const changed = new Promise<string>((resolve) => {
        seen = (id) => id === sensorId && resolve(id);
      });
      const { stop } = await registry.watchIdentities({
        onChange: (id) => seen(id),
        onLost: () => undefined,
        onRestored: () => undefined,
      });
      const revoke = { sensorId, reason: 'lost', actor: 'test' };
      const row = await registry.revoke({ ...revoke, nowMs: NOW_MS });
      expect(row).toMatchObject({ revokedAtMs: NOW_MS, revokedReason: 'lost' });
      expect(await changed).toBe(sensorId);
      await stop();
      const again = await registry.revoke({ ...revoke, nowMs: NOW_MS + 9, reason: 'x' });
      expect(again).toEqual(row);
      expect(await registry.revoke({ ...revoke, sensorId: 'none', nowMs: NOW_MS })).toBeNull();
      const back = { ...input, tokenHash: hash, certificate: certificate() };
      expect(await registry.enroll(back)).toEqual({ ok: false, code: 'sensor_is_revoked' });
      const renewal = { byFingerprint: input.certificate.fingerprint, nowMs: NOW_MS };
      expect(
        await registry.addPendingCertificate({ ...renewal, certificate: certificate() }),
      ).toEqual({ ok: false, code: 'sensor_revoked' });
      expect((await token('reenroll', sensorId)).made).toEqual({
        ok: false,
        code: 'sensor_is_revoked',
      });
    });
  });

  describe('a database that is away', () => {
    it('should be said by every call, do nothing, and end by itself', async () => {
      const input = await enrolled();
      const { sensorId } = input.sensor;
      const { fingerprint } = input.certificate;
      const renewal = { byFingerprint: fingerprint, nowMs: NOW_MS, certificate: certificate() };
      const registry = registryOf();
      const unused = (await token()).hash;
      await expectAwayAndBack(harness, [
        () => registry.getSensor(sensorId),
        () => registry.loadSensors(),
        () => registry.listSensors({ limit: 1, after: null }),
        () => registry.listBriefly({ limit: 1, after: null }),
        () => registry.sensorsOf([sensorId]),
        () => registry.loadIdentities(),
        () => registry.identitiesOf(sensorId),
        () => registry.findToken(unused),
        () => registry.listTokens({ limit: 1, before: null }),
        () => registry.revokeToken({ tokenId: 'none', nowMs: NOW_MS, actor: 'test' }),
        () => registry.addPendingCertificate(renewal),
        () => registry.activateCertificate({ fingerprint, nowMs: NOW_MS }),
        () => registry.revoke({ sensorId: 'none', nowMs: NOW_MS, reason: 'x', actor: 'test' }),
      ]);
      await harness.setAway(true);
      const next = enrollment({ tokenHash: unused });
      await expect(registry.enroll(next)).rejects.toThrow(StoreUnavailable);
      await harness.setAway(false);
      expect((await registry.findToken(unused))?.consumedAtMs).toBeNull();
      expect(await registry.enroll(next)).toMatchObject({ ok: true, repeated: false });
    });

    it('should be told to who watches, and when notifications flow again', async () => {
      const { sensorId } = (await enrolled()).sensor;
      const [lost, restored, changed] = [
        Promise.withResolvers<void>(),
        Promise.withResolvers<void>(),
        Promise.withResolvers<void>(),
      ];
      const { stop, provenAgoMs } = await registryOf().watchIdentities({
        onChange: (id) => id === sensorId && changed.resolve(),
        onLost: () => lost.resolve(),
        onRestored: () => restored.resolve(),
      });
      await harness.setAway(true);
      await lost.promise;
      await harness.setAway(false);
      await restored.promise;
      expect(provenAgoMs()).toBeGreaterThanOrEqual(0);
      expect(provenAgoMs()).toBeLessThan(IDENTITY_WATCH_KEEPALIVE_MS + IDENTITY_WATCH_TIMEOUT_MS);
      await registryOf().revoke({ sensorId, nowMs: NOW_MS, reason: 'x', actor: 'test' });
      await changed.promise;
      await stop();
    });
  });

  it('should give hostile text back as it came and page sensors in order', async () => {
    const inputs = [await enrolled(), await enrolled(), await enrolled()];
    const row = await registryOf().getSensor(inputs[0]?.sensor.sensorId ?? '');
    expect(row?.labels).toEqual(inputs[0]?.sensor.labels);
    const all = await registryOf().listSensors({ limit: 500, after: null });
    const [first, second] = all;
    if (first === undefined) throw new Error('there are sensors');
    const next = await registryOf().listSensors({ limit: 1, after: first });
    expect(next).toEqual([second]);
    const brief = await registryOf().listBriefly({ limit: 500, after: null });
    expect(brief).toEqual(
      all.map(({ facts, ...row }) => ({
        ...{ sensorId: row.sensorId, nodeName: row.nodeName, flavor: row.flavor },
        ...{ system: row.system, sensorVersion: row.sensorVersion },
        ...{ enrolledAtMs: row.enrolledAtMs, revokedAtMs: row.revokedAtMs },
        ...{ lastHeartbeatAtMs: row.lastHeartbeatAtMs, currentNotAfterMs: row.currentNotAfterMs },
        engineKind: (facts?.engine as { kind?: string } | undefined)?.kind ?? null,
      })),
    );
    const ids = [second?.sensorId ?? '', first.sensorId];
    expect(await registryOf().sensorsOf([...ids, randomUUID()])).toEqual([first, second]);
    expect(await registryOf().sensorsOf([])).toEqual([]);
  });
}
