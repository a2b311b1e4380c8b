// The promises of the store of the license: one row, a time that only grows, an import and its audit row together.
// invariant: I16
import { describe, expect, it } from 'vitest';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { LicenseStore } from '../../storage/ports/license/license-store.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

type Ports = { readonly license: LicenseStore; readonly audit: AuditLog };

export function licenseStoreContract(harness: Harness<Ports>): void {
  const { port } = harness;
  const look = (more: Partial<Parameters<LicenseStore['observe']>[0]> = {}) =>
    port().license.observe({ nowMs: 0, seenMs: 0, revision: -1, ...more });
  const importing = (revision: number, seenMs: number) => ({
    revision,
    seenMs,
    licenseId: hex(8),
    envelope: JSON.stringify({ text: HOSTILE, id: hex(8) }),
    nowMs: NOW_MS,
    actor: 'op\0',
    from: '192.0.2.1',
    before: null,
    after: { text: HOSTILE },
  });

  describe('license store', () => {
    it('should hold no license and no later time than it was told, at first', async () => {
      expect(await look()).toEqual({ revision: 0, license: null, seenMs: 0 });
      expect(await look({ nowMs: 5 })).toMatchObject({ seenMs: 5 });
    });

    it('should never let the largest time seen go back', async () => {
      const { revision } = await look();
      expect((await look({ nowMs: NOW_MS })).seenMs).toBe(NOW_MS);
      expect((await look({ nowMs: NOW_MS - 1 })).seenMs).toBe(NOW_MS);
      expect((await look({ revision, seenMs: NOW_MS + 7 })).seenMs).toBe(NOW_MS + 7);
      expect((await look({ revision, seenMs: NOW_MS })).seenMs).toBe(NOW_MS + 7);
    });

    it('should give the license back as it was put, and its audit row with it', async () => {
      const { revision } = await look();
      const input = importing(revision, NOW_MS + 1);
      const license = { envelope: input.envelope, importedAtMs: NOW_MS, importedBy: 'op\uFFFD' };
      const row = { revision: revision + 1, license, seenMs: NOW_MS + 1 };
      expect(await port().license.put(input)).toEqual(row);
      expect(await look()).toEqual(row);
      expect((await port().audit.recent(1))[0]).toMatchObject({
        atMs: NOW_MS,
        actor: 'op\uFFFD',
        action: 'license.import',
        target: input.licenseId,
        result: 'ok',
        from: '192.0.2.1',
        before: null,
        after: input.after,
        detail: {},
      });
    });

    it('should begin the time anew with an import, whatever another Console still believes', async () => {
      const { revision } = await look({ nowMs: NOW_MS + 1_000_000 });
      const row = await port().license.put(importing(revision, NOW_MS));
      expect(row?.seenMs).toBe(NOW_MS);
      const late = { revision, seenMs: NOW_MS + 1_000_000, nowMs: NOW_MS };
      expect((await look(late)).seenMs).toBe(NOW_MS);
    });

    it('should take one of two imports that know the same row', async () => {
      const { revision } = await look();
      const [first, second] = [importing(revision, NOW_MS), importing(revision, NOW_MS)];
      const answers = await Promise.all([port().license.put(first), port().license.put(second)]);
      expect(answers.filter((answer) => answer === null).length).toBe(1);
      const recent = await port().audit.recent(1_000);
      const told = [first, second].filter(({ licenseId }) =>
        recent.some((entry) => entry.target === licenseId),
      );
      expect(told.length).toBe(1);
      expect((await look()).revision).toBe(revision + 1);
    });

    it('should say when the database is away, and answer again by itself', async () => {
      await expectAwayAndBack(harness, [
        () => look(),
        () => port().license.put(importing(-1, NOW_MS)),
      ]);
    });
  });
}
