// The promises of exports: one target under a revision, one row for each day of a table, worked on under an epoch and a lease;
// what was not settled is due again, and every order has its audit row. decision: D60, D157
import { beforeEach, describe, expect, it } from 'vitest';
import { exportRunAfter } from '../../machines/console/exports/standing.ts';
import type { ExportTarget } from '../../machines/console/exports/target.rules.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { ExportRow, ExportStore } from '../../storage/ports/exports/export-store.ts';
import { type Designation, Overtaken } from '../../storage/ports/runtime/designation.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { hex, NOW_MS } from './samples.ts';

type Ports = {
  readonly exports: ExportStore;
  readonly designation: Designation;
  readonly audit: AuditLog;
};
const doing = { actor: 'user:ada', from: '192.0.2.1', nowMs: NOW_MS };
const LEASE_MS = 60_000;
const TABLE = 'runtime_events';
const TALLY = { rows: 60_000, distinct: 60_000, hashSum: '18446744073709551615' };
const TARGET: ExportTarget & { readonly secretSealed: string | null } = {
  place: {
    ...{ kind: 's3', endpoint: 'https://s3.example', region: 'r', bucket: 'fleet' },
    ...{ accessKeyId: 'k', caPem: null },
  },
  ...{ prefix: 'p', tables: [TABLE], fromDay: '2026-01-01', isOn: true, secretSealed: 'sealed' },
};

