// What becomes of a day that was exported long ago: its row goes, its files stay. decision: D157
import { expect, it } from 'vitest';
import type { ExportTable, TableDay } from '../../machines/console/exports/export-run.rules.ts';
import {
  EXPORT_DAYS_PLANNED_MAX,
  EXPORT_GIVE_UP_MS,
  EXPORT_RUNS_KEPT_MS,
} from '../../machines/limits.ts';
import { DAY_MS, HOUR_MS } from '../../machines/units.ts';
import { createPlainSealer } from '../../storage/memory/access/plain-sealer.ts';
import { createMemoryExporter } from '../../storage/memory/exports/exporter.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createAlerts } from '../detection/alerts.ts';
import type { LoopResult } from '../loops/loop.ts';
import { silentLogger as logger } from '../runtime/silent-logger.ts';
import { systemChance as chance } from '../trust/chance.ts';
import { createExportLoop } from './export-loop.ts';
import { createExportService } from './export-service.ts';

const BEGAN_MS = Date.parse('2026-01-05T02:00:00Z');
const KEPT_DAYS = 90;
const TABLES: readonly ExportTable[] = ['runtime_events'];
const FIRST: TableDay = { table: 'runtime_events', day: '2026-01-04' };
const FIRST_FILE = 'runtime_events/date=2026-01-04/part-00001.parquet';
const doing = { actor: 'user:ada', from: '192.0.2.1' };
const { signal } = new AbortController();

/** A Console whose event store keeps a row of each day until it is told to forget it. */
async function openExports() {
  let nowMs = BEGAN_MS;
  const gone = new Set<string>();
  const rowsOf = ({ day }: TableDay) => (gone.has(day) ? [] : [`row of ${day}`]);
  const { exporter, objects, setMode } = createMemoryExporter(rowsOf);
  const { exports, designation, audit, alerts: store } = createMemoryRelational();
  const tenure = await designation.stand({ holder: 'x', nowMs, onLost: () => undefined });
  const service = createExportService({
    ...{ exports, audit, exporter, allowList: () => [], keptDays: () => KEPT_DAYS },
    sealer: createPlainSealer(),
  });
  const work = createExportLoop({
    alerts: createAlerts({ store, now: () => nowMs }),
    ...{ exports, exporter, chance, logger, version: '1', now: () => nowMs },
    destinationOf: service.destinationOf,
    source: {
      async tally(of) {
        const { length: rows } = rowsOf(of);
        return { rows, distinct: rows, hashSum: String(rows) };
      },
    },
  });
  const target = { place: { kind: 'directory' }, prefix: '', tables: TABLES } as const;
  async function turn(isOn: boolean): Promise<void> {
    const revision = (await exports.target())?.revision ?? 0;
    await service.putTarget({
      ...{ ...doing, nowMs, revision, target: { ...target, isOn, fromDay: FIRST.day } },
    });
  }
  await turn(true);
  return {
    ...{ exports, objects, gone, counts: work.counts, setMode, turn },
    alerts: () => store.list({ limit: 10, before: null }),
    order: () => service.order({ ...doing, nowMs, ...FIRST }),
    /** Everything that is due at an instant. */
    async runAt(atMs: number) {
      nowMs = atMs;
      let told: LoopResult;
      do told = await work.loop.run({ epoch: tenure?.epoch ?? 0, signal });
      while (told?.hasMore === true);
    },
  };
}

it('should keep the files of a day whose run was removed, whatever clocks do then', async () => {
  const { exports, objects, gone, counts, turn, runAt } = await openExports();
  await runAt(BEGAN_MS);
  expect(await exports.get(FIRST)).toMatchObject({ run: { state: 'done' } });
  const file = objects.get(FIRST_FILE);
  expect(file).toEqual(['row of 2026-01-04']);
  gone.add(FIRST.day);
  // Switched off meanwhile: what ended is removed all the same, and no year of days has to be exported here.
  await turn(false);
  await runAt(BEGAN_MS + EXPORT_RUNS_KEPT_MS + DAY_MS);
  expect(await exports.get(FIRST)).toBeNull();
  expect(counts().removed).toBe(1);
  await turn(true);
  await runAt(BEGAN_MS + HOUR_MS);
  expect(await exports.get(FIRST)).toBeNull();
  expect(objects.get(FIRST_FILE)).toBe(file);
});

it('should plan no day that the next run removes', () => {
  expect(EXPORT_RUNS_KEPT_MS).toBeGreaterThan(EXPORT_DAYS_PLANNED_MAX * DAY_MS);
});

it('should refuse to export a day again of which rows may be gone, since its files would go with them', async () => {
  const { objects, gone, order, runAt } = await openExports();
  await runAt(BEGAN_MS);
  expect(await order()).toMatchObject({ ok: true });
  await runAt(BEGAN_MS + KEPT_DAYS * DAY_MS);
  gone.add(FIRST.day);
  expect(await order()).toMatchObject({ ok: false, code: 'export_day_expired' });
  await runAt(BEGAN_MS + (KEPT_DAYS + 1) * DAY_MS);
  expect(objects.get(FIRST_FILE)).toEqual(['row of 2026-01-04']);
});

it('should tell people once of a day that is given up, and again when an order ends the same way', async () => {
  const { exports, setMode, alerts, order, runAt } = await openExports();
  const told = async () => (await alerts()).map(({ alert, count }) => [alert.headline, count]);
  const dead = async () => await exports.list({ state: 'dead', limit: 100, before: null });
  setMode('fail');
  await runAt(BEGAN_MS);
  expect(await told()).toEqual([]);
  await runAt(BEGAN_MS + EXPORT_GIVE_UP_MS);
  expect((await dead()).map(({ day }) => day)).toEqual([FIRST.day]);
  expect(await told()).toEqual([['runtime_events of 2026-01-04 is not exported', 1]]);
  await order();
  for (const weeks of [1, 2]) await runAt(BEGAN_MS + EXPORT_GIVE_UP_MS * weeks);
  expect((await dead()).map(({ day }) => day)).toContain(FIRST.day);
  expect(await told()).toEqual([[expect.any(String), (await dead()).length + 1]]);
});
