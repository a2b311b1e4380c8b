// Works on exports: one Console for all, one step a run. A step is counting a day, copying one part, or sealing; what it came
// to is written before the next begins, so a Console that dies in any of them costs that step alone, and doing it again writes
// the same objects. decision: D60, D156, D157

import type { ExportRunEvent } from '../../machines/console/exports/export-run.machine.ts';
import {
  closedDays,
  dayOf,
  isSameTally,
  manifestNameOf,
  objectNameOf,
} from '../../machines/console/exports/export-run.rules.ts';
import { exportRunAfter } from '../../machines/console/exports/standing.ts';
import {
  EXPORT_DAYS_PLANNED_MAX,
  EXPORT_LEASE_MS,
  EXPORT_LOOK_MS,
  EXPORT_REASON_MAX_CHARS,
  EXPORT_RUNS_KEPT_MS,
  EXPORT_RUNS_REMOVED_MAX,
  EXPORT_STEP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import type { ExportSource } from '../../storage/ports/exports/export-source.ts';
import type {
  ExportObject,
  ExportRow,
  ExportStore,
  ExportTargetRow,
} from '../../storage/ports/exports/export-store.ts';
import type { ExportDestination, Exporter } from '../../storage/ports/exports/exporter.ts';
import { Overtaken } from '../../storage/ports/runtime/designation.ts';
import type { Alerts } from '../detection/alerts.ts';
import type { DesignatedLoop, LoopResult } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';
import { findingOfDead } from './export-alerts.ts';

export const EXPORT_LOOP = 'parquet-s3-export';

export type ExportLoopDeps = {
  readonly exports: Pick<
    ExportStore,
    'target' | 'plan' | 'reclaim' | 'claim' | 'settle' | 'get' | 'sweep'
  >;
  readonly source: ExportSource;
  readonly exporter: Exporter;
  /** Null: its secret cannot be opened any more. */
  readonly destinationOf: (target: ExportTargetRow) => ExportDestination | null;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly chance: Pick<Chance, 'randomBytes' | 'newId'>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly version: string;
};
export type ExportCounts = {
  readonly objects: number;
  readonly bytes: number;
  readonly failures: number;
  /** Runs that ended long ago. */
  readonly removed: number;
};
export type ExportWork = {
  readonly loop: DesignatedLoop;
  /** Since the start. */
  counts(): ExportCounts;
};
type Step = { readonly event: ExportRunEvent; readonly objects: readonly ExportObject[] };
type Doing = {
  readonly row: ExportRow;
  readonly destination: ExportDestination;
  readonly signal: AbortSignal;
};

/** Makes the loop. */
export function createExportLoop(deps: ExportLoopDeps): ExportWork {
  const counts = { objects: 0, bytes: 0, failures: 0, removed: 0 };

  async function run(of: {
    readonly epoch: number;
    readonly signal: AbortSignal;
  }): Promise<LoopResult> {
    const { epoch, signal } = of;
    const nowMs = deps.now();
    counts.removed += await deps.exports.sweep({
      ...{ epoch, beforeDay: dayOf(nowMs - EXPORT_RUNS_KEPT_MS), limit: EXPORT_RUNS_REMOVED_MAX },
    });
    await deps.exports.reclaim({ epoch, nowMs });
    const target = await deps.exports.target();
    if (target === null || !target.isOn) return undefined;
    await plan(deps, target, epoch);
    const row = await deps.exports.claim({ epoch, nowMs, leaseUntilMs: nowMs + EXPORT_LEASE_MS });
    if (row === null) return undefined;
    const { event, objects } = await stepOf(deps, { row, target, signal });
    // Told to end: whoever comes next does the step again.
    if (signal.aborted) return undefined;
    const next = { ...row, ...exportRunAfter(row, event) };
    // Told first: a crash in between tells it again, which changes nothing, as the day is the name of the match.
    if (next.state === 'dead') await deps.alerts.raise([findingOfDead(next, deps)], epoch);
    await deps.exports.settle({ epoch, row: next, objects });
    counts.objects += objects.length;
    for (const { bytes } of objects) counts.bytes += bytes;
    if (event.type === 'step.failed') {
      counts.failures += 1;
      const { table, day } = row;
      deps.logger.warn({ table, day, reason: event.reason }, 'a step of an export failed');
    }
    return { hasMore: true };
  }

  return {
    counts: () => counts,
    loop: {
      ...{ name: EXPORT_LOOP, runsOn: 'designated', everyMs: EXPORT_LOOK_MS },
      ...{ timeoutMs: EXPORT_STEP_TIMEOUT_MS, run },
    },
  };
}

async function plan(deps: ExportLoopDeps, target: ExportTargetRow, epoch: number): Promise<void> {
  const nowMs = deps.now();
  const perTable = Math.floor(EXPORT_DAYS_PLANNED_MAX / Math.max(1, target.tables.length));
  const days = closedDays(target.fromDay, nowMs, perTable).flatMap((day) =>
    target.tables.map((table) => ({ table, day })),
  );
  await deps.exports.plan({ epoch, nowMs, days });
}

async function stepOf(
  deps: ExportLoopDeps,
  of: { readonly row: ExportRow; readonly target: ExportTargetRow; readonly signal: AbortSignal },
): Promise<Step> {
  try {
    const destination = deps.destinationOf(of.target);
    if (destination === null) throw new Error('the secret of the target cannot be opened any more');
    const doing = { row: of.row, signal: of.signal, destination };
    if (of.row.state === 'counting') return await count(deps, doing);
    return of.row.state === 'copying' ? await copy(deps, doing) : await seal(deps, doing);
  } catch (error) {
    if (error instanceof Overtaken) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return {
      event: {
        ...{ type: 'step.failed', atMs: deps.now(), chance: chanceOf(deps.chance) },
        reason: reason.slice(0, EXPORT_REASON_MAX_CHARS).toWellFormed(),
      },
      objects: [],
    };
  }
}

async function count(deps: ExportLoopDeps, { row }: Doing): Promise<Step> {
  const tally = await deps.source.tally(row);
  return { event: { type: 'day.counted', atMs: deps.now(), tally }, objects: [] };
}

async function copy(deps: ExportLoopDeps, doing: Doing): Promise<Step> {
  const { row, destination, signal } = doing;
  const { table, day, parts } = row;
  const part = row.copied + 1;
  const name = objectNameOf(row, part);
  const job = { table, day, destination, name, part, parts: parts ?? 1 };
  const { rows, bytes, sha256 } = await deps.exporter.copy(job, signal);
  return {
    event: { type: 'part.copied', atMs: deps.now() },
    objects: [{ part, name, rows, bytes, sha256 }],
  };
}

/** The day is as it was counted, its parts hold all of it, and nothing else lies beside them. */
async function seal(deps: ExportLoopDeps, { row, destination, signal }: Doing): Promise<Step> {
  const known = await deps.exports.get(row);
  const objects = known?.objects ?? [];
  const now = await deps.source.tally(row);
  const rows = objects.reduce((sum, one) => sum + one.rows, 0);
  const isWhole = row.tally !== null && isSameTally(row.tally, now) && rows === now.rows;
  if (!isWhole || objects.length !== row.parts) {
    const [atMs, chance] = [deps.now(), chanceOf(deps.chance)];
    const reason = 'the day does not hold any more what was counted and copied';
    return { event: { type: 'totals.differ', atMs, chance, reason }, objects: [] };
  }
  const left = Array.from({ length: Math.max(0, row.highestPart - objects.length) }, (_, at) =>
    objectNameOf(row, objects.length + at + 1),
  );
  if (left.length > 0) await deps.exporter.remove({ destination, names: left }, signal);
  const text = manifestOf(deps, row, objects);
  await deps.exporter.put({ destination, name: manifestNameOf(row), text }, signal);
  return { event: { type: 'run.sealed', atMs: deps.now() }, objects: [] };
}

function manifestOf(
  { version }: ExportLoopDeps,
  { table, day, tally }: ExportRow,
  objects: readonly ExportObject[],
): string {
  const manifest = {
    ...{ table, day, format: 'parquet', version },
    rows: tally?.rows ?? 0,
    distinct: tally?.distinct ?? 0,
    hash_sum: tally?.hashSum ?? '0',
    objects: objects.map(({ name, rows, bytes, sha256 }) => ({ name, rows, bytes, sha256 })),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function chanceOf(chance: Pick<Chance, 'randomBytes'>): number {
  return chance.randomBytes(2).readUInt16BE(0) / 65_536;
}
