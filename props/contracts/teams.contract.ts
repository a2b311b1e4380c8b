// The promises of teams and groups: names unique without case, bounds, changes whole or not at all, audited with them,
// and nothing left of whoever is removed. decision: D43; invariant: I18
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GROUPS_PER_SENSOR_MAX } from '../../machines/limits.ts';
import type { LabelStore } from '../../storage/ports/fleet/teams.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { addMember, addSensor, type LabelPorts, lastEntries } from './labels.ts';
import { CONTEXT } from './people.ts';
import { HOSTILE, hex } from './samples.ts';

const KINDS = ['team', 'group'] as const;

export function teamsContract(harness: Harness<LabelPorts>): void {
  const { port } = harness;
  for (const kind of KINDS) describe(`${kind}s`, () => labelsContract(kind, port));

  describe('teams', () => {
    it('should hold people and lose whoever is removed', async () => {
      const { teams } = port().teams;
      const [stays, goes] = [await addMember(port()), await addMember(port())];
      const { id } = await made(teams);
      const joined = await teams.changeMembers({ ...CONTEXT, id, addUsers: [goes, stays, goes] });
      expect(joined).toMatchObject({ users: 2, userIds: [stays, goes].sort() });
      expect(await port().users.remove({ ...CONTEXT, userId: goes })).toBe('ok');
      expect(await teams.get(id)).toMatchObject({ users: 1, userIds: [stays] });
      const left = await teams.changeMembers({ ...CONTEXT, id, removeUsers: [stays, hex(8)] });
      expect(left).toMatchObject({ users: 0, userIds: [] });
    });

    it('should say when the database is away, and answer again by themselves', async () => {
      const { teams } = port();
      const id = randomUUID();
      await expectAwayAndBack(harness, [
        () => teams.teams.create({ ...CONTEXT, id, name: id, description: '' }),
        () => teams.teams.change({ ...CONTEXT, id, description: 'x' }),
        () => teams.teams.changeMembers({ ...CONTEXT, id }),
        () => teams.teams.get(id),
        () => teams.teams.list({ limit: 1, after: null }),
        () => teams.teams.remove({ ...CONTEXT, id }),
      ]);
    });
  });

  describe('groups', () => {
    it('should take no people', async () => {
      const { groups } = port().teams;
      const { id } = await made(groups);
      const addUsers = [await addMember(port())];
      expect(await groups.changeMembers({ ...CONTEXT, id, addUsers })).toBe('too_many');
    });

    it('should be bounded in number for one sensor', async () => {
      const { groups } = port().teams;
      const addSensors = [await addSensor(port())];
      for (let index = 0; index < GROUPS_PER_SENSOR_MAX; index += 1) {
        const { id } = await made(groups);
        expect(await groups.changeMembers({ ...CONTEXT, id, addSensors })).toMatchObject({ id });
      }
      const { id } = await made(groups);
      expect(await groups.changeMembers({ ...CONTEXT, id, addSensors })).toBe('too_many');
      expect(await groups.get(id)).toMatchObject({ sensors: 0 });
    });
  });
}

/** A label with a name of its own. */
export async function made(store: LabelStore, name = `Label ${hex(8)}`) {
  const row = await store.create({ ...CONTEXT, id: randomUUID(), name, description: HOSTILE });
  if (typeof row === 'string') throw new Error(`the label was refused: ${row}`);
  return row;
}

