// Teams and groups in memory, each label with its members as sets.
import { changeOf, nameKeyOf } from '../../../machines/console/fleet/labels.rules.ts';
import {
  GROUP_SENSORS_MAX,
  GROUPS_MAX,
  GROUPS_PER_SENSOR_MAX,
  TEAM_SENSORS_MAX,
  TEAM_USERS_MAX,
  TEAMS_MAX,
} from '../../../machines/limits.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import { auditOfLabel, auditOfMembers, type LabelKind } from '../../ports/fleet/label-entries.ts';
import type { LabelFilter, SensorRow } from '../../ports/fleet/sensor-registry.ts';
import type { LabelRow, LabelStore, MemberChange, TeamMembers } from '../../ports/fleet/teams.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

export type Label = Pick<LabelRow, 'id' | 'name' | 'description' | 'createdAtMs'> & {
  readonly userIds: ReadonlySet<string>;
  readonly sensorIds: ReadonlySet<string>;
};
export type LabelsState = {
  readonly team: Map<string, Label>;
  readonly group: Map<string, Label>;
  /** By sensor. */
  readonly tags: Map<string, readonly string[]>;
  /** By user. */
  readonly lists: Map<string, readonly string[]>;
};

/** Whom and what the labels are about. */
export type Labelled = {
  readonly record: (entry: AuditEntry) => void;
  readonly hasUser: (userId: string) => boolean;
  readonly sensors: Map<string, SensorRow>;
};

const BOUNDS = {
  team: { labels: TEAMS_MAX, users: TEAM_USERS_MAX, sensors: TEAM_SENSORS_MAX },
  group: { labels: GROUPS_MAX, users: 0, sensors: GROUP_SENSORS_MAX },
} as const;

/** Nobody is labelled. */
export function emptyLabels(): LabelsState {
  return { team: new Map(), group: new Map(), tags: new Map(), lists: new Map() };
}

/** Whether a sensor carries every label that a filter names. */
export function isLabelled(state: LabelsState, sensorId: string, filter: LabelFilter): boolean {
  const { tag, groupId, teamId } = filter;
  return (
    (tag === undefined || (state.tags.get(sensorId) ?? []).includes(tag)) &&
    (groupId === undefined || state.group.get(groupId)?.sensorIds.has(sensorId) === true) &&
    (teamId === undefined || state.team.get(teamId)?.sensorIds.has(sensorId) === true)
  );
}

/** Ids of the labels of one kind that a sensor carries, in order. */
export function labelIdsOf(state: LabelsState, kind: LabelKind, sensorId: string) {
  const own = [...state[kind].values()].filter(({ sensorIds }) => sensorIds.has(sensorId));
  return own.map(({ id }) => id).sort();
}

/** The calls on the labels of one kind. */
export function labelCalls(
  state: LabelsState,
  kind: LabelKind,
  about: Labelled,
): Calls<LabelStore> {
  const labels = state[kind];

  function membersOf({ userIds, sensorIds }: Label): TeamMembers {
    return {
      userIds: [...userIds].filter(about.hasUser).sort(),
      sensorIds: [...sensorIds].sort(),
    };
  }

  function rowOf(label: Label): LabelRow {
    const { id, name, description, createdAtMs } = label;
    const { userIds, sensorIds } = membersOf(label);
    const counts = { users: userIds.length, sensors: sensorIds.length };
    return { id, name, description, createdAtMs, ...counts };
  }

  function isTaken(name: string, by: string | null): boolean {
    const key = nameKeyOf(name);
    return [...labels.values()].some((one) => one.id !== by && nameKeyOf(one.name) === key);
  }

  function change(input: Parameters<LabelStore['change']>[0]) {
    const label = labels.get(input.id);
    if (label === undefined) return 'not_found';
    const before = rowOf(label);
    const name = storableText(input.name ?? before.name);
    const description = storableText(input.description ?? before.description);
    if (isTaken(name, label.id)) return 'name_taken';
    if (name === before.name && description === before.description) return before;
    const changed = { ...label, name, description };
    labels.set(label.id, changed);
    about.record(auditOfLabel(kind, input, { before, after: rowOf(changed) }));
    return rowOf(changed);
  }

  function changeMembers(input: MemberChange) {
    const label = labels.get(input.id);
    if (label === undefined) return 'not_found';
    const { addUsers = [], removeUsers = [], addSensors = [], removeSensors = [] } = input;
    const [before, had] = [rowOf(label), membersOf(label)];
    const users = changeOf(had.userIds, { add: addUsers, remove: removeUsers });
    const sensors = changeOf(had.sensorIds, { add: addSensors, remove: removeSensors });
    const unknown = [
      ...users.added.filter((one) => !about.hasUser(one)),
      ...sensors.added.filter((one) => !about.sensors.has(one)),
    ];
    if (unknown.length > 0) return { unknown };
    const changed = {
      ...label,
      userIds: moved(had.userIds, users),
      sensorIds: moved(had.sensorIds, sensors),
    };
    const after = rowOf(changed);
    if (after.users > BOUNDS[kind].users || after.sensors > BOUNDS[kind].sensors) return 'too_many';
    const isFull = (one: string) => labelIdsOf(state, kind, one).length >= GROUPS_PER_SENSOR_MAX;
    if (kind === 'group' && sensors.added.some(isFull)) return 'too_many';
    labels.set(label.id, changed);
    const moves = [users.added, users.removed, sensors.added, sensors.removed];
    if (moves.some((one) => one.length > 0))
      about.record(auditOfMembers(kind, input, { before, after, users, sensors }));
    return { ...after, ...membersOf(changed) };
  }

  return {
    create(input) {
      const name = storableText(input.name);
      if (isTaken(name, null)) return 'name_taken';
      if (labels.size >= BOUNDS[kind].labels) return 'too_many';
      const { id, nowMs: createdAtMs } = input;
      const description = storableText(input.description);
      const label: Label = {
        ...{ id, name, description, createdAtMs },
        ...{ userIds: new Set(), sensorIds: new Set() },
      };
      labels.set(id, label);
      about.record(auditOfLabel(kind, input, { before: null, after: rowOf(label) }));
      return rowOf(label);
    },
    change,
    remove(input) {
      const label = labels.get(input.id);
      if (label === undefined) return false;
      labels.delete(input.id);
      about.record(auditOfLabel(kind, input, { before: rowOf(label), after: null }));
      return true;
    },
    list: ({ limit, after }) =>
      [...labels.values()]
        .filter(({ name }) => after === null || byCodePoint(nameKeyOf(name), after) > 0)
        .sort((a, b) => byCodePoint(nameKeyOf(a.name), nameKeyOf(b.name)))
        .slice(0, limit)
        .map(rowOf),
    get(id) {
      const label = labels.get(id);
      return label === undefined ? null : { ...rowOf(label), ...membersOf(label) };
    },
    changeMembers,
  };
}

function moved(
  before: readonly string[],
  { added, removed }: ReturnType<typeof changeOf>,
): ReadonlySet<string> {
  return new Set([...before.filter((one) => !removed.includes(one)), ...added]);
}

/** As the database orders text under "C": by its bytes. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
