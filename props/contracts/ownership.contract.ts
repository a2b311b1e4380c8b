// The promises of sensors' labels and of who owns which sensor. decision: D43; invariant: I18
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GROUPS_PER_SENSOR_MAX, TAGS_PER_SENSOR_MAX } from '../../machines/limits.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { addMember, addSensor, type LabelPorts, lastEntries } from './labels.ts';
import { CONTEXT } from './people.ts';
import { HOSTILE, hex } from './samples.ts';
import { made } from './teams.contract.ts';

export function ownershipContract(harness: Harness<LabelPorts>): void {
  const { port } = harness;
  const store = () => port().teams;

  describe('labels of a sensor', () => {
    it('should be replaced together, and told before and after', async () => {
      const sensorId = await addSensor(port());
      const group = await made(store().groups);
      const change = (patch: Parameters<LabelPorts['teams']['changeSensor']>[0]['patch']) =>
        store().changeSensor({ ...CONTEXT, sensorId, patch });
      const first = { tags: ['b', 'a', 'b'], groupIds: [group.id], declaredRole: HOSTILE };
      expect(await change(first)).toBe('ok');
      const labels = { sensorId, tags: ['a', 'b'], groupIds: [group.id], teamIds: [] };
      expect(await store().labelsOf([sensorId])).toEqual([labels]);
      const row = await port().sensors.getSensor(sensorId);
      expect(row?.declaredRole).toBe(HOSTILE.replace('\0', '\uFFFD'));
      expect(await change({ tags: ['b', 'a'] })).toBe('ok');
      expect(await change({ tags: ['c'], declaredRole: null })).toBe('ok');
      expect(await store().labelsOf([sensorId])).toEqual([{ ...labels, tags: ['c'] }]);
      expect((await port().sensors.getSensor(sensorId))?.declaredRole).toBeNull();
      const told = await lastEntries(port(), sensorId);
      expect(told.map(({ action }) => action)).toEqual(['sensor.change', 'sensor.change']);
      expect(told[1]).toMatchObject({ after: { tags: ['c'], declared_role: null } });
      expect(told[1]?.before).toEqual({ tags: ['a', 'b'], declared_role: row?.declaredRole });
    });

    it('should stay as they are when one of them is refused', async () => {
      const sensorId = await addSensor(port());
      const group = await made(store().groups);
      await store().changeSensor({ ...CONTEXT, sensorId, patch: { tags: ['a'] } });
      const nobody = randomUUID();
      const patch = { tags: ['b'], groupIds: [group.id, nobody], declaredRole: 'amf' };
      const refused = await store().changeSensor({ ...CONTEXT, sensorId, patch });
      expect(refused).toEqual({ unknown: [nobody] });
      const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
      for (const over of [
        { tags: many(TAGS_PER_SENSOR_MAX + 1) },
        { groupIds: many(GROUPS_PER_SENSOR_MAX + 1) },
      ]) {
        const answer = await store().changeSensor({ ...CONTEXT, sensorId, patch: over });
        expect(answer).toBe('too_many');
      }
      const labels = { sensorId, tags: ['a'], groupIds: [], teamIds: [] };
      expect(await store().labelsOf([sensorId])).toEqual([labels]);
      expect((await port().sensors.getSensor(sensorId))?.declaredRole).toBeNull();
      const absent = { ...CONTEXT, sensorId: 'no\0thing', patch: { tags: [] } };
      expect(await store().changeSensor(absent)).toBe('not_found');
    });

    it('should all hold when many move them at the same time, and keep to the bound', async () => {
      const sensorId = await addSensor(port());
      const groups = await Promise.all([made(store().groups), made(store().groups)]);
      const move = (patch: Parameters<LabelPorts['teams']['changeSensor']>[0]['patch']) =>
        store().changeSensor({ ...CONTEXT, sensorId, patch });
      expect(await move({ tags: ['old', 'stays'] })).toBe('ok');
      const tags = Array.from({ length: 6 }, (_, index) => `t${index}`);
      const answers = await Promise.all([
        ...tags.map((tag) => move({ moveTags: { add: [tag], remove: ['never'] } })),
        ...groups.map(({ id }) => move({ moveGroups: { add: [id], remove: [] } })),
        move({ moveTags: { add: ['stays'], remove: ['old', 'stays'] } }),
      ]);
      expect(answers.filter((answer) => answer !== 'ok')).toEqual([]);
      const groupIds = groups.map(({ id }) => id).sort();
      const labels = { sensorId, tags: ['stays', ...tags], groupIds, teamIds: [] };
      expect(await store().labelsOf([sensorId])).toEqual([labels]);
      const many = Array.from({ length: TAGS_PER_SENSOR_MAX }, (_, index) => `m${index}`);
      expect(await move({ moveTags: { add: many, remove: [] } })).toBe('too_many');
      // What moves nothing is nothing to tell.
      const before = await lastEntries(port(), sensorId);
      expect(await move({ moveTags: { add: ['t1'], remove: ['old'] } })).toBe('ok');
      expect(await lastEntries(port(), sensorId)).toEqual(before);
      expect(await store().labelsOf([sensorId])).toEqual([labels]);
    });

    it('should be told for many sensors in their order', async () => {
      const [one, two] = [await addSensor(port()), await addSensor(port())];
      const [team, group] = [await made(store().teams), await made(store().groups)];
      const addSensors = [one, two];
      await store().teams.changeMembers({ ...CONTEXT, id: team.id, addSensors });
      await store().groups.changeMembers({ ...CONTEXT, id: group.id, addSensors: [two] });
      const nothing = randomUUID();
      expect(await store().labelsOf([two, nothing, one])).toEqual([
        { sensorId: two, tags: [], groupIds: [group.id], teamIds: [team.id] },
        { sensorId: nothing, tags: [], groupIds: [], teamIds: [] },
        { sensorId: one, tags: [], groupIds: [], teamIds: [team.id] },
      ]);
      expect(await store().labelsOf([])).toEqual([]);
      await store().teams.remove({ ...CONTEXT, id: team.id });
      expect((await store().labelsOf([one]))[0]?.teamIds).toEqual([]);
    });

    it('should find the sensors that carry all of them', async () => {
      const mark = hex(6);
      const [one, two] = [
        await addSensor(port(), `${mark}-1`),
        await addSensor(port(), `${mark}-2`),
      ];
      const [team, group] = [await made(store().teams), await made(store().groups)];
      const addSensors = [one, two];
      await store().teams.changeMembers({ ...CONTEXT, id: team.id, addSensors });
      const patch = { tags: [`t-${mark}`], groupIds: [group.id] };
      await store().changeSensor({ ...CONTEXT, sensorId: two, patch });
      const found = async (filter: { tag?: string; groupId?: string; teamId?: string }) => {
        const rows = await port().sensors.listSensors({ limit: 10, after: null, ...filter });
        return rows.map((row) => row.sensorId);
      };
      expect(await found({ teamId: team.id })).toEqual([one, two]);
      expect(await found({ tag: `t-${mark}` })).toEqual([two]);
      expect(await found({ tag: `t-${mark}`, groupId: group.id, teamId: team.id })).toEqual([two]);
      expect(await found({ groupId: group.id, tag: 'other' })).toEqual([]);
      expect(await found({ tag: 'no\0tag' })).toEqual([]);
    });
  });

  describe('owning a sensor', () => {
    it('should come by a team or the own list, and go with either', async () => {
      const [user, other] = [await addMember(port()), await addMember(port())];
      const [listed, ofTeam, both] = [
        await addSensor(port()),
        await addSensor(port()),
        await addSensor(port()),
      ];
      const { id } = await made(store().teams);
      const addSensors = [ofTeam, both];
      await store().teams.changeMembers({ ...CONTEXT, id, addUsers: [user], addSensors });
      const list = { ...CONTEXT, userId: user, sensorIds: [listed, both, listed] };
      expect(await store().setUserSensors(list)).toBe('ok');
      expect(await store().setUserSensors(list)).toBe('ok');
      expect(await store().userSensors(user)).toEqual([listed, both].sort());
      expect(await store().ownedBy(user)).toEqual([listed, ofTeam, both].sort());
      const owned = async (by: string) => {
        const answers = [];
        for (const one of [listed, ofTeam, both]) answers.push(await store().owns(by, one));
        return answers;
      };
      expect(await owned(user)).toEqual([true, true, true]);
      expect(await owned(other)).toEqual([false, false, false]);
      await store().teams.changeMembers({ ...CONTEXT, id, removeUsers: [user] });
      expect(await owned(user)).toEqual([true, false, true]);
      expect(await store().setUserSensors({ ...list, sensorIds: [] })).toBe('ok');
      expect(await owned(user)).toEqual([false, false, false]);
      const told = await lastEntries(port(), user);
      const lists = told.filter(({ action }) => action === 'user.sensors');
      expect(lists.map(({ before, after }) => [before, after])).toEqual([
        [{ sensors: 0 }, { sensors: 2 }],
        [{ sensors: 2 }, { sensors: 0 }],
      ]);
    });

    it('should leave the list as it is when a sensor of it is unknown', async () => {
      const userId = await addMember(port());
      const [known, nobody] = [await addSensor(port()), randomUUID()];
      await store().setUserSensors({ ...CONTEXT, userId, sensorIds: [known] });
      const asked = { ...CONTEXT, userId, sensorIds: [nobody] };
      expect(await store().setUserSensors(asked)).toEqual({ unknown: [nobody] });
      expect(await store().userSensors(userId)).toEqual([known]);
      const absent = { ...asked, userId: 'no\0body' };
      expect(await store().setUserSensors(absent)).toBe('not_found');
      expect(await store().userSensors(absent.userId)).toBeNull();
    });

    it('should end with the person and with the team', async () => {
      const [gone, stays] = [await addMember(port()), await addMember(port())];
      const sensor = await addSensor(port());
      const { id } = await made(store().teams);
      const addUsers = [gone, stays];
      await store().teams.changeMembers({ ...CONTEXT, id, addUsers, addSensors: [sensor] });
      await store().setUserSensors({ ...CONTEXT, userId: gone, sensorIds: [sensor] });
      await port().users.remove({ ...CONTEXT, userId: gone });
      expect(await store().owns(gone, sensor)).toBe(false);
      expect(await store().ownedBy(gone)).toEqual([]);
      expect(await store().userSensors(gone)).toBeNull();
      expect(await store().owns(stays, sensor)).toBe(true);
      await store().teams.remove({ ...CONTEXT, id });
      expect(await store().owns(stays, sensor)).toBe(false);
      expect(await store().owns('no\0body', 'no\0thing')).toBe(false);
    });

    it('should say when the database is away, and answer again by itself', async () => {
      const [userId, sensorId] = [randomUUID(), randomUUID()];
      await expectAwayAndBack(harness, [
        () => store().changeSensor({ ...CONTEXT, sensorId, patch: {} }),
        () => store().labelsOf([sensorId]),
        () => store().setUserSensors({ ...CONTEXT, userId, sensorIds: [] }),
        () => store().userSensors(userId),
        () => store().owns(userId, sensorId),
        () => store().ownedBy(userId),
      ]);
    });
  });
}
