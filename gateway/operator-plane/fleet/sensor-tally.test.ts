// The tally of the fleet, by example: every number is the length of the list behind it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFixture, type Fixture } from '../plumbing/operator-plane.fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

async function ask<T>(path: string): Promise<T> {
  const authorization = `Bearer ${fixture.addKey(['sensors:read'])}`;
  const url = `/api/v2/${path}`;
  const answer = await fixture.app.inject({ method: 'GET', url, headers: { authorization } });
  return answer.json();
}
type List = { readonly items: readonly { readonly sensor_id: string }[] };
type Tally = Readonly<Record<string, Readonly<Record<string, number>>>> & {
  readonly total: number;
  readonly sensor_versions: readonly { version: string; sensors: number }[];
};

describe('the tally of the fleet', () => {
  it('should be nothing for no sensors', async () => {
    expect(await ask<Tally>('sensors/tally')).toMatchObject({
      ...{ total: 0, trust_health: {}, sensor_versions: [], other_versions: 0 },
    });
  });

  it('should agree with the list behind each number, over many pages', async () => {
    const versions = ['1.0.0', '1.1.0', '2.0.0'];
    for (let index = 0; index < 1_203; index += 1) {
      const id = fixture.addSensor(index);
      const row = fixture.state.sensors.get(id);
      if (row === undefined) throw new Error('it was added');
      const sensorVersion = versions[index % 5] ?? '2.0.0';
      fixture.state.sensors.set(id, { ...row, sensorVersion });
    }
    const tally = await ask<Tally>('sensors/tally');
    expect(tally.total).toBe(1_203);
    expect(tally.sensor_versions).toEqual([
      { version: '2.0.0', sensors: 721 },
      { version: '1.0.0', sensors: 241 },
      { version: '1.1.0', sensors: 241 },
    ]);
    const names = ['trust_health', 'freshness', 'stream', 'engine', 'flavor'] as const;
    for (const name of names) {
      for (const [value, count] of Object.entries(tally[name] ?? {})) {
        let listed = 0;
        let cursor: string | null = '';
        while (cursor !== null) {
          const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
          const page: List & { next_cursor: string | null } = await ask(
            `sensors?${name}=${value}&limit=500${more}`,
          );
          listed += page.items.length;
          cursor = page.next_cursor;
        }
        expect([name, value, count]).toEqual([name, value, listed]);
      }
    }
  });

  it('should list the most frequent versions and count the rest', async () => {
    for (let index = 0; index < 40; index += 1) {
      const id = fixture.addSensor(index);
      const row = fixture.state.sensors.get(id);
      if (row !== undefined)
        fixture.state.sensors.set(id, { ...row, sensorVersion: `0.0.${Math.min(index, 37)}` });
    }
    const tally = await ask<Tally & { other_versions: number }>('sensors/tally');
    expect(tally.sensor_versions[0]).toEqual({ version: '0.0.37', sensors: 3 });
    expect(tally.sensor_versions).toHaveLength(32);
    expect(tally.other_versions).toBe(6);
  });
});
