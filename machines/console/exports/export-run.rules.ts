// Which days are exported, under which names, in how many parts. A name says table, day and part alone, so that whatever is
// done again takes the place of what was there: no file is there twice. decision: D157
import { DAY_MS } from '../../units.ts';
import {
  EXPORT_BACKOFF_MAX_MS,
  EXPORT_BACKOFF_MIN_MS,
  EXPORT_GRACE_MS,
  EXPORT_JITTER_RATIO,
  EXPORT_PART_ROWS_MAX,
  EXPORT_PARTS_MAX,
} from './limits.ts';

/** What is exported, by the names of the event store. */
export const EXPORT_TABLES = [
  'runtime_events',
  'sensor_transitions',
  'sensor_coverage',
  'resource_metrics',
  'network_flows',
  'anomaly_scores',
] as const;
export type ExportTable = (typeof EXPORT_TABLES)[number];

/** A day in UTC as `2026-11-25`. */
export type ExportDay = string;
export type TableDay = { readonly table: ExportTable; readonly day: ExportDay };

/** What a table holds of a day; the counts are exact, the hash is over the names of the rows. */
export type Tally = {
  readonly rows: number;
  /** Different names: of events their ids. */
  readonly distinct: number;
  /** Sum of 64-bit hashes, modulo 2^64, in decimal. */
  readonly hashSum: string;
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function isExportTable(text: string): text is ExportTable {
  return EXPORT_TABLES.some((table) => table === text);
}

/** Whether a text is a day that exists. */
export function isExportDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(ms) && dayOf(ms) === text;
}

/** The UTC day of an instant. */
export function dayOf(ms: number): ExportDay {
  return new Date(ms).toISOString().slice(0, 10);
}

/** When a day begins; the next one begins `DAY_MS` later, as UTC knows no summer time. */
export function startOfDayMs(day: ExportDay): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Whether everything that was received on a day is stored. */
export function isDayClosed(day: ExportDay, nowMs: number): boolean {
  return startOfDayMs(day) + DAY_MS + EXPORT_GRACE_MS <= nowMs;
}

/** Whether rows of a day may be gone from the event store, which keeps so many days. */
export function isDayExpired(day: ExportDay, keptDays: number, nowMs: number): boolean {
  return startOfDayMs(day) < nowMs - keptDays * DAY_MS;
}

/** The closed days from `fromDay` on, the newest first, at most so many. */
export function closedDays(fromDay: ExportDay, nowMs: number, limit: number): readonly ExportDay[] {
  const days: ExportDay[] = [];
  const firstMs = startOfDayMs(fromDay);
  for (let ms = startOfDayMs(dayOf(nowMs)); ms >= firstMs && days.length < limit; ms -= DAY_MS) {
    const day = dayOf(ms);
    if (isDayClosed(day, nowMs)) days.push(day);
  }
  return days;
}

/** How a run is named in addresses. */
export function exportIdOf({ table, day }: TableDay): string {
  return `${table}.${day}`;
}

/** What a run's name means; null for none. */
export function tableDayOf(exportId: string): TableDay | null {
  const [table = '', day = '', ...rest] = exportId.split('.');
  return rest.length === 0 && isExportTable(table) && isExportDay(day) ? { table, day } : null;
}

/** The name of a part's object; parts are counted from 1. */
export function objectNameOf({ table, day }: TableDay, part: number): string {
  return `${table}/date=${day}/part-${String(part).padStart(5, '0')}.parquet`;
}

/** Readers of Parquet folders pass over what begins with an underscore. */
export function manifestNameOf({ table, day }: TableDay): string {
  return `${table}/date=${day}/_manifest.json`;
}

/** In how many parts so many rows are written. */
export function partsFor(rows: number): number {
  return Math.min(EXPORT_PARTS_MAX, Math.ceil(rows / EXPORT_PART_ROWS_MAX));
}

/** How long a run waits after its so many failures in a row. */
export function exportDelayMs(failures: number, chance: number): number {
  const doubled = EXPORT_BACKOFF_MIN_MS * 2 ** Math.min(30, Math.max(0, failures - 1));
  const whole = Math.min(EXPORT_BACKOFF_MAX_MS, doubled);
  return Math.round(whole * (1 - EXPORT_JITTER_RATIO * chance));
}

export function isSameTally(one: Tally, other: Tally): boolean {
  return (
    one.rows === other.rows && one.distinct === other.distinct && one.hashSum === other.hashSum
  );
}
