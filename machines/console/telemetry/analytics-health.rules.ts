// What a look at the analytics database means. Numbers that a server does not tell are null and mean nothing. All pure.
// decision: D155
import {
  ANALYTICS_DISK_FULL_RATIO,
  ANALYTICS_DISK_LOW_RATIO,
  ANALYTICS_MERGE_LONG_MS,
  ANALYTICS_PARTS_MANY,
  ANALYTICS_PARTS_MAX,
  ANALYTICS_SLOW_MS,
} from './limits.ts';

/** One look. A time is null when it did not succeed. */
export type AnalyticsReading = {
  readonly atMs: number;
  readonly pingMs: number | null;
  readonly insertMs: number | null;
  readonly queryMs: number | null;
  /** Active parts of the partition that has the most. */
  readonly partsMost: number | null;
  readonly parts: number | null;
  readonly merges: number | null;
  readonly longestMergeMs: number | null;
  readonly diskFreeBytes: number | null;
  readonly diskTotalBytes: number | null;
  /** Rows that wait in this Console to be stored. */
  readonly queuedRows: number;
};
export const ANALYTICS_FINDINGS = [
  'ping_failed',
  'insert_failed',
  'query_failed',
  'insert_slow',
  'query_slow',
  'parts_many',
  'parts_too_many',
  'merge_long',
  'disk_low',
  'disk_full',
] as const;
export type AnalyticsFinding = (typeof ANALYTICS_FINDINGS)[number];

/** What is wrong, in the order of the list. */
export function findingsOf(reading: AnalyticsReading): readonly AnalyticsFinding[] {
  const { pingMs, insertMs, queryMs, partsMost, longestMergeMs } = reading;
  if (pingMs === null) return ['ping_failed'];
  const free = freeRatioOf(reading);
  const holds: Readonly<Record<AnalyticsFinding, boolean>> = {
    ping_failed: false,
    insert_failed: insertMs === null,
    query_failed: queryMs === null,
    insert_slow: (insertMs ?? 0) > ANALYTICS_SLOW_MS,
    query_slow: (queryMs ?? 0) > ANALYTICS_SLOW_MS,
    parts_many: (partsMost ?? 0) > ANALYTICS_PARTS_MANY,
    parts_too_many: (partsMost ?? 0) > ANALYTICS_PARTS_MAX,
    merge_long: (longestMergeMs ?? 0) > ANALYTICS_MERGE_LONG_MS,
    disk_low: free < ANALYTICS_DISK_LOW_RATIO,
    disk_full: free < ANALYTICS_DISK_FULL_RATIO,
  };
  return ANALYTICS_FINDINGS.filter((name) => holds[name]);
}

/** What is left of the disk, from 0 to 1; 1 where nobody tells. */
export function freeRatioOf({ diskFreeBytes, diskTotalBytes }: AnalyticsReading): number {
  if (diskFreeBytes === null || diskTotalBytes === null || diskTotalBytes <= 0) return 1;
  return diskFreeBytes / diskTotalBytes;
}

/** Whether it takes and answers at all. */
export function isAway(findings: readonly AnalyticsFinding[]): boolean {
  return findings.some((one) => one.endsWith('_failed'));
}

export const FINDING_WORDS: Readonly<Record<AnalyticsFinding, string>> = {
  ping_failed: 'It does not answer.',
  insert_failed: 'It takes no rows.',
  query_failed: 'It answers no question.',
  insert_slow: 'An insert takes seconds.',
  query_slow: 'A small question takes seconds.',
  parts_many: 'A partition has so many parts that inserts are slowed down.',
  parts_too_many: 'A partition has so many parts that inserts will be refused.',
  merge_long: 'A merge has run for hours.',
  disk_low: 'Less than a tenth of its disk is free.',
  disk_full: 'Its disk is nearly full.',
};
