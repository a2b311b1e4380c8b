// Rows as the ports name them.

import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { ContainmentOrderRow } from '../../ports/containment/containment-orders.ts';
import type {
  BriefSensor,
  CertificateRow,
  IdentityRecord,
  SensorRow,
  TokenRow,
} from '../../ports/fleet/sensor-registry.ts';
import type { Database } from '../plumbing/tables.ts';
import type { CertificatesTable, SensorsTable, TokensTable } from './tables.ts';

/** Keeps the locks of keys apart from other advisory locks. */
const KEY_LOCK_SEED = 7_210_154_832;

/** Sensors with the expiry of their current certificate. */
export function selectSensors(db: Kysely<Database>) {
  return db
    .selectFrom('sensors as s')
    .leftJoin('sensor_certificates as c', (join) =>
      join.onRef('c.sensor_id', '=', 's.sensor_id').on('c.status', '=', 'current'),
    )
    .leftJoin('containment_orders as o', 'o.order_id', 's.containment_order_id')
    .selectAll('s')
    .select([
      'c.not_after_ms as current_not_after_ms',
      'o.wanted as order_wanted',
      'o.reason as order_reason',
      'o.ordered_by as order_by',
      'o.ordered_at_ms as order_at_ms',
      'o.until_ms as order_until_ms',
    ]);
}

// A node tells any text. `json` keeps every escape, but its operators refuse the whole value for one that no text of
// PostgreSQL can hold: a NUL, or half of a surrogate pair.
const ENGINE_KIND = sql<string | null>`(CASE WHEN strpos(s.facts::text, '\\u') = 0 THEN s.facts ELSE
  regexp_replace(s.facts::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json
  END) -> 'engine' ->> 'kind'`;

/** The same without what is long. */
export function selectBriefly(db: Kysely<Database>) {
  return db
    .selectFrom('sensors as s')
    .leftJoin('sensor_certificates as c', (join) =>
      join.onRef('c.sensor_id', '=', 's.sensor_id').on('c.status', '=', 'current'),
    )
    .select([
      's.sensor_id',
      's.node_name',
      's.flavor',
      's.system',
      's.sensor_version',
      's.enrolled_at_ms',
      's.revoked_at_ms',
      's.last_heartbeat_at_ms',
      'c.not_after_ms as current_not_after_ms',
      ENGINE_KIND.as('engine_kind'),
    ]);
}

type BriefRow = Awaited<ReturnType<ReturnType<typeof selectBriefly>['execute']>>[number];

export function briefOf(row: BriefRow): BriefSensor {
  return {
    sensorId: row.sensor_id,
    nodeName: row.node_name,
    flavor: row.flavor,
    system: row.system,
    sensorVersion: row.sensor_version,
    enrolledAtMs: row.enrolled_at_ms,
    revokedAtMs: row.revoked_at_ms,
    lastHeartbeatAtMs: row.last_heartbeat_at_ms,
    currentNotAfterMs: row.current_not_after_ms,
    engineKind: row.engine_kind,
  };
}

export function sensorOf(
  row: Selectable<SensorsTable> & { readonly current_not_after_ms: number | null } & OrderColumns,
): SensorRow {
  const order = orderIn(row);
  return {
    ...(order === null ? {} : { containmentOrder: order }),
    sensorId: row.sensor_id,
    nodeName: row.node_name,
    flavor: row.flavor,
    declaredRole: row.declared_role,
    labels: row.labels,
    system: row.system,
    bootId: row.boot_id,
    sensorVersion: row.sensor_version,
    flavorMismatch: row.flavor_mismatch,
    enrolledAtMs: row.enrolled_at_ms,
    revokedAtMs: row.revoked_at_ms,
    revokedReason: row.revoked_reason,
    lastHeartbeatAtMs: row.last_heartbeat_at_ms,
    currentNotAfterMs: row.current_not_after_ms,
    facts: row.facts,
  };
}

type OrderColumns = {
  readonly order_wanted: 'contained' | 'released' | null;
  readonly order_reason: string | null;
  readonly order_by: string | null;
  readonly order_at_ms: number | null;
  readonly order_until_ms: number | null;
};

