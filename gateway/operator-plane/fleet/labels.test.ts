// Teams, groups, tags and ownership by example: who sees, who changes, and what a sensor owner reaches.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import { createFixture, type Fixture, sensorIdOf } from '../plumbing/operator-plane.fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Calls the API with a key of somebody with the role. */
function as(role: Role, userId = fixture.addUser(role)) {
  const authorization = `Bearer ${fixture.addKey(['admin'], null, userId)}`;
  return async (method: Method, path: string, payload?: object) => {
    const answer = await fixture.app.inject({
      ...{ method, url: `/api/v2${path}`, headers: { authorization } },
      ...(payload === undefined ? {} : { payload }),
    });
    const body = answer.body === '' ? null : answer.json();
    return { status: answer.statusCode, body, code: body?.code as string | undefined };
  };
}

describe.each(['teams', 'groups'] as const)('the resource %s', (path) => {
  it('should make, list, rename and remove', async () => {
    const ask = as('admin');
    const made = await ask('POST', `/${path}`, { name: ' Core  Sites ', description: 'd' });
    expect(made).toMatchObject({ status: 201, body: { name: 'Core Sites', sensors: 0 } });
    expect('users' in made.body).toBe(path === 'teams');
    const { id } = made.body;
    expect((await ask('POST', `/${path}`, { name: 'CORE sites' })).code).toBe('name_taken');
    await ask('POST', `/${path}`, { name: 'b' });
    const first = await ask('GET', `/${path}?limit=1`);
    expect(first.body.items.map((one: { name: string }) => one.name)).toEqual(['b']);
    const rest = await ask('GET', `/${path}?limit=1&cursor=${first.body.next_cursor}`);
    expect(rest.body).toMatchObject({ items: [{ id }], next_cursor: null });
    const renamed = await ask('PATCH', `/${path}/${id}`, { name: 'Edge' });
    expect(renamed.body).toMatchObject({ id, name: 'Edge', description: 'd' });
    expect((await ask('PATCH', `/${path}/${id}`, { name: 'B' })).code).toBe('name_taken');
    expect((await ask('PATCH', `/${path}/${id}`, { name: '\u200b' })).code).toBe(
      'schema_violation',
    );
    expect((await ask('PATCH', `/${path}/${id}`, { colour: 'red' })).code).toBe('schema_violation');
    expect((await ask('DELETE', `/${path}/${id}`)).status).toBe(204);
    for (const [method, at] of [
      ...[['GET', ''] as const, ['PATCH', ''] as const, ['DELETE', ''] as const],
      ['POST', '/members'] as const,
    ]) {
      const payload = method === 'PATCH' ? { name: 'x' } : method === 'POST' ? {} : undefined;
      expect((await ask(method, `/${path}/${id}${at}`, payload)).code).toBe('not_found');
    }
  });

  it('should take members whole or not at all', async () => {
    const ask = as('admin');
    const sensors = [fixture.addSensor(1), fixture.addSensor(2)];
    const { id } = (await ask('POST', `/${path}`, { name: 'a' })).body;
    const nobody = sensorIdOf(99);
    const refused = await ask('POST', `/${path}/${id}/members`, {
      add_sensors: [...sensors, nobody],
    });
    expect(refused).toMatchObject({ status: 422, code: 'reference_unknown' });
    expect(refused.body.detail).toContain(nobody);
    expect((await ask('GET', `/${path}/${id}`)).body.sensor_ids).toEqual([]);
    const added = await ask('POST', `/${path}/${id}/members`, { add_sensors: sensors });
    expect(added.body).toMatchObject({ sensors: 2, sensor_ids: sensors });
    const left = await ask('POST', `/${path}/${id}/members`, { remove_sensors: [sensors[0]] });
    expect(left.body.sensor_ids).toEqual([sensors[1]]);
    const people = await ask('POST', `/${path}/${id}/members`, { add_users: [nobody] });
    expect(people.code).toBe(path === 'teams' ? 'reference_unknown' : 'schema_violation');
  });

  it('should be changed by those whose role holds it, and seen by everybody', async () => {
    const changers: readonly Role[] = path === 'teams' ? ['admin'] : ['admin', 'operator'];
    for (const role of ['viewer', 'analyst', 'sensor_owner', 'operator', 'admin'] as const) {
      const ask = as(role);
      const made = await ask('POST', `/${path}`, { name: role });
      expect(made.status).toBe(changers.includes(role) ? 201 : 403);
      expect((await ask('GET', `/${path}`)).status).toBe(200);
    }
  });
});

