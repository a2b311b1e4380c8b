// Teams and groups on PostgreSQL: the same statements on two sets of tables. A label's row is locked while its members
// change, so that bounds hold when two people change it at once. decision: D43
import { type Kysely, sql, type Transaction } from 'kysely';
import {
  changeOf,
  nameKeyOf,
  type SetChange,
} from '../../../machines/console/fleet/labels.rules.ts';
import {
  GROUP_SENSORS_MAX,
  GROUPS_MAX,
  GROUPS_PER_SENSOR_MAX,
  TEAM_SENSORS_MAX,
  TEAM_USERS_MAX,
  TEAMS_MAX,
} from '../../../machines/limits.ts';
import { auditOfLabel, auditOfMembers, type LabelKind } from '../../ports/fleet/label-entries.ts';
import type { LabelRow, LabelStore, MemberChange } from '../../ports/fleet/teams.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

type On = Kysely<Database> | Transaction<Database>;
type Tables = {
  readonly kind: LabelKind;
  readonly labels: 'teams' | 'sensor_groups';
  readonly id: 'team_id' | 'group_id';
  readonly sensors: 'team_sensors' | 'sensor_group_members';
  readonly labelsMax: number;
  readonly usersMax: number;
  readonly sensorsMax: number;
};
const TEAMS: Tables = {
  kind: 'team',
  labels: 'teams',
  id: 'team_id',
  sensors: 'team_sensors',
  labelsMax: TEAMS_MAX,
  usersMax: TEAM_USERS_MAX,
  sensorsMax: TEAM_SENSORS_MAX,
};
const GROUPS: Tables = {
  kind: 'group',
  labels: 'sensor_groups',
  id: 'group_id',
  sensors: 'sensor_group_members',
  labelsMax: GROUPS_MAX,
  usersMax: 0,
  sensorsMax: GROUP_SENSORS_MAX,
};

/** Makes the store of teams. */
export function createTeamLabels(db: Kysely<Database>): LabelStore {
  return createLabels(db, TEAMS);
}

/** Makes the store of groups. */
export function createGroupLabels(db: Kysely<Database>): LabelStore {
  return createLabels(db, GROUPS);
}

function createLabels(db: Kysely<Database>, of: Tables): LabelStore {
  const inOne = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    create: (input) => inOne((trx) => create(trx, of, input)),
    change: (input) => inOne((trx) => change(trx, of, input)),
    remove: (input) =>
      inOne(async (trx) => {
        const before = await lock(trx, of, storableText(input.id));
        if (before === null) return false;
        await sql`DELETE FROM ${sql.table(of.labels)} WHERE ${sql.ref(of.id)} = ${before.id}`.execute(
          trx,
        );
        await appendAudit(trx, [auditOfLabel(of.kind, input, { before, after: null })]);
        return true;
      }),
    list: ({ limit, after }) =>
      orUnavailable(() =>
        read(
          db,
          of,
          sql`WHERE ${after === null ? sql`true` : sql`l.name_key > ${storableText(after)}`}
            ORDER BY l.name_key LIMIT ${limit}`,
        ),
      ),
    get: (id) => orUnavailable(() => withMembers(db, of, storableText(id))),
    changeMembers: (input) => inOne((trx) => changeMembers(trx, of, input)),
  };
}