function labelsContract(kind: (typeof KINDS)[number], port: () => LabelPorts): void {
  const store = () => port().teams[`${kind}s`];

  it('should be made, read, renamed and removed, each with its audit row', async () => {
    const name = `Ä ${hex(8)}`;
    const row = await made(store(), name);
    const { id } = row;
    expect(row).toMatchObject({ name, createdAtMs: CONTEXT.nowMs, users: 0, sensors: 0 });
    expect(row.description).toBe(HOSTILE.replace('\0', '\uFFFD'));
    expect(await store().get(id)).toEqual({ ...row, userIds: [], sensorIds: [] });
    const renamed = { ...row, name: name.toLowerCase(), description: 'd' };
    const patch = { name: renamed.name, description: 'd' };
    expect(await store().change({ ...CONTEXT, id, ...patch })).toEqual(renamed);
    expect(await store().change({ ...CONTEXT, id, ...patch })).toEqual(renamed);
    expect(await store().remove({ ...CONTEXT, id })).toBe(true);
    expect(await store().remove({ ...CONTEXT, id })).toBe(false);
    expect(await store().get(id)).toBeNull();
    expect(await store().change({ ...CONTEXT, id, name: 'x' })).toBe('not_found');
    expect(await store().changeMembers({ ...CONTEXT, id })).toBe('not_found');
    const told = await lastEntries(port(), id);
    expect(told.map(({ action, result, from }) => [action, result, from])).toEqual([
      [`${kind}.create`, 'ok', CONTEXT.from],
      [`${kind}.change`, 'ok', CONTEXT.from],
      [`${kind}.remove`, 'ok', CONTEXT.from],
    ]);
    const [, changed, removed] = told;
    expect(changed).toMatchObject({ before: { name }, after: { name: renamed.name } });
    expect(removed).toMatchObject({ before: { name: renamed.name }, after: null });
  });

  it('should have names that are unique without case, also when made at once', async () => {
    const name = `ß ${hex(8)}`;
    const names = [name, name.toUpperCase(), name.toLowerCase(), `\uFF21${name}`, `a${name}`];
    const answers = await Promise.all(
      names.map((one) =>
        store().create({ ...CONTEXT, id: randomUUID(), name: one, description: '' }),
      ),
    );
    const taken = answers.filter((answer) => answer === 'name_taken').length;
    // Upper case of a sharp s is two letters, which is another name; the wide A is an a.
    expect(taken).toBe(2);
    const other = await made(store());
    expect(await store().change({ ...CONTEXT, id: other.id, name })).toBe('name_taken');
    const own = { ...CONTEXT, id: other.id, name: other.name.toUpperCase() };
    expect(await store().change(own)).toMatchObject({ name: own.name });
  });

  it('should be listed by name, page after page', async () => {
    const mark = `~${hex(6)}`;
    for (const name of ['b', 'A', 'c']) await made(store(), `${mark} ${name}`);
    const first = await store().list({ limit: 2, after: mark });
    expect(first.map(({ name }) => name)).toEqual([`${mark} A`, `${mark} b`]);
    const rest = await store().list({ limit: 2, after: `${mark} b` });
    expect(rest[0]).toMatchObject({ name: `${mark} c` });
  });

  it('should take sensors whole or not at all, and tell who moved', async () => {
    const [one, two, three] = [
      await addSensor(port()),
      await addSensor(port()),
      await addSensor(port()),
    ];
    const { id } = await made(store());
    const added = await store().changeMembers({ ...CONTEXT, id, addSensors: [two, one, two] });
    expect(added).toMatchObject({ sensors: 2, sensorIds: [one, two].sort() });
    const nobody = randomUUID();
    const asked = {
      ...CONTEXT,
      id,
      addSensors: [three, nobody, 'no\0thing'],
      removeSensors: [one],
    };
    const refused = await store().changeMembers(asked);
    expect(refused).toMatchObject({ unknown: expect.arrayContaining([nobody]) });
    expect(await store().get(id)).toEqual(added);
    const moved = { ...CONTEXT, id, addSensors: [three, two], removeSensors: [one, two, nobody] };
    const sensorIds = [two, three].sort();
    expect(await store().changeMembers(moved)).toMatchObject({ sensorIds, sensors: 2 });
    expect(await store().changeMembers(moved)).toMatchObject({ sensorIds });
    const told = await lastEntries(port(), id);
    expect(told.map(({ action }) => action)).toEqual([
      ...[`${kind}.create`, `${kind}.members`, `${kind}.members`],
    ]);
    expect(told.at(-1)).toMatchObject({
      before: { sensors: 2 },
      after: { sensors: 2 },
      detail: { sensors_added: [three], sensors_removed: [one] },
    });
  });

  it('should lose no member when it is changed at once', async () => {
    const { id } = await made(store());
    const sensors = [];
    for (let index = 0; index < 6; index += 1) sensors.push(await addSensor(port()));
    await Promise.all(
      sensors.map((one) => store().changeMembers({ ...CONTEXT, id, addSensors: [one] })),
    );
    expect(await store().get(id)).toMatchObject({ sensorIds: sensors.toSorted() });
  });
}