export function exportsContract(harness: Harness<Ports>): void {
  const { port } = harness;
  let epoch = 0;
  let year = 1_970;

  async function stand(): Promise<number> {
    const tenure = await port().designation.stand({
      ...{ holder: 'contract', nowMs: NOW_MS, onLost: () => undefined },
    });
    if (tenure === null) throw new Error('somebody else is designated');
    await tenure.release();
    return tenure.epoch;
  }
  const day = (date: string): string => `${year}-${date}`;
  const claim = (nowMs = NOW_MS, under = epoch) =>
    port().exports.claim({ epoch: under, nowMs, leaseUntilMs: nowMs + LEASE_MS });
  /** Ends whatever a test before left behind. */
  async function endAll(): Promise<void> {
    for (;;) {
      const row = await claim(Number.MAX_SAFE_INTEGER - LEASE_MS);
      if (row === null) return;
      const next = { ...row, state: 'done', endedAtMs: NOW_MS } as const;
      await port().exports.settle({ epoch, row: next, objects: [] });
    }
  }
  async function planned(dates: readonly string[]): Promise<void> {
    const days = dates.map((date) => ({ table: TABLE, day: day(date) }) as const);
    await port().exports.plan({ epoch, nowMs: NOW_MS, days });
  }
  async function claimed(nowMs = NOW_MS): Promise<ExportRow> {
    const row = await claim(nowMs);
    if (row === null) throw new Error('nothing was claimed');
    return row;
  }
  const counted = (row: ExportRow): ExportRow => ({
    ...row,
    ...exportRunAfter(row, { type: 'day.counted', atMs: NOW_MS, tally: TALLY }),
  });
  const object = (part: number) => ({
    ...{ part, name: `n${part}`, rows: 30_000, bytes: 2 ** 40, sha256: hex(32) },
  });

  /** Begins each test under a tenure of its own, with nothing left to do. */
  async function begin(): Promise<void> {
    epoch = await stand();
    year += 1;
    await port().exports.reclaim({ epoch, nowMs: NOW_MS });
    await endAll();
  }

  describe('the target of exports', () => {
    beforeEach(begin);

    it('should be put in the place of the one that was seen, and audited without its secret', async () => {
      const { exports } = port();
      const revision = (await exports.target())?.revision ?? 0;
      const put = await exports.putTarget({ ...doing, revision, target: TARGET });
      expect(put).toMatchObject({ ...TARGET, revision: revision + 1, changedAtMs: NOW_MS });
      expect(await exports.target()).toEqual(put);
      expect(await exports.putTarget({ ...doing, revision, target: TARGET })).toBe('conflict');
      const [entry] = await port().audit.recent(1);
      expect(entry).toMatchObject({ action: 'export.target', actor: 'user:ada', target: 's3' });
      expect(JSON.stringify(entry)).not.toContain('sealed"');
      expect(await exports.reseal({ was: 'other', sealed: 'x' })).toBe(false);
      expect(await exports.reseal({ was: 'sealed', sealed: 'again' })).toBe(true);
      expect((await exports.target())?.secretSealed).toBe('again');
    });
  });

  describe('runs of exports', () => {
    beforeEach(begin);

    it('should be planned once, and worked on newest day first', async () => {
      await planned(['01-01', '01-02']);
      await planned(['01-01', '01-02', '01-03']);
      expect(await claimed()).toMatchObject({ day: day('01-03'), state: 'counting' });
      // Its own tenure goes on with what it began.
      expect(await claimed()).toMatchObject({ day: day('01-03'), state: 'counting' });
    });

    it('should keep every step and its objects, and hand on what is due', async () => {
      await planned(['02-01']);
      const first = counted(await claimed());
      expect(await port().exports.settle({ epoch, row: first, objects: [] })).toBe(true);
      const second = await claimed();
      expect(second).toEqual(first);
      const third = { ...second, ...exportRunAfter(second, { type: 'part.copied', atMs: NOW_MS }) };
      const [one, two] = [object(1), object(2)];
      await port().exports.settle({ epoch, row: third, objects: [one] });
      const fourth = { ...third, ...exportRunAfter(third, { type: 'part.copied', atMs: NOW_MS }) };
      await port().exports.settle({ epoch, row: fourth, objects: [two] });
      expect(await port().exports.get(fourth)).toEqual({ run: fourth, objects: [one, two] });
      const last = { ...fourth, ...exportRunAfter(fourth, { type: 'run.sealed', atMs: NOW_MS }) };
      await port().exports.settle({ epoch, row: last, objects: [] });
      expect(last.state).toBe('done');
      expect(await claim()).toBeNull();
      expect((await port().exports.counts()).done).toBeGreaterThan(0);
    });

    it('should forget its objects when it is counted anew', async () => {
      await planned(['03-01']);
      const first = counted(await claimed());
      const copied = { ...first, ...exportRunAfter(first, { type: 'part.copied', atMs: NOW_MS }) };
      await port().exports.settle({ epoch, row: copied, objects: [object(1)] });
      await port().exports.settle({ epoch, row: { ...copied, copied: 0 }, objects: [] });
      expect((await port().exports.get(first))?.objects).toEqual([]);
    });

    it('should have what was not settled due again, once its lease or its tenure is over', async () => {
      await planned(['04-01']);
      const row = await claimed();
      const reclaim = (nowMs: number) => port().exports.reclaim({ epoch, nowMs });
      expect(await reclaim(NOW_MS + LEASE_MS - 1)).toBe(0);
      expect(await reclaim(NOW_MS + LEASE_MS)).toBe(1);
      expect((await port().exports.get(row))?.run.state).toBe('waiting');
      const old = epoch;
      const again = counted(await claimed(NOW_MS + LEASE_MS));
      epoch = await stand();
      expect(await reclaim(NOW_MS + LEASE_MS)).toBe(1);
      await expect(port().exports.settle({ epoch: old, row: again, objects: [] })).rejects.toThrow(
        Overtaken,
      );
      // Held by nobody now: what comes late is left out.
      expect(await port().exports.settle({ epoch, row: again, objects: [] })).toBe(false);
    });

    it('should refuse every write of a tenure that is over', async () => {
      const late = { epoch, nowMs: NOW_MS };
      epoch = await stand();
      const { exports } = port();
      const calls = [
        () => exports.plan({ ...late, days: [] }),
        () => exports.reclaim(late),
        () => exports.claim({ ...late, leaseUntilMs: 0 }),
        () => exports.sweep({ ...late, beforeDay: '1970-01-01', limit: 1 }),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(Overtaken);
    });

    it('should be ordered again by an operator, but not while somebody works on them', async () => {
      const of = { table: TABLE, day: day('05-01') } as const;
      expect(await port().exports.order({ ...doing, ...of })).toMatchObject({ state: 'waiting' });
      await claimed();
      expect(await port().exports.order({ ...doing, ...of })).toBe('active');
      await endAll();
      expect(await port().exports.order({ ...doing, ...of })).toMatchObject({
        ...{ state: 'waiting', endedAtMs: null, parts: null },
      });
      expect((await port().audit.recent(1))[0]).toMatchObject({
        ...{ action: 'export.run', target: `${TABLE}.${of.day}`, result: 'ok' },
      });
    });

    it('should be listed newest day first, page by page, by table and state', async () => {
      await planned(['06-01', '06-02', '06-03']);
      const page = { table: TABLE, state: 'waiting', limit: 2 } as const;
      const first = await port().exports.list({ ...page, before: null });
      expect(first.map((row) => row.day)).toEqual([day('06-03'), day('06-02')]);
      const before = first.at(-1) ?? null;
      const rest = await port().exports.list({ ...page, before });
      expect(rest.map((row) => row.day)).toEqual([day('06-01')]);
      expect(await port().exports.list({ ...page, state: 'dead', before: null })).toEqual([]);
    });

    it('should be removed once they ended and their day is long ago', async () => {
      await planned(['07-01', '07-02']);
      const sweep = (beforeDay: string) => port().exports.sweep({ epoch, beforeDay, limit: 1_000 });
      await sweep(day('07-02'));
      expect(await port().exports.get({ table: TABLE, day: day('07-01') })).not.toBeNull();
      await endAll();
      expect(await sweep(day('07-02'))).toBeGreaterThan(0);
      expect(await port().exports.get({ table: TABLE, day: day('07-01') })).toBeNull();
      expect(await port().exports.get({ table: TABLE, day: day('07-02') })).not.toBeNull();
    });

    it('should never be planned again once they were removed, even when clocks go back', async () => {
      await planned(['08-01']);
      await endAll();
      await port().exports.sweep({ epoch, beforeDay: day('08-02'), limit: 1_000 });
      const days = ['07-31', '08-01', '08-02'].map(
        (date) => ({ table: TABLE, day: day(date) }) as const,
      );
      expect(await port().exports.plan({ epoch, nowMs: NOW_MS, days })).toBe(1);
      await port().exports.sweep({ epoch, beforeDay: day('01-01'), limit: 1_000 });
      expect(await port().exports.plan({ epoch, nowMs: NOW_MS, days })).toBe(0);
      expect(await port().exports.get({ table: TABLE, day: day('08-01') })).toBeNull();
      expect(await port().exports.get({ table: TABLE, day: day('08-02') })).not.toBeNull();
      // A person may still order one.
      const of = { table: TABLE, day: day('08-01') } as const;
      expect(await port().exports.order({ ...doing, ...of })).toMatchObject({ state: 'waiting' });
    });

    it('should say when the database is away, and answer again by itself', async () => {
      const { exports } = port();
      await expectAwayAndBack(harness, [
        () => exports.target(),
        () => exports.counts(),
        () => exports.list({ limit: 1, before: null }),
        () => exports.get({ table: TABLE, day: '1970-01-01' }),
        () => exports.reclaim({ epoch, nowMs: NOW_MS }),
      ]);
    });
  });
}