async function create(
  trx: On,
  of: Tables,
  input: Parameters<LabelStore['create']>[0],
): ReturnType<LabelStore['create']> {
  await lockNames(trx, of);
  const name = storableText(input.name);
  if (await isTaken(trx, of, { name, by: null })) return 'name_taken';
  const count = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM ${sql.table(of.labels)}`.execute(trx);
  if ((count.rows[0]?.n ?? 0) >= of.labelsMax) return 'too_many';
  const description = storableText(input.description);
  await sql`INSERT INTO ${sql.table(of.labels)}
    (${sql.ref(of.id)}, name, name_key, description, created_at_ms)
    VALUES (${input.id}, ${name}, ${nameKeyOf(name)}, ${description}, ${input.nowMs})`.execute(trx);
  const after: LabelRow = {
    id: input.id,
    name,
    description,
    createdAtMs: input.nowMs,
    users: 0,
    sensors: 0,
  };
  await appendAudit(trx, [auditOfLabel(of.kind, input, { before: null, after })]);
  return after;
}

async function change(
  trx: On,
  of: Tables,
  input: Parameters<LabelStore['change']>[0],
): ReturnType<LabelStore['change']> {
  if (input.name !== undefined) await lockNames(trx, of);
  const before = await lock(trx, of, storableText(input.id));
  if (before === null) return 'not_found';
  const name = storableText(input.name ?? before.name);
  const description = storableText(input.description ?? before.description);
  if (await isTaken(trx, of, { name, by: before.id })) return 'name_taken';
  if (name === before.name && description === before.description) return before;
  await sql`UPDATE ${sql.table(of.labels)}
    SET name = ${name}, name_key = ${nameKeyOf(name)}, description = ${description}
    WHERE ${sql.ref(of.id)} = ${before.id}`.execute(trx);
  const after = { ...before, name, description };
  await appendAudit(trx, [auditOfLabel(of.kind, input, { before, after })]);
  return after;
}

async function changeMembers(
  trx: On,
  of: Tables,
  input: MemberChange,
): ReturnType<LabelStore['changeMembers']> {
  const before = await lock(trx, of, storableText(input.id));
  if (before === null) return 'not_found';
  const had = await membersOf(trx, of, before.id);
  const users = changeOf(had.userIds, asked(input.addUsers, input.removeUsers));
  const sensors = changeOf(had.sensorIds, asked(input.addSensors, input.removeSensors));
  const unknown = [
    ...(await unknownOf(trx, 'users', users.added)),
    ...(await unknownOf(trx, 'sensors', sensors.added)),
  ];
  if (unknown.length > 0) return { unknown };
  if (after(before.users, users) > of.usersMax) return 'too_many';
  if (after(before.sensors, sensors) > of.sensorsMax) return 'too_many';
  if (of.kind === 'group' && (await isInTooMany(trx, sensors.added))) return 'too_many';
  if (of.kind === 'team') await move(trx, TEAM_USERS, before.id, users);
  await move(trx, { table: of.sensors, label: of.id, member: 'sensor_id' }, before.id, sensors);
  const now = {
    ...before,
    ...(await membersOf(trx, of, before.id)),
    users: after(before.users, users),
    sensors: after(before.sensors, sensors),
  };
  if (users.added.length + users.removed.length + sensors.added.length + sensors.removed.length > 0)
    await appendAudit(trx, [
      auditOfMembers(of.kind, input, { before, after: now, users, sensors }),
    ]);
  return now;
}

function asked(add: readonly string[] = [], remove: readonly string[] = []) {
  return { add: add.map(storableText), remove: remove.map(storableText) };
}

function after(count: number, { added, removed }: SetChange): number {
  return count + added.length - removed.length;
}

type Membership = {
  readonly table: 'team_members' | 'team_sensors' | 'sensor_group_members' | 'user_sensors';
  readonly label: 'team_id' | 'group_id' | 'user_id';
  readonly member: 'user_id' | 'sensor_id';
};
const TEAM_USERS: Membership = { table: 'team_members', label: 'team_id', member: 'user_id' };

/** Takes out and puts in what a change names. */
export async function move(
  trx: On,
  { table, label, member }: Membership,
  id: string,
  { added, removed }: SetChange,
): Promise<void> {
  if (removed.length > 0)
    await sql`DELETE FROM ${sql.table(table)}
      WHERE ${sql.ref(label)} = ${id} AND ${sql.ref(member)} = ANY(${removed}::text[])`.execute(
      trx,
    );
  if (added.length > 0)
    await sql`INSERT INTO ${sql.table(table)} (${sql.ref(label)}, ${sql.ref(member)})
      SELECT ${id}, one FROM unnest(${added}::text[]) AS one`.execute(trx);
}

/** Which of the ids nobody has; those that exist stay until the transaction ends. */
export async function unknownOf(
  trx: On,
  table: 'users' | 'sensors',
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const id = sql.ref(table === 'users' ? 'user_id' : 'sensor_id');
  const { rows } = await sql<{ id: string }>`SELECT ${id} AS id FROM ${sql.table(table)}
    WHERE ${id} = ANY(${ids}::text[]) FOR KEY SHARE`.execute(trx);
  const known = new Set(rows.map((row) => row.id));
  return ids.filter((one) => !known.has(one));
}

/** A sensor that joins two groups in the same instant may pass the bound by one; nothing depends on it to the digit. */
async function isInTooMany(trx: On, sensorIds: readonly string[]): Promise<boolean> {
  if (sensorIds.length === 0) return false;
  const { rows } = await sql`SELECT sensor_id FROM sensor_group_members
    WHERE sensor_id = ANY(${sensorIds}::text[])
    GROUP BY sensor_id HAVING count(*) >= ${GROUPS_PER_SENSOR_MAX} LIMIT 1`.execute(trx);
  return rows.length > 0;
}

/** Two that want one name wait for each other; the unique index stands behind. */
async function lockNames(trx: On, of: Tables): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtext(${`labels:${of.labels}`}))`.execute(trx);
}

