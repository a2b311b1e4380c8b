// Exports as the API tells and takes them. The secret is never among it.
import Type from 'typebox';
import { EXPORT_TABLES, exportIdOf } from '../../../machines/console/exports/export-run.rules.ts';
import type { ExportTarget } from '../../../machines/console/exports/target.rules.ts';
import {
  EXPORT_CA_MAX_CHARS,
  EXPORT_ENDPOINT_MAX_CHARS,
  EXPORT_NAME_MAX_CHARS,
  EXPORT_SECRET_MAX_CHARS,
} from '../../../machines/limits.ts';
import type {
  ExportObject,
  ExportRow,
  ExportTargetRow,
} from '../../../storage/ports/exports/export-store.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

const Name = Type.String({ maxLength: EXPORT_NAME_MAX_CHARS });
const Day = Type.String({ maxLength: 10, description: 'a UTC day as 2026-01-31' });
const Tables = Type.Array(Type.Enum([...EXPORT_TABLES]), { maxItems: EXPORT_TABLES.length });
const S3_FIELDS = {
  endpoint: Type.String({
    maxLength: EXPORT_ENDPOINT_MAX_CHARS,
    description: 'https:// and the host of the service',
  }),
  region: Name,
  bucket: Name,
  access_key_id: Name,
};
const Ca = Type.String({
  maxLength: EXPORT_CA_MAX_CHARS,
  description: 'PEM of the only CA that is trusted; null: the public ones',
});

const ProxyUrl = Type.String({
  maxLength: EXPORT_ENDPOINT_MAX_CHARS,
  description: 'the HTTP proxy that stands between, as http://host:port; null: none',
});

export const ExportTargetIn = Strict({
  revision: Type.Integer({ minimum: 0, description: 'The one that was seen; 0: there was none' }),
  kind: Type.Enum(['s3', 'directory']),
  s3: Type.Optional(
    Strict({
      ...S3_FIELDS,
      secret_access_key: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: EXPORT_SECRET_MAX_CHARS,
          description: 'absent: the one before stays',
        }),
      ),
      ca_pem: Type.Optional(Nullable(Ca)),
      proxy_url: Type.Optional(Nullable(ProxyUrl)),
    }),
  ),
  prefix: Type.Optional(Name),
  tables: Type.Optional(Tables),
  from_day: Type.Optional(Day),
  is_on: Type.Optional(Type.Boolean()),
});
export const ExportTargetOut = Type.Object({
  kind: Type.String(),
  s3: Nullable(
    Type.Object({
      ...{ ...S3_FIELDS, has_secret: Type.Boolean() },
      ...{ ca_pem: Nullable(Type.String()), proxy_url: Nullable(Type.String()) },
    }),
  ),
  prefix: Type.String(),
  tables: Type.Array(Type.String()),
  from_day: Day,
  is_on: Type.Boolean(),
  changed_at: Time,
  revision: Type.Integer(),
});
export const ExportRun = Type.Object({
  export_id: Type.String(),
  table: Type.String(),
  day: Day,
  state: Type.String({ description: 'waiting, counting, copying, sealing, done or dead' }),
  rows: Nullable(Type.Integer()),
  parts: Nullable(Type.Integer()),
  copied: Type.Integer(),
  failures: Type.Integer({ description: 'in a row' }),
  reason: Nullable(Type.String({ description: 'why it waits or is dead' })),
  due_at: Nullable(Time),
  ended_at: Nullable(Time),
});
export const ExportRunWhole = Type.Object({
  run: ExportRun,
  distinct: Nullable(Type.Integer({ description: 'different names of rows; of events their ids' })),
  hash_sum: Nullable(Type.String({ description: 'sum of 64-bit hashes of the names' })),
  objects: Type.Array(
    Type.Object({
      name: Type.String(),
      rows: Type.Integer(),
      bytes: Type.Integer(),
      sha256: Type.String(),
    }),
  ),
});
export const ExportTestResult = Type.Object({
  is_written: Type.Boolean(),
  detail: Type.String(),
});
export type ExportTargetIn = Type.Static<typeof ExportTargetIn>;
export type ExportTargetOut = Type.Static<typeof ExportTargetOut>;
export type ExportRun = Type.Static<typeof ExportRun>;
export type ExportRunWhole = Type.Static<typeof ExportRunWhole>;
export type ExportTestResult = Type.Static<typeof ExportTestResult>;

/** The target as it was asked for; `null`: a bucket without its fields. */
export function targetIn(given: ExportTargetIn, today: string): ExportTarget | null {
  const { kind, s3, prefix = '', tables = [...EXPORT_TABLES], from_day: fromDay = today } = given;
  const rest = { prefix, tables: [...new Set(tables)], fromDay, isOn: given.is_on ?? true };
  if (kind === 'directory') return { place: { kind }, ...rest };
  if (s3 === undefined) return null;
  const { endpoint, region, bucket, access_key_id: accessKeyId } = s3;
  const { ca_pem: caPem = null, proxy_url: proxyUrl = null } = s3;
  return { place: { kind, endpoint, region, bucket, accessKeyId, caPem, proxyUrl }, ...rest };
}

export function targetView(row: ExportTargetRow): ExportTargetOut {
  const { place, prefix, tables, fromDay, isOn, secretSealed, changedAtMs, revision } = row;
  return {
    kind: place.kind,
    s3:
      place.kind === 's3'
        ? {
            ...{ endpoint: place.endpoint, region: place.region, bucket: place.bucket },
            ...{ access_key_id: place.accessKeyId, ca_pem: place.caPem },
            ...{ proxy_url: place.proxyUrl ?? null, has_secret: secretSealed !== null },
          }
        : null,
    ...{ prefix, tables: [...tables], from_day: fromDay, is_on: isOn, revision },
    changed_at: timeText(changedAtMs),
  };
}

export function runView(row: ExportRow): ExportRun {
  return {
    export_id: exportIdOf(row),
    table: row.table,
    day: row.day,
    state: row.state,
    rows: row.tally?.rows ?? null,
    parts: row.parts,
    copied: row.copied,
    failures: row.failures,
    reason: row.reason,
    due_at: row.state === 'waiting' ? timeText(row.dueAtMs) : null,
    ended_at: timeTextOrNull(row.endedAtMs),
  };
}

export function wholeView(found: {
  readonly run: ExportRow;
  readonly objects: readonly ExportObject[];
}): ExportRunWhole {
  const { run, objects } = found;
  return {
    run: runView(run),
    distinct: run.tally?.distinct ?? null,
    hash_sum: run.tally?.hashSum ?? null,
    objects: objects.map(({ name, rows, bytes, sha256 }) => ({ name, rows, bytes, sha256 })),
  };
}
