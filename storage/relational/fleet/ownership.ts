// Who owns which sensor, and what a sensor is labelled with, on PostgreSQL. decision: D43; invariant: I18
import { type Kysely, sql, type Transaction } from 'kysely';
import { replacementOf } from '../../../machines/console/fleet/labels.rules.ts';
import {
  GROUP_SENSORS_MAX,
  GROUPS_PER_SENSOR_MAX,
  TAGS_PER_SENSOR_MAX,
  USER_SENSORS_MAX,
} from '../../../machines/limits.ts';
import {
  auditOfSensorPatch,
  auditOfUserSensors,
  fieldsOf,
  storedPatch,
} from '../../ports/fleet/label-entries.ts';
import type { OwnershipStore, SensorLabels, TeamStore } from '../../ports/fleet/teams.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { createGroupLabels, createTeamLabels, move, unknownOf } from './labels.ts';

/** Makes the store of teams, groups, tags and ownership. */
export function createTeams(db: Kysely<Database>): TeamStore {
  const inOne = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    teams: createTeamLabels(db),
    groups: createGroupLabels(db),
    changeSensor: (input) => inOne((trx) => changeSensor(trx, input)),
    labelsOf: (sensorIds) => orUnavailable(() => labelsOf(db, sensorIds)),
    setUserSensors: (input) => inOne((trx) => setUserSensors(trx, input)),
    userSensors: (userId) =>
      orUnavailable(async () => {
        const id = storableText(userId);
        const known = await sql`SELECT 1 FROM users WHERE user_id = ${id}`.execute(db);
        return known.rows.length === 0 ? null : ownList(db, id);
      }),
    owns: (userId, sensorId) => orUnavailable(() => owns(db, userId, sensorId)),
    ownedBy: (userId) => orUnavailable(() => ownedBy(db, userId)),
  };
}

type Change = Parameters<OwnershipStore['changeSensor']>[0];

