// Acts on many sensors at once, by example: each has a result of its own, and who owns only some acts on those.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import { createFixture, type Fixture, sensorIdOf } from '../plumbing/operator-plane.fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

function as(role: Role) {
  const userId = fixture.addUser(role);
  const authorization = `Bearer ${fixture.addKey(['admin'], null, userId)}`;
  const ask = async (path: string, payload: object) => {
    const answer = await fixture.app.inject({
      ...{ method: 'POST', url: `/api/v2/sensors/${path}`, headers: { authorization }, payload },
    });
    return { status: answer.statusCode, body: answer.json() };
  };
  return { userId, ask };
}
const codesOf = (body: { items: { code: string | null }[] }) => body.items.map(({ code }) => code);

describe('many sensors at once', () => {
  it('should change tags of each, once, and say which was none', async () => {
    const { ask } = as('admin');
    const [one, two] = [fixture.addSensor(1), fixture.addSensor(2)];
    const nobody = sensorIdOf(99);
    await ask('bulk-change', { sensor_ids: [one], add_tags: ['old', 'kept'] });

    const { status, body } = await ask('bulk-change', {
      sensor_ids: [one, two, nobody, one.toUpperCase()],
      ...{ add_tags: ['edge'], remove_tags: ['old'] },
    });

    expect(status).toBe(200);
    expect(codesOf(body)).toEqual([null, null, 'not_found']);
    const labels = await fixture.relational.teams.labelsOf([one, two]);
    expect(labels.map(({ tags }) => tags)).toEqual([['edge', 'kept'], ['edge']]);
  });

  it('should change nothing for a tag that is none, and for none or too many sensors', async () => {
    const { ask } = as('admin');
    const one = fixture.addSensor(1);
    for (const bad of [
      { sensor_ids: [one], add_tags: ['No Tag'] },
      { sensor_ids: [], add_tags: ['a'] },
      { sensor_ids: Array.from({ length: 501 }, (_, i) => sensorIdOf(i)), add_tags: ['a'] },
    ]) {
      expect((await ask('bulk-change', bad)).status).toBe(422);
    }
    expect((await fixture.relational.teams.labelsOf([one]))[0]?.tags).toEqual([]);
  });

  it('should revoke each, and of an owner only its own', async () => {
    const { userId, ask } = as('sensor_owner');
    const [own, other] = [fixture.addSensor(1), fixture.addSensor(2)];
    fixture.state.owned.add(`${userId} ${own}`);

    const { body } = await ask('bulk-revoke', { sensor_ids: [other, own], reason: 'stolen' });

    expect(codesOf(body)).toEqual(['not_owner', null]);
    const rows = [own, other].map((id) => fixture.state.sensors.get(id));
    expect(rows.map((row) => row?.revokedAtMs !== null)).toEqual([true, false]);
    expect((await as('viewer').ask('bulk-revoke', { sensor_ids: [own], reason: 'x' })).status).toBe(
      403,
    );
  });
});
