// The promises of the audit log, and of the registry that writes into it: accepted and refused actions both leave a row.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AuditEntry, AuditLog } from '../../storage/ports/relational.ts';
import type { SensorRegistry } from '../../storage/ports/sensor-registry.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { certificate, enrollment, HOSTILE, hashOf, hex, NOW_MS } from './samples.ts';

const RECENT = 1_000;
type Ports = { readonly audit: AuditLog; readonly sensors: SensorRegistry };

export function auditLogContract(harness: Harness<Ports>): void {
  const { port } = harness;
  const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
    atMs: NOW_MS,
    actor: 'test',
    action: 'x',
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
      expect(await port().audit.recent(3)).toEqual(wanted);
      expect(await port().audit.recent(1)).toEqual(wanted.slice(0, 1));
      await port().audit.append([]);
      expect(await port().audit.recent(1)).toEqual(wanted.slice(0, 1));
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
