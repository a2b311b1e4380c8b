// What the stores write into the audit log about teams, groups, sensors' labels and people's own lists; PostgreSQL and
// the reference fake say the same, because both say it here. invariant: I11
import { changeOf, type SetChange } from '../../../machines/console/fleet/labels.rules.ts';
import type { AuditEntry } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import { storableText } from '../plumbing/stored-text.ts';
import type { LabelRow, SensorPatch, SensorPatchAsked } from './teams.ts';

export type LabelKind = 'team' | 'group';

function entryOf(
  doing: AuditContext,
  what: Pick<AuditEntry, 'action' | 'target' | 'before' | 'after'> & Partial<AuditEntry>,
): AuditEntry {
  return {
    atMs: doing.nowMs,
    actor: doing.actor,
    from: doing.from,
    result: 'ok',
    detail: {},
    ...what,
  };
}

function factsOf({ name, description, users, sensors }: LabelRow) {
  return { name, description, users, sensors };
}

/** Made, changed or removed: `before` is null for what is new, `after` for what is gone. */
export function auditOfLabel(
  kind: LabelKind,
  doing: AuditContext,
  rows: { readonly before: LabelRow | null; readonly after: LabelRow | null },
): AuditEntry {
  const { before, after } = rows;
  const verb = before === null ? 'create' : after === null ? 'remove' : 'change';
  return entryOf(doing, {
    action: `${kind}.${verb}`,
    target: (after ?? before)?.id ?? '',
    before: before === null ? null : factsOf(before),
    after: after === null ? null : factsOf(after),
  });
}

/** Who joined and who left. */
export function auditOfMembers(
  kind: LabelKind,
  doing: AuditContext,
  changed: {
    readonly before: LabelRow;
    readonly after: LabelRow;
    readonly users: SetChange;
    readonly sensors: SetChange;
  },
): AuditEntry {
  const { before, after, users, sensors } = changed;
  return entryOf(doing, {
    action: `${kind}.members`,
    target: after.id,
    before: { users: before.users, sensors: before.sensors },
    after: { users: after.users, sensors: after.sensors },
    detail: {
      users_added: users.added,
      users_removed: users.removed,
      sensors_added: sensors.added,
      sensors_removed: sensors.removed,
    },
  });
}

/** The fields of a sensor that a patch names, before and after it. */
export function auditOfSensorPatch(
  doing: AuditContext & { readonly sensorId: string },
  rows: { readonly before: SensorPatch; readonly after: SensorPatch },
): AuditEntry {
  return entryOf(doing, {
    action: 'sensor.change',
    target: doing.sensorId,
    before: patchFacts(rows.before),
    after: patchFacts(rows.after),
  });
}

function patchFacts({ tags, groupIds, declaredRole }: SensorPatch) {
  return {
    ...(tags === undefined ? {} : { tags }),
    ...(groupIds === undefined ? {} : { group_ids: groupIds }),
    ...(declaredRole === undefined ? {} : { declared_role: declaredRole }),
  };
}

/** A person's own list, as a number and as what moved. */
export function auditOfUserSensors(
  doing: AuditContext & { readonly userId: string },
  list: { readonly before: number; readonly after: number; readonly change: SetChange },
): AuditEntry {
  return entryOf(doing, {
    action: 'user.sensors',
    target: doing.userId,
    before: { sensors: list.before },
    after: { sensors: list.after },
    detail: { sensors_added: list.change.added, sensors_removed: list.change.removed },
  });
}

/** A patch as it is stored over what the sensor has: storable texts, sets in order, moves as the sets they lead to. */
export function storedPatch(had: Required<SensorPatch>, asked: SensorPatchAsked): SensorPatch {
  const { declaredRole } = asked;
  const tags = storedSet(had.tags, asked.tags, asked.moveTags);
  const groupIds = storedSet(had.groupIds, asked.groupIds, asked.moveGroups);
  return {
    ...(tags === undefined ? {} : { tags }),
    ...(groupIds === undefined ? {} : { groupIds }),
    ...(declaredRole === undefined
      ? {}
      : { declaredRole: declaredRole === null ? null : storableText(declaredRole) }),
  };
}

function storedSet(
  had: readonly string[],
  replaced: readonly string[] | undefined,
  moves: SensorPatchAsked['moveTags'],
): readonly string[] | undefined {
  if (replaced !== undefined) return [...new Set(replaced.map(storableText))].sort();
  if (moves === undefined) return undefined;
  const [add, remove] = [moves.add.map(storableText), moves.remove.map(storableText)];
  const { added, removed } = changeOf(had, { add, remove });
  if (added.length + removed.length === 0) return undefined;
  return [...had.filter((one) => !removed.includes(one)), ...added].sort();
}

/** Of what a sensor had, the fields that a patch names. */
export function fieldsOf(had: Required<SensorPatch>, patch: SensorPatch): SensorPatch {
  return {
    ...(patch.tags === undefined ? {} : { tags: had.tags }),
    ...(patch.groupIds === undefined ? {} : { groupIds: had.groupIds }),
    ...(patch.declaredRole === undefined ? {} : { declaredRole: had.declaredRole }),
  };
}