function orderIn(
  row: OrderColumns & Pick<Selectable<SensorsTable>, 'sensor_id' | 'containment_order_id'>,
): ContainmentOrderRow | null {
  if (row.containment_order_id === null || row.order_wanted === null) return null;
  return {
    orderId: row.containment_order_id,
    sensorId: row.sensor_id,
    wanted: row.order_wanted,
    reason: row.order_reason ?? '',
    orderedBy: row.order_by ?? '',
    orderedAtMs: row.order_at_ms ?? 0,
    untilMs: row.order_until_ms,
  };
}

/** Identities with what the gateway must know of their sensor, oldest first. */
export function selectIdentities(db: Kysely<Database>) {
  return db
    .selectFrom('sensor_certificates as c')
    .innerJoin('sensors as s', 's.sensor_id', 'c.sensor_id')
    .select([
      'c.fingerprint',
      'c.sensor_id',
      's.node_name',
      'c.status',
      'c.not_after_ms',
      'c.superseded_at_ms',
      's.revoked_at_ms',
      's.containment_order_id',
    ])
    .orderBy('c.created_at_ms')
    .orderBy('c.fingerprint');
}

type IdentityColumns = Pick<
  Selectable<CertificatesTable>,
  'fingerprint' | 'sensor_id' | 'status' | 'not_after_ms' | 'superseded_at_ms'
> &
  Pick<Selectable<SensorsTable>, 'node_name' | 'revoked_at_ms' | 'containment_order_id'>;

export function identityOf(row: IdentityColumns): IdentityRecord {
  return {
    fingerprint: row.fingerprint,
    sensorId: row.sensor_id,
    nodeName: row.node_name,
    status: row.status,
    notAfterMs: row.not_after_ms,
    supersededAtMs: row.superseded_at_ms,
    sensorRevokedAtMs: row.revoked_at_ms,
    ...(row.containment_order_id === null ? {} : { containmentOrderId: row.containment_order_id }),
  };
}

export async function readIdentities(
  db: Kysely<Database>,
  sensorId: string,
): Promise<readonly IdentityRecord[]> {
  const rows = await selectIdentities(db).where('c.sensor_id', '=', sensorId).execute();
  return rows.map(identityOf);
}

export function certificateOf(row: Selectable<CertificatesTable>): CertificateRow {
  return {
    fingerprint: row.fingerprint,
    reference: row.reference,
    serial: row.serial,
    keyDigest: row.key_digest,
    pem: row.pem,
    notBeforeMs: row.not_before_ms,
    notAfterMs: row.not_after_ms,
  };
}

/**
 * Whether a key was ever of another sensor: it serves one identity only. Whoever asks for the same key waits here until
 * the transaction that asked first has ended, so two of them never both see nobody.
 */
export async function isKeyOfAnother(
  trx: Transaction<Database>,
  keyDigest: string,
  sensorId: string,
): Promise<boolean> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${keyDigest}, ${KEY_LOCK_SEED}))`.execute(
    trx,
  );
  const other = await trx
    .selectFrom('sensor_certificates')
    .select('fingerprint')
    .where('key_digest', '=', keyDigest)
    .where('sensor_id', '!=', sensorId)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

export async function insertCertificate(
  db: Kysely<Database>,
  certificate: CertificateRow,
  more: {
    readonly sensorId: string;
    readonly status: 'pending' | 'current';
    readonly nowMs: number;
  },
): Promise<void> {
  await db
    .insertInto('sensor_certificates')
    .values({
      fingerprint: certificate.fingerprint,
      sensor_id: more.sensorId,
      status: more.status,
      reference: certificate.reference,
      serial: certificate.serial,
      key_digest: certificate.keyDigest,
      pem: certificate.pem,
      not_before_ms: certificate.notBeforeMs,
      not_after_ms: certificate.notAfterMs,
      created_at_ms: more.nowMs,
      superseded_at_ms: null,
    })
    .execute();
}

export function tokenOf(row: Selectable<TokensTable>): TokenRow {
  return {
    tokenId: row.token_id,
    kind: row.kind,
    sensorId: row.sensor_id,
    note: row.note,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    consumedAtMs: row.consumed_at_ms,
    revokedAtMs: row.revoked_at_ms,
    consumedKeyDigest: row.consumed_key_digest,
  };
}
