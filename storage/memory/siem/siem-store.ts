// The reference store of SIEM destinations and of the floors of sinks, in one place as the real ones share a database.
// decision: D152, D153
import { siemAfter } from '../../../machines/console/siem/siem-standing.ts';
import { SIEM_DESTINATIONS_MAX, SINK_FLOOR_LEASE_MS } from '../../../machines/limits.ts';
import { FLEET_RULES_CURSOR } from '../../ports/detection/rule-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import {
  auditOfSiemChange,
  auditOfSiemCreate,
  auditOfSiemOrder,
  auditOfSiemRemoval,
} from '../../ports/siem/siem-audit.ts';
import type { SiemMove, SiemRow, SiemStore } from '../../ports/siem/siem-store.ts';
import type { SinkFloors } from '../../ports/siem/sink-floors.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

export type SiemState = {
  readonly rows: Map<string, SiemRow>;
  readonly floors: Map<string, { floorMs: number; toldAtMs: number }>;
  horizonMs: number;
};
type Base = Pick<MemoryBase, 'record' | 'fence' | 'now'>;

/** Nothing is kept. */
export function newSiemState(): SiemState {
  return { rows: new Map(), floors: new Map(), horizonMs: 0 };
}

function move({ rows }: SiemState, { destinationId, event }: SiemMove): SiemRow | null {
  const row = rows.get(destinationId);
  if (row === undefined) return null;
  const moved = { ...row, standing: siemAfter(row.standing, event) };
  rows.set(destinationId, moved);
  return moved;
}

/** The calls on a state. */
export function siemCalls(state: SiemState, { record, fence }: Base): Calls<SiemStore> {
  const { rows } = state;
  const isTaken = (name: string, but: string): boolean =>
    [...rows.values()].some((row) => row.name === name && row.destinationId !== but);
  return {
    list: () => [...rows.values()].sort((a, b) => (a.destinationId < b.destinationId ? -1 : 1)),
    get: (destinationId) => rows.get(destinationId) ?? null,
    create(input) {
      const { destination, nowMs } = input;
      const name = storableText(destination.name);
      const isFull = rows.size >= SIEM_DESTINATIONS_MAX;
      const result = isFull ? 'full' : isTaken(name, '') ? 'conflict' : 'ok';
      record(auditOfSiemCreate(input, result));
      if (result !== 'ok') return result;
      const [targetUrl, filter] = [destination.targetUrl, destination.filter].map(storableText);
      const row: SiemRow = {
        ...destination,
        ...{ name, targetUrl: targetUrl ?? '', filter: filter ?? '' },
        ...{ createdAtMs: nowMs, changedAtMs: nowMs, revision: 1 },
      };
      rows.set(row.destinationId, row);
      return row;
    },
    change(input) {
      const before = rows.get(input.destinationId);
      if (before === undefined) return 'not_found';
      const next = { ...before, ...input.patch };
      const name = storableText(next.name);
      if (before.revision !== input.revision || isTaken(name, input.destinationId)) {
        return 'conflict';
      }
      const after: SiemRow = {
        ...next,
        ...{ name, targetUrl: storableText(next.targetUrl), filter: storableText(next.filter) },
        ...{ changedAtMs: input.nowMs, revision: before.revision + 1 },
      };
      rows.set(after.destinationId, after);
      record(auditOfSiemChange(input, before, after));
      return after;
    },
    order(input) {
      const moved = move(state, input);
      if (moved === null) return 'not_found';
      record(auditOfSiemOrder(input));
      return moved;
    },
    remove(input) {
      const before = rows.get(input.destinationId);
      if (before === undefined) return false;
      rows.delete(input.destinationId);
      record(auditOfSiemRemoval(input, before));
      return true;
    },
    move({ epoch, moves }) {
      fence(epoch);
      for (const one of moves) move(state, one);
    },
    reseal({ destinationId, was, sealed }) {
      const row = rows.get(destinationId);
      if (row?.secretSealed !== was) return false;
      rows.set(destinationId, { ...row, secretSealed: sealed });
      return true;
    },
  };
}

/** The calls on a state. */
export function floorCalls(
  state: SiemState,
  { fence, now, cursors }: Base & { readonly cursors: Map<string, number> },
): Calls<SinkFloors> {
  const { floors, rows } = state;
  const clock = (nowMs: number): number => now?.() ?? nowMs;
  return {
    join({ life, nowMs, sinceMs }) {
      const floorMs = sinceMs ?? (state.horizonMs || clock(nowMs));
      if (floorMs < state.horizonMs) {
        state.horizonMs = floorMs;
        for (const destinationId of rows.keys()) {
          move(state, { destinationId, event: { type: 'cursor.back', toMs: floorMs } });
        }
        const judgedMs = cursors.get(FLEET_RULES_CURSOR);
        if (judgedMs !== undefined) cursors.set(FLEET_RULES_CURSOR, Math.min(judgedMs, floorMs));
      }
      const known = floors.get(life)?.floorMs ?? floorMs;
      floors.set(life, { floorMs: Math.min(known, floorMs), toldAtMs: clock(nowMs) });
      return floorMs;
    },
    tell({ life, nowMs, floorMs }) {
      const own = floors.get(life);
      if (own === undefined) return 'unknown';
      own.floorMs = Math.max(own.floorMs, floorMs);
      own.toldAtMs = clock(nowMs);
      return own.toldAtMs;
    },
    leave: ({ life }) => void floors.delete(life),
    horizon({ epoch, nowMs }) {
      fence(epoch);
      const silentSince = clock(nowMs) - SINK_FLOOR_LEASE_MS;
      for (const [life, { toldAtMs }] of floors) if (toldAtMs < silentSince) floors.delete(life);
      const lowest = Math.min(...[...floors.values()].map(({ floorMs }) => floorMs));
      if (floors.size > 0) state.horizonMs = Math.max(state.horizonMs, lowest);
      return state.horizonMs;
    },
  };
}