async function isTaken(
  on: On,
  of: Tables,
  { name, by }: { readonly name: string; readonly by: string | null },
): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM ${sql.table(of.labels)}
    WHERE name_key = ${nameKeyOf(name)}
      AND ${sql.ref(of.id)} IS DISTINCT FROM ${by}::text`.execute(on);
  return rows.length > 0;
}

async function lock(trx: On, of: Tables, id: string): Promise<LabelRow | null> {
  await sql`SELECT 1 FROM ${sql.table(of.labels)} WHERE ${sql.ref(of.id)} = ${id}
    FOR NO KEY UPDATE`.execute(trx);
  return one(trx, of, id);
}

async function one(on: On, of: Tables, id: string): Promise<LabelRow | null> {
  const [row] = await read(on, of, sql`WHERE ${sql.ref(`l.${of.id}`)} = ${id}`);
  return row ?? null;
}

async function read(
  on: On,
  of: Tables,
  which: ReturnType<typeof sql>,
): Promise<readonly LabelRow[]> {
  const id = sql.ref(`l.${of.id}`);
  const users =
    of.kind === 'team'
      ? sql`(SELECT count(*)::int FROM team_members m WHERE m.team_id = ${id})`
      : sql`0`;
  const { rows } = await sql<LabelRow>`SELECT ${id} AS id, l.name, l.description,
      l.created_at_ms AS "createdAtMs", ${users} AS users,
      (SELECT count(*)::int FROM ${sql.table(of.sensors)} s
        WHERE ${sql.ref(`s.${of.id}`)} = ${id}) AS sensors
    FROM ${sql.table(of.labels)} AS l ${which}`.execute(on);
  return rows;
}

async function withMembers(on: On, of: Tables, id: string): ReturnType<LabelStore['get']> {
  const row = await one(on, of, id);
  return row === null ? null : { ...row, ...(await membersOf(on, of, id)) };
}

async function membersOf(on: On, of: Tables, id: string) {
  const sensorIds = await sql<{ id: string }>`SELECT sensor_id AS id
    FROM ${sql.table(of.sensors)} WHERE ${sql.ref(of.id)} = ${id} ORDER BY sensor_id`.execute(on);
  if (of.kind === 'group') return { userIds: [], sensorIds: sensorIds.rows.map((row) => row.id) };
  const userIds = await sql<{ id: string }>`SELECT user_id AS id FROM team_members
    WHERE team_id = ${id} ORDER BY user_id`.execute(on);
  return {
    userIds: userIds.rows.map((row) => row.id),
    sensorIds: sensorIds.rows.map((row) => row.id),
  };
}