async function changeSensor(
  trx: Transaction<Database>,
  input: Change,
): ReturnType<OwnershipStore['changeSensor']> {
  const sensorId = storableText(input.sensorId);
  const sensor = await trx
    .selectFrom('sensors')
    .select('declared_role')
    .where('sensor_id', '=', sensorId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (sensor === undefined) return 'not_found';
  const [labels] = await labelsOf(trx, [sensorId]);
  if (labels === undefined) throw new Error('a sensor without an answer about its labels');
  const had = { ...labels, declaredRole: sensor.declared_role };
  const patch = storedPatch(had, input.patch);
  if ((patch.tags?.length ?? 0) > TAGS_PER_SENSOR_MAX) return 'too_many';
  if ((patch.groupIds?.length ?? 0) > GROUPS_PER_SENSOR_MAX) return 'too_many';
  if (patch.groupIds !== undefined) {
    const refused = await setGroups(trx, { sensorId, before: had.groupIds, after: patch.groupIds });
    if (refused !== null) return refused;
  }
  if (patch.tags !== undefined) await setTags(trx, sensorId, patch.tags);
  if (patch.declaredRole !== undefined)
    await trx
      .updateTable('sensors')
      .set({ declared_role: patch.declaredRole })
      .where('sensor_id', '=', sensorId)
      .execute();
  const before = fieldsOf(had, patch);
  if (JSON.stringify(before) !== JSON.stringify(patch))
    await appendAudit(trx, [auditOfSensorPatch({ ...input, sensorId }, { before, after: patch })]);
  return 'ok';
}

async function setGroups(
  trx: Transaction<Database>,
  set: {
    readonly sensorId: string;
    readonly before: readonly string[];
    readonly after: readonly string[];
  },
): Promise<'too_many' | { readonly unknown: readonly string[] } | null> {
  const { added, removed } = replacementOf(set.before, set.after);
  const groups = await sql<{ id: string; n: number }>`SELECT g.group_id AS id,
      (SELECT count(*)::int FROM sensor_group_members m WHERE m.group_id = g.group_id) AS n
    FROM sensor_groups g WHERE g.group_id = ANY(${added}::text[])
    ORDER BY g.group_id FOR NO KEY UPDATE OF g`.execute(trx);
  const known = new Set(groups.rows.map((row) => row.id));
  const unknown = added.filter((one) => !known.has(one));
  if (unknown.length > 0) return { unknown };
  if (groups.rows.some((row) => row.n >= GROUP_SENSORS_MAX)) return 'too_many';
  await sql`DELETE FROM sensor_group_members WHERE sensor_id = ${set.sensorId}
    AND group_id = ANY(${removed}::text[])`.execute(trx);
  await sql`INSERT INTO sensor_group_members (group_id, sensor_id)
    SELECT one, ${set.sensorId} FROM unnest(${added}::text[]) AS one
    ON CONFLICT DO NOTHING`.execute(trx);
  return null;
}

async function setTags(
  trx: Transaction<Database>,
  sensorId: string,
  tags: readonly string[],
): Promise<void> {
  await trx.deleteFrom('sensor_tags').where('sensor_id', '=', sensorId).execute();
  if (tags.length === 0) return;
  const rows = tags.map((tag) => ({ sensor_id: sensorId, tag }));
  await trx.insertInto('sensor_tags').values(rows).execute();
}

async function labelsOf(
  on: Kysely<Database>,
  sensorIds: readonly string[],
): Promise<readonly SensorLabels[]> {
  if (sensorIds.length === 0) return [];
  const ids = sensorIds.map(storableText);
  const { rows } = await sql<SensorLabels>`SELECT s.id AS "sensorId",
      ARRAY(SELECT tag FROM sensor_tags t WHERE t.sensor_id = s.id ORDER BY tag) AS tags,
      ARRAY(SELECT group_id FROM sensor_group_members g WHERE g.sensor_id = s.id
        ORDER BY group_id) AS "groupIds",
      ARRAY(SELECT team_id FROM team_sensors t WHERE t.sensor_id = s.id
        ORDER BY team_id) AS "teamIds"
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS s(id, place) ORDER BY s.place`.execute(on);
  return rows;
}

async function setUserSensors(
  trx: Transaction<Database>,
  input: Parameters<OwnershipStore['setUserSensors']>[0],
): ReturnType<OwnershipStore['setUserSensors']> {
  const userId = storableText(input.userId);
  const user = await trx
    .selectFrom('users')
    .select('user_id')
    .where('user_id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (user === undefined) return 'not_found';
  const before = await ownList(trx, userId);
  const wanted = [...new Set(input.sensorIds.map(storableText))];
  if (wanted.length > USER_SENSORS_MAX) return 'too_many';
  const change = replacementOf(before, wanted);
  const unknown = await unknownOf(trx, 'sensors', change.added);
  if (unknown.length > 0) return { unknown };
  await move(trx, { table: 'user_sensors', label: 'user_id', member: 'sensor_id' }, userId, change);
  if (change.added.length + change.removed.length > 0)
    await appendAudit(trx, [
      auditOfUserSensors(input, { before: before.length, after: wanted.length, change }),
    ]);
  return 'ok';
}

async function ownList(on: Kysely<Database>, userId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`SELECT sensor_id AS id FROM user_sensors
    WHERE user_id = ${userId} ORDER BY sensor_id`.execute(on);
  return rows.map((row) => row.id);
}

async function owns(on: Kysely<Database>, userId: string, sensorId: string): Promise<boolean> {
  const [user, sensor] = [storableText(userId), storableText(sensorId)];
  const { rows } = await sql<{ owned: boolean }>`SELECT
      EXISTS (SELECT 1 FROM user_sensors WHERE user_id = ${user} AND sensor_id = ${sensor})
      OR EXISTS (SELECT 1 FROM team_members m JOIN team_sensors s ON s.team_id = m.team_id
        WHERE m.user_id = ${user} AND s.sensor_id = ${sensor}) AS owned`.execute(on);
  return rows[0]?.owned === true;
}

async function ownedBy(on: Kysely<Database>, userId: string): Promise<readonly string[]> {
  const user = storableText(userId);
  const { rows } = await sql<{ id: string }>`
    SELECT sensor_id AS id FROM user_sensors WHERE user_id = ${user}
    UNION
    SELECT s.sensor_id FROM team_members m JOIN team_sensors s ON s.team_id = m.team_id
      WHERE m.user_id = ${user}
    ORDER BY id`.execute(on);
  return rows.map((row) => row.id);
}
