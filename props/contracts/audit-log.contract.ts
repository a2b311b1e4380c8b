// The promises of the audit log, and of the registry that writes into it: accepted and refused actions both leave a row.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ApiKeys } from '../../storage/ports/access/api-keys.ts';
import type {
  AuditEntry,
  AuditFilter,
  AuditLog,
  AuditRow,
} from '../../storage/ports/audit/audit-log.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { certificate, enrollment, HOSTILE, hashOf, hex, NOW_MS } from './samples.ts';

const RECENT = 1_000;
type Ports = {
  readonly audit: AuditLog;
  readonly apiKeys: ApiKeys;
  readonly sensors: SensorRegistry;
};

export function auditLogContract(harness: Harness<Ports>): void {
  const { port } = harness;
  const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
    atMs: NOW_MS,
    actor: 'test',
    action: 'loop.run',
    target: hex(8),
    result: 'ok',
    detail: { text: HOSTILE },
    ...more,
  });
  /** Action and result of the rows about some targets, oldest first. */
  async function told(...targets: readonly string[]) {
    const rows = (await port().audit.recent(RECENT)).filter((one) => targets.includes(one.target));
    return rows.toReversed().map(({ actor, action, result }) => [actor, action, result]);
  }

  describe('audit log', () => {
    it('should give entries back newest first, those of one call too', async () => {
      const entries = [entry(), entry({ atMs: 1 }), entry({ actor: 'a\0' })];
      await port().audit.append(entries);
      const wanted = [...entries.slice(0, 2), { ...entries[2], actor: 'a\uFFFD' }].reverse();
      expect(await port().audit.recent(3)).toMatchObject(wanted);
      expect(await port().audit.recent(1)).toMatchObject(wanted.slice(0, 1));
      await port().audit.append([]);
      expect(await port().audit.recent(1)).toMatchObject(wanted.slice(0, 1));
    });

    it('should not be changed by whoever holds an entry', async () => {
      const detail: Record<string, unknown> = { a: 1 };
      await port().audit.append([entry({ detail })]);
      detail['a'] = 2;
      expect((await port().audit.recent(1))[0]?.detail).toEqual({ a: 1 });
    });

    it('should hold the whole life of a sensor, the refused steps included', async () => {
      const { sensors } = port();
      const [tokenId, input, second] = [randomUUID(), enrollment(), certificate()];
      const { sensorId, nodeName } = input.sensor;
      const first = input.certificate.fingerprint;
      const sensor = `sensor:${sensorId}`;
      await sensors.enroll(input);
      await sensors.createToken({
        tokenId,
        hash: input.tokenHash,
        kind: 'enroll',
        sensorId: null,
        note: '',
        nowMs: NOW_MS,
        expiresAtMs: NOW_MS + 1_000,
        actor: 'op',
      });
      await sensors.enroll(input);
      await sensors.enroll(input);
      await sensors.enroll({ ...input, certificate: certificate() });
      const renewal = { byFingerprint: first, nowMs: NOW_MS };
      await sensors.addPendingCertificate({ ...renewal, certificate: second });
      await sensors.addPendingCertificate({ ...renewal, certificate: second });
      await sensors.addPendingCertificate({ ...renewal, certificate: input.certificate });
      await sensors.activateCertificate({ fingerprint: second.fingerprint, nowMs: NOW_MS });
      await sensors.activateCertificate({ fingerprint: second.fingerprint, nowMs: NOW_MS });
      await sensors.revoke({ sensorId, nowMs: NOW_MS, reason: 'lost', actor: 'op' });
      await sensors.revoke({ sensorId, nowMs: NOW_MS, reason: 'again', actor: 'op' });
      await sensors.addPendingCertificate({ ...renewal, certificate: certificate() });
      await sensors.revokeToken({ tokenId, nowMs: NOW_MS, actor: 'op' });
      expect(await told(nodeName, tokenId, first, second.fingerprint, sensorId)).toEqual([
        ['anonymous', 'sensor.enroll', 'token_invalid'],
        ['op', 'token.create', 'ok'],
        [`token:${tokenId}`, 'sensor.enroll', 'ok'],
        [`token:${tokenId}`, 'sensor.enroll', 'repeated'],
        ['anonymous', 'sensor.enroll', 'token_consumed'],
        [sensor, 'certificate.renew', 'ok'],
        [sensor, 'certificate.renew', 'repeated'],
        ['anonymous', 'certificate.renew', 'csr_refused'],
        [sensor, 'certificate.activate', 'ok'],
        ['op', 'sensor.revoke', 'ok'],
        ['op', 'sensor.revoke', 'unchanged'],
        ['anonymous', 'certificate.renew', 'sensor_revoked'],
        ['op', 'token.revoke', 'unchanged'],
      ]);
    });

    it('should never hold a secret or its hash', async () => {
      const secret = `svce_${hex(16)}`;
      await port().sensors.enroll(enrollment({ tokenHash: hashOf(secret) }));
      const text = JSON.stringify(await port().audit.recent(RECENT));
      expect(text).not.toContain(secret);
      expect(text).not.toContain(hashOf(secret).toString('hex'));
    });

    it('should keep from where, before and after, and mask what is secret', async () => {
      const secret = `svck_${hex(24)}`;
      const [from, before, after] = ['2001:db8::1', { name: 'a' }, { password: 'b', n: 1 }];
      const one = entry({ from, before, after, target: secret.repeat(40), detail: { secret } });
      await port().audit.append([one, entry()]);
      const [plain, full] = await port().audit.recent(2);
      expect(plain).toMatchObject({ from: null, before: null, after: null });
      const masked = { from, before, after: { password: '***', n: 1 }, detail: { secret: '***' } };
      expect(full).toMatchObject(masked);
      expect(full?.target).not.toContain(secret);
    });

    it('should tell what registry actions changed, and who asked from where', async () => {
      const [tokenId, from, expiresAtMs] = [randomUUID(), '192.0.2.7', NOW_MS + 1_000];
      const asked = { actor: 'op', from, nowMs: NOW_MS };
      await port().sensors.createToken({
        ...{ tokenId, hash: hashOf(hex(8)), kind: 'enroll', sensorId: null, note: 'n' },
        ...{ ...asked, expiresAtMs },
      });
      await port().sensors.revokeToken({ tokenId, ...asked });
      const [revoked, created] = await port().audit.recent(2);
      const after = { kind: 'enroll', note: 'n', sensor_id: null, expires_at_ms: expiresAtMs };
      expect(created).toMatchObject({ actor: 'op', from, before: null, after });
      expect(revoked).toMatchObject({
        ...{ from, before: { status: 'usable' }, after: { status: 'revoked' } },
      });
    });

    it('should tell the life of an API key', async () => {
      const [keyId, hash] = [randomUUID(), hashOf(hex(8))];
      const { apiKeys } = port();
      const key = { keyId, hash, name: 'k', scopes: ['audit:read'], expiresAtMs: null };
      await apiKeys.create({ ...key, nowMs: NOW_MS, actor: 'op', from: '::1' });
      const known = [];
      for (const id of [keyId, keyId, 'no such key']) {
        known.push(await apiKeys.revoke({ keyId: id, nowMs: NOW_MS, actor: 'op' }));
      }
      expect(known.map((row) => row?.keyId)).toEqual([keyId, keyId, undefined]);
      expect(await told(keyId, 'no such key')).toEqual([
        ['op', 'api_key.create', 'ok'],
        ['op', 'api_key.revoke', 'ok'],
        ['op', 'api_key.revoke', 'unchanged'],
        ['op', 'api_key.revoke', 'not_found'],
      ]);
      const text = JSON.stringify(await port().audit.recent(4));
      expect(text).not.toContain(hash.toString('hex'));
    });

    it('should be searched by every field, exactly, in pages that meet without a gap', async () => {
      const [actor, target] = [`a-${hex(8)}`, HOSTILE];
      const times = [1, 2, 3, 4, 5, 6];
      await port().audit.append(
        times.map((atMs) => entry({ actor, target, atMs, result: atMs % 2 === 0 ? 'ok' : 'no' })),
      );
      const find = async (more: AuditFilter) => {
        const asked = { order: 'newest', after: null, limit: 9, actor, ...more } as const;
        return (await port().audit.search(asked)).map(({ atMs }) => atMs);
      };
      expect(await find({})).toEqual(times.toReversed());
      expect(await find({ result: 'no' })).toEqual([5, 3, 1]);
      expect(await find({ target, action: 'loop.run', fromMs: 2, toMs: 5 })).toEqual([4, 3, 2]);
      expect(await find({ target: 'DROP' })).toEqual([]);
      for (const order of ['newest', 'chain'] as const) {
        const found: number[] = [];
        let after: AuditRow | null = null;
        for (let pages = 0; pages < 9; pages += 1) {
          const page: readonly AuditRow[] = await port().audit.search({
            ...{ order, after, limit: 4, actor },
          });
          found.push(...page.map(({ atMs }) => atMs));
          after = page.at(-1) ?? after;
          if (page.length < 4) break;
        }
        expect(found).toEqual(order === 'newest' ? times.toReversed() : times);
      }
    });

    it('should hold nothing of what was asked while the database was away', async () => {
      const input = enrollment();
      const one = entry();
      await expectAwayAndBack(harness, [() => port().audit.recent(1)]);
      await harness.setAway(true);
      await expect(port().sensors.enroll(input)).rejects.toThrow();
      await expect(port().audit.append([one])).rejects.toThrow();
      await harness.setAway(false);
      expect(await told(input.sensor.nodeName, one.target)).toEqual([]);
    });
  });
}
