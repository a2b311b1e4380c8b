// Where exports go: a bucket of an S3 service, or the folder `exports` in the data directory of the Console. decision: D158
import { type ExportTable, isExportDay } from './export-run.rules.ts';

export type S3Place = {
  readonly kind: 's3';
  /** https, without path: the service, not the bucket. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  /** PEM of the only CA that is trusted; null: the public ones. */
  readonly caPem: string | null;
  /** The HTTP proxy that stands between; absent or null: none. */
  readonly proxyUrl?: string | null;
};
export type ExportPlace = S3Place | { readonly kind: 'directory' };
export type ExportTarget = {
  readonly place: ExportPlace;
  /** Comes before every name; empty, or without a slash at its ends. */
  readonly prefix: string;
  readonly tables: readonly ExportTable[];
  /** The first day that is exported. */
  readonly fromDay: string;
  readonly isOn: boolean;
};
export type TargetMistake = { readonly pointer: string; readonly detail: string };

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,64}$/;
const ACCESS_KEY = /^[\x21-\x7e]{1,256}$/;
const PREFIX = /^[A-Za-z0-9_=-]([A-Za-z0-9._=-]|\/(?=[A-Za-z0-9_=-])){0,254}$/;

/** What is wrong with a target, apart from where its address leads. */
export function mistakesOfTarget(target: ExportTarget): readonly TargetMistake[] {
  const found: TargetMistake[] = [];
  const rule = (pointer: string, holds: boolean, detail: string): void => {
    if (!holds) found.push({ pointer, detail });
  };
  const { place, prefix, fromDay, tables } = target;
  rule('/from_day', isExportDay(fromDay), 'is a day as 2026-01-31');
  rule('/tables', tables.length > 0, 'names at least one table');
  rule(
    '/prefix',
    prefix === '' || (PREFIX.test(prefix) && !prefix.includes('..') && !prefix.endsWith('.')),
    'holds letters, digits, . _ = - and single slashes between names',
  );
  if (place.kind === 'directory') return found;
  rule('/s3/bucket', BUCKET.test(place.bucket) && !place.bucket.includes('..'), 'is no bucket');
  rule('/s3/region', REGION.test(place.region), 'is no region');
  rule('/s3/access_key_id', ACCESS_KEY.test(place.accessKeyId), 'is printable ASCII');
  rule('/s3/endpoint', isOrigin(place.endpoint), 'is https:// with a host, without path');
  return found;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  const isBare = username === '' && password === '' && search === '' && hash === '';
  return protocol === 'https:' && isBare && pathname === '/';
}

/** A name below the prefix. */
export function prefixed(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}/${name}`;
}
