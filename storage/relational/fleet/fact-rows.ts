// Heartbeat facts of many sensors in one statement; an older report never replaces a newer one of another group or
// replica. decision: D5; invariant: I10, I15
import { type Kysely, sql } from 'kysely';
import type { HeartbeatFacts } from '../../ports/fleet/sensor-registry.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';

/** Writes at most one row per sensor; rejects when the database cannot take them. */
export async function writeFactRows(
  db: Kysely<Database>,
  rows: readonly HeartbeatFacts[],
): Promise<void> {
  await sql`
    UPDATE sensors AS s
    SET last_heartbeat_at_ms = v.received_at_ms, boot_id = v.boot_id,
      sensor_version = v.sensor_version, flavor = v.flavor, flavor_mismatch = v.flavor_mismatch,
      declared_role = CASE WHEN s.told_role <> v.told_role THEN nullif(v.told_role, '')
        ELSE s.declared_role END,
      told_role = v.told_role, system = v.system::json, facts = v.facts::json
    FROM unnest(
      ${rows.map((row) => row.sensorId)}::text[],
      ${rows.map((row) => row.receivedAtMs)}::bigint[],
      ${rows.map((row) => storableText(row.bootId))}::text[],
      ${rows.map((row) => storableText(row.sensorVersion))}::text[],
      ${rows.map((row) => row.flavor)}::text[],
      ${rows.map((row) => row.flavorMismatch)}::boolean[],
      ${rows.map((row) => storableText(row.declaredRole ?? ''))}::text[],
      ${rows.map((row) => JSON.stringify(row.system))}::text[],
      ${rows.map((row) => JSON.stringify(row.facts))}::text[]
    ) AS v (sensor_id, received_at_ms, boot_id, sensor_version, flavor, flavor_mismatch, told_role,
      system, facts)
    WHERE s.sensor_id = v.sensor_id
      AND (s.last_heartbeat_at_ms IS NULL OR s.last_heartbeat_at_ms <= v.received_at_ms)
  `.execute(db);
}
