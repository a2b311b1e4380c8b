// Conditions on the routes of events, and what a search shows beside them, by example.
import { afterEach, describe, expect, it } from 'vitest';
import { type EventStore, SearchTooLarge } from '../../../storage/ports/telemetry/event-store.ts';
import { matcherOf } from '../../live/topic.ts';
import {
  createFixture,
  type Fixture,
  sensorIdOf,
  storedEvent,
} from '../plumbing/operator-plane.fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

async function world(more: Parameters<typeof createFixture>[0] = {}) {
  fixture = await createFixture(more, 1_000);
  const authorization = `Bearer ${fixture.addKey(['events:read'])}`;
  const shell = { exec_id: 'x', pid: 7, binary: '/bin/bash', arguments: '-i' };
  const network = { protocol: 'tcp', direction: 'outbound', destination_ip: '10.1.2.3' } as const;
  fixture.state.events.push(
    storedEvent(1),
    storedEvent(2, { process: shell, severity: 'high' }),
    storedEvent(3, { process: shell, network }),
  );
  return async (path: string, query: Record<string, string>, headers = {}) => {
    const url = `/api/v2${path}?${new URLSearchParams(query)}`;
    const answer = await fixture.app.inject({ url, headers: { authorization, ...headers } });
    return { answer, status: answer.statusCode, body: answer.body };
  };
}

const itemsOf = (body: string): Record<string, unknown>[] => JSON.parse(body).items;
const CONDITION = 'binary:*/bash and not destination_ip:10.0.0.0/8';

describe('a condition', () => {
  it('should narrow pages, a sensor’s events and exports alike', async () => {
    const ask = await world();
    const sensorId = fixture.state.events[1]?.sensor_id ?? '';
    expect(sensorId).toBe(sensorIdOf(1));
    fixture.addSensor(1);
    for (const path of ['/events', `/sensors/${sensorId}/events`]) {
      const { body } = await ask(path, { q: CONDITION });
      expect(itemsOf(body).map(({ message }) => message)).toEqual(['event 2']);
    }
    const lines = await ask('/events', { q: CONDITION }, { accept: 'application/x-ndjson' });
    expect(lines.body.trim().split('\n')).toHaveLength(1);
  });

  it('should be judged by the live channel as by the search', async () => {
    await world();
    const found = fixture.state.events.filter(matcherOf({ q: CONDITION }));
    expect(found.map(({ message }) => message)).toEqual(['event 2']);
    expect(fixture.state.events.filter(matcherOf({ text: 'BASH' }))).toHaveLength(2);
    expect(fixture.state.events.filter(matcherOf({ binary: 'BIN/bash' }))).toHaveLength(2);
  });

  it.each([
    ['colour:red', 'at character 1: no field is called colour'],
    ['binary:x and (pid:1', 'at character 14: the parenthesis is never closed'],
    ['pid:many', 'at character 5: process.pid is a whole number'],
    ['message=~"(a+"', 'missing closing )'],
    ['severity:loud', 'severity is one of info'],
    ['destination_ip:10.0.0.300', 'an address or a network'],
  ])('should be refused where %s cannot be read', async (q, detail) => {
    const ask = await world();
    for (const path of ['/events', '/events/histogram']) {
      const { status, body } = await ask(path, { q });
      expect(status).toBe(422);
      expect(JSON.parse(body).errors[0]).toMatchObject({ pointer: '/query/q' });
      expect(JSON.parse(body).errors[0].detail).toContain(detail);
    }
  });

  it('should be told when it reads too much', async () => {
    const search = () => Promise.reject(new SearchTooLarge('it would read too many rows'));
    const ask = await world({ events: { search } });
    const { status, body } = await ask('/events', { q: 'x' });
    expect([status, JSON.parse(body).code]).toEqual([422, 'search_too_large']);
    expect(JSON.parse(body).detail).toContain('too many rows');
  });
});

describe('what a search shows beside events', () => {
  it('should count over time', async () => {
    const ask = await world();
    const { body } = await ask('/events/histogram', { from: 'now-10s', bars: '10', q: 'binary:*' });
    const { items, ...rest } = JSON.parse(body);
    expect(rest).toMatchObject({ bucket_ms: 1_000, events: 3 });
    expect(items).toHaveLength(3);
    expect(items[0]).toMatchObject({ events: 1 });
  });

  it('should count values by any name of a field', async () => {
    const ask = await world();
    const { body } = await ask('/events/top', { field: 'binary', q: 'binary:/bin/*' });
    expect(JSON.parse(body)).toEqual({
      ...{ field: 'process.binary', events: 2, distinct: 1 },
      items: [{ value: '/bin/bash', events: 2 }],
    });
    const { status } = await ask('/events/top', { field: '__proto__' });
    expect(status).toBe(422);
  });

  it('should list the fields', async () => {
    const ask = await world();
    const fields = itemsOf((await ask('/events/fields', {})).body);
    expect(fields).toContainEqual({
      ...{ name: 'process.pid', short_names: ['pid'], kind: 'integer' },
      ...{ about: 'Number of the process', choices: [], is_list: false },
    });
  });

  it('should show the statement of a search where the store has one', async () => {
    const statementOf: EventStore['statementOf'] = async ({ limit }) => `SELECT 1 LIMIT ${limit}`;
    const ask = await world({ events: { statementOf } });
    const { body } = await ask('/events/sql', { q: CONDITION, limit: '7' });
    expect(JSON.parse(body)).toEqual({ sql: 'SELECT 1 LIMIT 7' });
    expect((await ask('/events/sql', { q: 'colour:red' })).status).toBe(422);
  });

  it('should show a process, what started it, what it started, and all that it did', async () => {
    const ask = await world();
    const sensor_id = sensorIdOf(1);
    const shell = { exec_id: 'sh"1', pid: 9, binary: '/bin/sh' };
    const child = { exec_id: 'c', pid: 10, binary: '/usr/bin/id' };
    const of = { sensor_id, node_name: 'node', event_kind: 'process_exec' } as const;
    fixture.state.events.push(
      storedEvent(4, { ...of, process: shell, parent: { ...shell, exec_id: 'up' } }),
      storedEvent(5, { ...of, process: child, parent: shell }),
      storedEvent(6, { ...of, sensor_id: sensorIdOf(2), process: child, parent: shell }),
    );
    const tree = await ask('/events/tree', { sensor_id, exec_id: 'sh"1' });
    expect(itemsOf(tree.body).map((one) => [one['exec_id'], one['depth'], one['events']])).toEqual([
      ...[['up', -1, 0] as const, ['sh"1', 0, 1] as const, ['c', 1, 1] as const],
    ]);
    expect((await ask('/events/tree', { sensor_id, exec_id: 'none' })).status).toBe(404);
    const line = await ask('/events/timeline', { sensor_id, exec_id: 'sh"1' });
    expect(itemsOf(line.body).map(({ message }) => message)).toEqual(['event 4']);
  });
});
