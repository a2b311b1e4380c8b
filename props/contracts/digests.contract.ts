// The promises of digests: a day is claimed once and the claim is written before anything leaves, days that were missed are
// written down, what nobody settled is ended and never sent again, and every change has its audit row. decision: D60, D166
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { digestRunAfter } from '../../machines/console/digest/standing.ts';
import { DIGESTS_MAX } from '../../machines/limits.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { DigestRow, DigestRun, DigestStore } from '../../storage/ports/digest/digest-store.ts';
import { type Designation, Overtaken } from '../../storage/ports/runtime/designation.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, NOW_MS } from './samples.ts';

type Ports = {
  readonly digests: DigestStore;
  readonly designation: Designation;
  readonly audit: AuditLog;
};
const doing = { actor: 'user:ada', from: '192.0.2.1', nowMs: NOW_MS };
const LEASE_MS = 60_000;
const DAY = '2026-11-26';

export function digestsContract(harness: Harness<Ports>): void {
  const { port } = harness;
  let epoch = 0;

  async function stand(): Promise<number> {
    const tenure = await port().designation.stand({
      ...{ holder: 'contract', nowMs: NOW_MS, onLost: () => undefined },
    });
    if (tenure === null) throw new Error('somebody else is designated');
    await tenure.release();
    return tenure.epoch;
  }
  const fresh = (more: Partial<DigestRow> = {}) => ({
    ...{ digestId: randomUUID(), name: `${HOSTILE}${randomUUID()}`, groupId: null },
    ...{ timeZone: 'Europe/Berlin', at: '08:00', isOn: true, caPem: null, proxyUrl: null },
    way: { kind: 'webhook', targetUrl: 'https://hooks.example.org/secret/path' } as const,
    ...{ secretSealed: 'sealed', sinceMs: 2 ** 41 },
    ...more,
  });
  const add = (more: Partial<DigestRow> = {}) =>
    port().digests.create({ ...doing, digest: fresh(more) });
  async function made(more: Partial<DigestRow> = {}): Promise<DigestRow> {
    const row = await add(more);
    if (typeof row === 'string') throw new Error(row);
    return row;
  }
  const begin = (digestId: string, day = DAY, missed: readonly string[] = [], nowMs = NOW_MS) =>
    port().digests.begin({
      ...{ epoch, nowMs, leaseUntilMs: nowMs + LEASE_MS, digestId, day, missed },
      ...{ fromMs: 1, toMs: 2 },
    });
  async function begun(digestId: string, day = DAY): Promise<DigestRun> {
    const run = await begin(digestId, day);
    if (run === null) throw new Error('nothing began');
    return run;
  }
  const waiting = (run: DigestRun): DigestRun => ({
    ...run,
    ...digestRunAfter(run, {
      ...{ type: 'attempt.failed', atMs: NOW_MS, reason: 'away', isFinal: false, chance: 0 },
    }),
  });
  const runsOf = (digestId: string) => port().digests.runs({ digestId, limit: 50 });

  /** Begins each test under a tenure of its own, without any digest. */
  async function empty(): Promise<void> {
    epoch = await stand();
    for (const { digestId } of await port().digests.list()) {
      await port().digests.remove({ ...doing, digestId });
    }
  }

  describe('digests', () => {
    beforeEach(empty);

    it('should keep one, change it by its revision, and tell the audit log no secret', async () => {
      const row = await made();
      const { digestId } = row;
      expect(await port().digests.get(digestId)).toEqual(row);
      const { digestId: ignored, ...patch } = fresh({ name: 'b', isOn: false });
      const change = { ...doing, digestId, revision: 1, patch };
      const changed = await port().digests.change(change);
      expect(changed).toMatchObject({ ...patch, revision: 2, createdAtMs: NOW_MS });
      expect(await port().digests.get(digestId)).toEqual(changed);
      expect(await port().digests.change(change)).toBe('conflict');
      const [entry] = await port().audit.recent(1);
      expect(entry).toMatchObject({ action: 'digest.change', detail: { is_secret_new: false } });
      expect(JSON.stringify(entry)).not.toContain('sealed');
      expect(JSON.stringify(entry)).not.toContain('/secret/path');
      expect(await port().digests.remove({ ...doing, digestId })).toBe(true);
      expect(await port().digests.remove({ ...doing, digestId })).toBe(false);
      expect(await port().digests.change(change)).toBe('not_found');
    });

    it('should give a name once, and have an end to how many there are', async () => {
      await made({ name: 'one' });
      expect(await add({ name: 'one' })).toBe('conflict');
      const { digestId, ...patch } = await made({ name: 'two' });
      const change = { ...doing, digestId, revision: 1, patch: { ...patch, name: 'one' } };
      expect(await port().digests.change(change)).toBe('conflict');
      for (let count = 2; count < DIGESTS_MAX; count += 1) await made();
      expect(await add()).toBe('full');
      expect(await port().digests.list()).toHaveLength(DIGESTS_MAX);
    });

    it('should put the same secret in place under another key', async () => {
      const { digestId } = await made();
      const { reseal } = port().digests;
      expect(await reseal({ digestId, was: 'other', sealed: 'x' })).toBe(false);
      expect(await reseal({ digestId, was: 'sealed', sealed: 'again' })).toBe(true);
      expect((await port().digests.get(digestId))?.secretSealed).toBe('again');
    });
  });

  describe('days of digests', () => {
    beforeEach(empty);

    it('should begin a day once, and never one before it', async () => {
      const { digestId } = await made();
      const run = await begun(digestId);
      expect(run).toMatchObject({ digestId, day: DAY, state: 'sending', attempts: 1, toMs: 2 });
      expect(await runsOf(digestId)).toEqual([run]);
      expect(await begin(digestId)).toBeNull();
      expect(await begin(digestId, '2026-11-25')).toBeNull();
      expect(await begin(randomUUID())).toBeNull();
      expect(await begin(digestId, '2026-11-27')).not.toBeNull();
    });

    it('should write down the days that were missed, behind the last one alone', async () => {
      const { digestId } = await made();
      await begun(digestId, '2026-11-20');
      await begin(digestId, '2026-11-23', ['2026-11-20', '2026-11-21', '2026-11-22']);
      const runs = await runsOf(digestId);
      expect(runs.map(({ day, state }) => [day, state])).toEqual([
        ['2026-11-23', 'sending'],
        ['2026-11-22', 'missed'],
        ['2026-11-21', 'missed'],
        ['2026-11-20', 'sending'],
      ]);
      expect(await port().digests.runs({ digestId, limit: 1 })).toHaveLength(1);
    });

    it('should hand out what waits once it is due, and not before', async () => {
      const { digestId } = await made();
      const run = waiting(await begun(digestId));
      expect(await port().digests.settle({ epoch, run })).toBe(true);
      expect(await port().digests.settle({ epoch, run })).toBe(false);
      const retry = (nowMs: number) =>
        port().digests.retry({ epoch, nowMs, leaseUntilMs: nowMs + LEASE_MS });
      expect(await retry(run.dueAtMs - 1)).toBeNull();
      const again = await retry(run.dueAtMs);
      expect(again).toMatchObject({ digestId, day: DAY, state: 'sending', attempts: 2, fromMs: 1 });
      expect(await retry(run.dueAtMs)).toBeNull();
      expect(await runsOf(digestId)).toEqual([again]);
    });

    it('should end what nobody settled, and never begin it again', async () => {
      const { digestId } = await made();
      const run = await begun(digestId);
      const reclaim = (nowMs: number) => port().digests.reclaim({ epoch, nowMs });
      expect(await reclaim(NOW_MS + LEASE_MS - 1)).toEqual([]);
      const old = epoch;
      epoch = await stand();
      expect(await reclaim(NOW_MS)).toEqual([{ digestId, day: DAY }]);
      expect(await runsOf(digestId)).toMatchObject([{ state: 'unsure', endedAtMs: NOW_MS }]);
      await expect(port().digests.settle({ epoch: old, run })).rejects.toThrow(Overtaken);
      expect(await port().digests.settle({ epoch, run })).toBe(false);
      expect(await begin(digestId)).toBeNull();
      await begun(digestId, '2026-11-27');
      expect(await reclaim(NOW_MS + LEASE_MS)).toEqual([{ digestId, day: '2026-11-27' }]);
    });

    it('should refuse every write of a tenure that is over', async () => {
      const { digestId } = await made();
      const run = await begun(digestId);
      const late = { epoch, nowMs: NOW_MS, leaseUntilMs: NOW_MS };
      epoch = await stand();
      const { digests } = port();
      const of = { digestId, day: '2026-12-01', fromMs: 1, toMs: 2, missed: [] };
      const calls = [
        () => digests.begin({ ...late, ...of }),
        () => digests.retry(late),
        () => digests.reclaim(late),
        () => digests.settle({ ...late, run }),
        () => digests.sweep({ ...late, beforeDay: '1970-01-01', limit: 1 }),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(Overtaken);
    });

    it('should remove what ended long ago, and all of a digest that is removed', async () => {
      const { digestId } = await made();
      await begin(digestId, DAY, ['2026-11-24', '2026-11-25']);
      const sweep = (beforeDay: string, limit = 10) =>
        port().digests.sweep({ epoch, beforeDay, limit });
      expect(await sweep('2026-11-24')).toBe(0);
      expect(await sweep('2027-01-01', 1)).toBe(1);
      expect(await sweep('2027-01-01')).toBe(1);
      expect(await runsOf(digestId)).toMatchObject([{ day: DAY }]);
      await port().digests.remove({ ...doing, digestId });
      expect(await runsOf(digestId)).toEqual([]);
    });

    it('should say when the database is away, and answer again by itself', async () => {
      const { digests } = port();
      await expectAwayAndBack(harness, [
        () => digests.list(),
        () => digests.get(randomUUID()),
        () => digests.runs({ digestId: randomUUID(), limit: 1 }),
        () => digests.reclaim({ epoch, nowMs: NOW_MS }),
      ]);
    });
  });
}
