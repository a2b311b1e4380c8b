// The reference store of exports. decision: D157

import type { TableDay } from '../../../machines/console/exports/export-run.rules.ts';
import {
  exportRunAfter,
  isActive,
  newExportRun,
} from '../../../machines/console/exports/standing.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import { auditOfExportOrder, auditOfExportTarget } from '../../ports/exports/export-audit.ts';
import type {
  ExportObject,
  ExportRow,
  ExportStore,
  ExportTargetRow,
} from '../../ports/exports/export-store.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

type Kept = {
  row: ExportRow;
  lease: { readonly epoch: number; readonly untilMs: number } | null;
  objects: readonly ExportObject[];
};
type State = {
  target: ExportTargetRow | null;
  readonly runs: Map<string, Kept>;
  /** Before it nothing is planned any more. */
  firstDay: string;
};
export type ExportDeps = {
  readonly record: (entry: AuditEntry) => void;
  readonly fence: (epoch: number | undefined) => void;
};

/** The calls on an empty store. */
export function memoryExportCalls(deps: ExportDeps): Calls<ExportStore> {
  const state: State = { target: null, runs: new Map(), firstDay: '' };
  return { ...targetCalls(state, deps), ...moveCalls(state, deps), ...readCalls(state, deps) };
}

const keyOf = ({ table, day }: TableDay): string => `${day} ${table}`;

function targetCalls(
  state: State,
  { record }: ExportDeps,
): Pick<Calls<ExportStore>, 'target' | 'putTarget' | 'reseal'> {
  return {
    target: () => state.target,
    putTarget(input) {
      const before = state.target;
      if ((before?.revision ?? 0) !== input.revision) return 'conflict';
      record(auditOfExportTarget(input, before, input.target));
      const { nowMs: changedAtMs, revision } = input;
      state.target = { ...input.target, changedAtMs, revision: revision + 1 };
      return state.target;
    },
    reseal({ was, sealed }) {
      if (state.target === null || state.target.secretSealed !== was) return false;
      state.target = { ...state.target, secretSealed: sealed };
      return true;
    },
  };
}

function moveCalls(
  state: State,
  { fence }: ExportDeps,
): Pick<Calls<ExportStore>, 'plan' | 'reclaim' | 'claim' | 'settle' | 'sweep'> {
  const { runs } = state;
  return {
    plan({ epoch, nowMs, days }) {
      fence(epoch);
      const fresh = days.filter((of) => of.day >= state.firstDay && !runs.has(keyOf(of)));
      for (const of of fresh) {
        runs.set(keyOf(of), { row: { ...newExportRun(nowMs), ...of }, lease: null, objects: [] });
      }
      return fresh.length;
    },
    reclaim({ epoch, nowMs }) {
      fence(epoch);
      const lost = [...runs.values()].filter(
        ({ lease }) => lease !== null && (lease.epoch !== epoch || lease.untilMs <= nowMs),
      );
      for (const one of lost) {
        one.row = { ...one.row, ...exportRunAfter(one.row, { type: 'run.lost', atMs: nowMs }) };
        one.lease = null;
      }
      return lost.length;
    },
    claim({ epoch, nowMs, leaseUntilMs }) {
      fence(epoch);
      const all = [...runs.values()].sort(byDue);
      const due = ({ row }: Kept): boolean => row.state === 'waiting' && row.dueAtMs <= nowMs;
      const found = all.find(({ lease }) => lease?.epoch === epoch) ?? all.find(due);
      if (found === undefined) return null;
      found.row = {
        ...found.row,
        ...exportRunAfter(found.row, { type: 'run.claimed', atMs: nowMs }),
      };
      found.lease = { epoch, untilMs: leaseUntilMs };
      return found.row;
    },
    settle({ epoch, row, objects }) {
      fence(epoch);
      const held = runs.get(keyOf(row));
      if (held === undefined || held.lease?.epoch !== epoch) return false;
      held.row = row;
      if (!isActive(row)) held.lease = null;
      const written = new Set(objects.map(({ part }) => part));
      const left = held.objects.filter(({ part }) => part <= row.copied && !written.has(part));
      held.objects = [...left, ...objects].sort((a, b) => a.part - b.part);
      return true;
    },
    sweep({ epoch, beforeDay, limit }) {
      fence(epoch);
      if (beforeDay > state.firstDay) state.firstDay = beforeDay;
      const old = [...runs.values()]
        .filter(({ row }) => row.day < beforeDay && (row.state === 'done' || row.state === 'dead'))
        .sort((a, b) => (a.row.day < b.row.day ? -1 : 1))
        .slice(0, limit);
      for (const { row } of old) runs.delete(keyOf(row));
      return old.length;
    },
  };
}

function readCalls(
  { runs }: State,
  { record }: ExportDeps,
): Pick<Calls<ExportStore>, 'list' | 'get' | 'order' | 'counts'> {
  return {
    list({ table, state, limit, before }) {
      return [...runs.values()]
        .map(({ row }) => row)
        .filter((row) => table === undefined || row.table === table)
        .filter((row) => state === undefined || row.state === state)
        .filter((row) => before === null || keyOf(row) < keyOf(before))
        .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
        .slice(0, limit);
    },
    get(of) {
      const held = runs.get(keyOf(of));
      return held === undefined ? null : { run: held.row, objects: held.objects };
    },
    order(input) {
      const { table, day, nowMs } = input;
      const held = runs.get(keyOf(input)) ?? {
        row: { ...newExportRun(nowMs), table, day },
        ...{ lease: null, objects: [] },
      };
      runs.set(keyOf(input), held);
      record(auditOfExportOrder(input, isActive(held.row) ? 'active' : 'ok'));
      if (isActive(held.row)) return 'active';
      held.row = { ...held.row, ...exportRunAfter(held.row, { type: 'run.ordered', atMs: nowMs }) };
      return held.row;
    },
    counts() {
      const counts: Partial<Record<ExportRow['state'], number>> = {};
      for (const { row } of runs.values()) counts[row.state] = (counts[row.state] ?? 0) + 1;
      return counts;
    },
  };
}

function byDue(one: Kept, other: Kept): number {
  const [a, b] = [one.row, other.row];
  if (a.dueAtMs !== b.dueAtMs) return a.dueAtMs - b.dueAtMs;
  if (a.day !== b.day) return a.day < b.day ? 1 : -1;
  return a.table < b.table ? -1 : 1;
}