describe('the labels of a sensor', () => {
  it('should be changed together, shown and found', async () => {
    const ask = as('operator');
    const [sensor, other] = [fixture.addSensor(1), fixture.addSensor(2)];
    const { id: group } = (await ask('POST', '/groups', { name: 'g' })).body;
    const { id: team } = (await as('admin')('POST', '/teams', { name: 't' })).body;
    await as('admin')('POST', `/teams/${team}/members`, { add_sensors: [sensor, other] });
    const patch = { tags: ['prod', 'edge', 'prod'], group_ids: [group], declared_role: 'amf' };
    const shown = { tags: ['edge', 'prod'], group_ids: [group], team_ids: [team] };
    const changed = await ask('PATCH', `/sensors/${sensor}`, patch);
    expect(changed).toMatchObject({ status: 200, body: { ...shown, declared_role: 'amf' } });
    expect((await ask('GET', `/sensors/${sensor}`)).body).toMatchObject(shown);
    const found = async (query: string) =>
      (await ask('GET', `/sensors?${query}`)).body.items.map(
        (one: { sensor_id: string }) => one.sensor_id,
      );
    expect(await found('tag=edge')).toEqual([sensor]);
    expect(await found(`team_id=${team}&group_id=${group}`)).toEqual([sensor]);
    expect(await found(`team_id=${team}`)).toEqual([sensor, other]);
    expect(await found('tag=none')).toEqual([]);
    const page = (await ask('GET', `/sensors?team_id=${team}&limit=1`)).body;
    expect(page.items).toMatchObject([{ sensor_id: sensor, ...shown }]);
    const next = await ask('GET', `/sensors?team_id=${team}&limit=1&cursor=${page.next_cursor}`);
    expect(next.body.items).toMatchObject([{ sensor_id: other }]);
    const foreign = await ask('GET', `/sensors?tag=edge&cursor=${page.next_cursor}`);
    expect(foreign.code).toBe('malformed_request');
  });

  it('should be refused when they are none', async () => {
    const ask = as('operator');
    const sensor = fixture.addSensor(1);
    const bad = await ask('PATCH', `/sensors/${sensor}`, { tags: ['ok', 'Not OK'] });
    expect(bad).toMatchObject({ status: 422, body: { errors: [{ pointer: '/tags/1' }] } });
    const many = Array.from({ length: 33 }, (_, index) => `t${index}`);
    expect((await ask('PATCH', `/sensors/${sensor}`, { tags: many })).code).toBe('bound_reached');
    const unknown = await ask('PATCH', `/sensors/${sensor}`, { group_ids: [sensorIdOf(9)] });
    expect(unknown.code).toBe('reference_unknown');
    const absent = await ask('PATCH', `/sensors/${sensorIdOf(9)}`, { tags: [] });
    expect(absent.code).toBe('not_found');
  });
});

describe('a sensor owner', () => {
  it('should see every sensor and act on its own ones only', async () => {
    const userId = fixture.addUser('sensor_owner');
    const [ask, admin] = [as('sensor_owner', userId), as('admin')];
    const [listed, ofTeam, foreign] = [1, 2, 3].map((index) => fixture.addSensor(index));
    const list = { sensor_ids: [listed] };
    expect((await admin('PUT', `/users/${userId}/sensors`, list)).body).toEqual(list);
    expect((await admin('GET', `/users/${userId}/sensors`)).body).toEqual(list);
    const { id: team } = (await admin('POST', '/teams', { name: 't' })).body;
    const members = { add_users: [userId], add_sensors: [ofTeam] };
    const joined = await admin('POST', `/teams/${team}/members`, members);
    expect(joined.body).toMatchObject({ user_ids: [userId], sensor_ids: [ofTeam] });

    expect((await ask('GET', '/sensors')).body.items).toHaveLength(3);
    for (const own of [listed, ofTeam]) {
      expect((await ask('PATCH', `/sensors/${own}`, { tags: ['mine'] })).status).toBe(200);
    }
    for (const [method, at, payload] of [
      ['PATCH', '', { tags: ['mine'] }],
      ['POST', '/reenroll', {}],
      ['POST', '/revoke', { reason: 'x' }],
    ] as const) {
      const refused = await ask(method, `/sensors/${foreign}${at}`, payload);
      expect(refused).toMatchObject({ status: 403, code: 'not_owner' });
    }
    expect((await ask('POST', `/sensors/${ofTeam}/reenroll`, {})).status).toBe(201);
    await admin('DELETE', `/teams/${team}`);
    expect((await ask('POST', `/sensors/${ofTeam}/reenroll`, {})).code).toBe('not_owner');
    expect((await ask('PUT', `/users/${userId}/sensors`, { sensor_ids: [foreign] })).status).toBe(
      403,
    );
  });

  it('should have a list of sensors that exist, or the list it had', async () => {
    const admin = as('admin');
    const userId = fixture.addUser('sensor_owner');
    const refused = await admin('PUT', `/users/${userId}/sensors`, { sensor_ids: [sensorIdOf(9)] });
    expect(refused.code).toBe('reference_unknown');
    expect((await admin('GET', `/users/${userId}/sensors`)).body).toEqual({ sensor_ids: [] });
    const nobody = `/users/${sensorIdOf(0x9999)}/sensors`;
    expect((await admin('PUT', nobody, { sensor_ids: [] })).code).toBe('not_found');
    expect((await admin('GET', nobody)).code).toBe('not_found');
  });
});
