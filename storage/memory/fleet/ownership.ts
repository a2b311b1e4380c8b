// What sensors are labelled with and who owns them, in memory. decision: D43; invariant: I18
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
import type { OwnershipStore, SensorLabels } from '../../ports/fleet/teams.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import { type Labelled, type LabelsState, labelIdsOf } from './labels.ts';

/** The calls on the labels of sensors and the lists of people. */
export function ownershipCalls(state: LabelsState, about: Labelled): Calls<OwnershipStore> {
  function labelsOf(sensorId: string): SensorLabels {
    return {
      sensorId,
      tags: state.tags.get(sensorId) ?? [],
      groupIds: labelIdsOf(state, 'group', sensorId),
      teamIds: labelIdsOf(state, 'team', sensorId),
    };
  }

  function changeSensor(input: Parameters<OwnershipStore['changeSensor']>[0]) {
    const { sensorId } = input;
    const sensor = about.sensors.get(sensorId);
    if (sensor === undefined) return 'not_found';
    const had = { ...labelsOf(sensorId), declaredRole: sensor.declaredRole };
    const patch = storedPatch(had, input.patch);
    if ((patch.tags?.length ?? 0) > TAGS_PER_SENSOR_MAX) return 'too_many';
    if ((patch.groupIds?.length ?? 0) > GROUPS_PER_SENSOR_MAX) return 'too_many';
    const { added, removed } = replacementOf(had.groupIds, patch.groupIds ?? had.groupIds);
    const unknown = added.filter((one) => !state.group.has(one));
    if (unknown.length > 0) return { unknown };
    const isFull = (id: string) => (state.group.get(id)?.sensorIds.size ?? 0) >= GROUP_SENSORS_MAX;
    if (added.some(isFull)) return 'too_many';
    for (const group of state.group.values()) {
      const sensorIds = new Set(group.sensorIds);
      if (added.includes(group.id)) sensorIds.add(sensorId);
      if (removed.includes(group.id)) sensorIds.delete(sensorId);
      state.group.set(group.id, { ...group, sensorIds });
    }
    if (patch.tags !== undefined) state.tags.set(sensorId, patch.tags);
    const declaredRole = patch.declaredRole;
    if (declaredRole !== undefined) about.sensors.set(sensorId, { ...sensor, declaredRole });
    const before = fieldsOf(had, patch);
    if (JSON.stringify(before) !== JSON.stringify(patch))
      about.record(auditOfSensorPatch(input, { before, after: patch }));
    return 'ok';
  }

  function setUserSensors(input: Parameters<OwnershipStore['setUserSensors']>[0]) {
    const { userId } = input;
    if (!about.hasUser(userId)) return 'not_found';
    const before = state.lists.get(userId) ?? [];
    const wanted = [...new Set(input.sensorIds)].sort();
    if (wanted.length > USER_SENSORS_MAX) return 'too_many';
    const change = replacementOf(before, wanted);
    const unknown = change.added.filter((one) => !about.sensors.has(one));
    if (unknown.length > 0) return { unknown };
    state.lists.set(userId, wanted);
    if (change.added.length + change.removed.length > 0) {
      const sizes = { before: before.length, after: wanted.length };
      about.record(auditOfUserSensors(input, { ...sizes, change }));
    }
    return 'ok';
  }

  function ownedBy(userId: string): readonly string[] {
    if (!about.hasUser(userId)) return [];
    const teams = [...state.team.values()].filter(({ userIds }) => userIds.has(userId));
    const owned = teams.flatMap(({ sensorIds }) => [...sensorIds]);
    return [...new Set([...(state.lists.get(userId) ?? []), ...owned])].sort();
  }

  return {
    changeSensor,
    labelsOf: (sensorIds) => sensorIds.map(labelsOf),
    setUserSensors,
    userSensors: (userId) => (about.hasUser(userId) ? (state.lists.get(userId) ?? []) : null),
    owns: (userId, sensorId) => ownedBy(userId).includes(sensorId),
    ownedBy,
  };
}
