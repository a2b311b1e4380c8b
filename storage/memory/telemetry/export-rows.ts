// Days of the reference event store: events by the day of their receipt, each once; the other tables are empty.
import {
  dayOf,
  type TableDay,
  type Tally,
} from '../../../machines/console/exports/export-run.rules.ts';
import type { ExportSource } from '../../ports/exports/export-source.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { EventRows } from './event-rows.ts';

const MODULUS = 2n ** 64n;

/** The ids of the events that were received on a day, each once, sorted. */
export function eventIdsOf(rows: Pick<EventRows, 'batches'>, { table, day }: TableDay) {
  if (table !== 'runtime_events') return [];
  const ids = new Set<string>();
  for (const { receivedAtMs, events } of rows.batches()) {
    if (dayOf(receivedAtMs) !== day) continue;
    for (const { event_id: id } of events) ids.add(id);
  }
  return [...ids].sort();
}

/** What ids add up to. */
export function tallyOfIds(ids: readonly string[]): Tally {
  const sum = ids.reduce((total, id) => (total + hashOfId(id)) % MODULUS, 0n);
  return { rows: ids.length, distinct: ids.length, hashSum: sum.toString() };
}

export function exportSourceCalls(rows: Pick<EventRows, 'batches'>): Calls<ExportSource> {
  return { tally: (of) => tallyOfIds(eventIdsOf(rows, of)) };
}

function hashOfId(id: string): bigint {
  let hash = 14_695_981_039_346_656_037n;
  for (const unit of id)
    hash = ((hash ^ BigInt(unit.codePointAt(0) ?? 0)) * 1_099_511_628_211n) % MODULUS;
  return hash;
}
