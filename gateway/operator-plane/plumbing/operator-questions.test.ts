// Events, the system's actors and the probes of the operator API, by example.
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { healthRoutes } from '../system/health.ts';
import { createFixture, type Fixture, sensorIdOf, storedEvent } from './operator-plane.fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

async function callerWith(
  scopes: readonly string[],
  more: Parameters<typeof createFixture>[0] = {},
  keyLimit = 1_000,
) {
  fixture = await createFixture(more, keyLimit);
  const authorization = `Bearer ${fixture.addKey(scopes)}`;
  return async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fixture.app.inject({ url, headers: { authorization, ...headers } });
    const isJson = String(answer.headers['content-type']).includes('json;');
    return { answer, body: isJson || answer.statusCode >= 400 ? answer.json() : null };
  };
}

describe('events', () => {
  it('should page one frozen range newest first', async () => {
    const get = await callerWith(['events:read']);
    for (let i = 1; i <= 5; i += 1) fixture.state.events.push(storedEvent(i));
    const url = '/api/v2/events?from=now-4s&limit=2';
    const { body } = await get(url);
    fixture.state.nowMs += 60_000;

    const { body: next } = await get(`${url}&cursor=${body.next_cursor}`);

    expect(body.items.map(messageOf)).toEqual(['event 1', 'event 2']);
    expect(next.items.map(messageOf)).toEqual(['event 3', 'event 4']);
    expect(next.next_cursor).toBeNull();
  });

  it.each([
    ['from=2026-02-31T00:00:00Z', '/query/from'],
    ['from=yesterday', '/query/from'],
    ['from=now&to=now-1h', '/query/from'],
  ])('should refuse the range %s', async (query, pointer) => {
    const get = await callerWith(['events:read']);

    const { answer, body } = await get(`/api/v2/events?${query}`);

    expect(answer.statusCode).toBe(422);
    expect(pointersOf(body)).toContain(pointer);
  });

  it('should export the whole filter, without formulas and control bytes', async () => {
    const get = await callerWith(['events:read']);
    for (let i = 1; i <= 2_500; i += 1) fixture.state.events.push(storedEvent(i));
    fixture.state.events.push(
      storedEvent(0, { message: '=HYPERLINK("http://x")', severity: 'high' }),
      storedEvent(3_000, { message: '\u001b[31mred\u009b\n"', severity: 'high' }),
    );

    const { answer: csv } = await get('/api/v2/events', { accept: 'text/csv' });
    const { answer: lines } = await get('/api/v2/events?severity=high', {
      accept: 'application/x-ndjson',
    });

    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.body.trim().split('\r\n')).toHaveLength(2_503);
    expect(csv.body).toContain(`"'=HYPERLINK(""http://x"")"`);
    expect(csv.body).toContain('"\\x1b[31mred\\x9b\\x0a"""');
    expect(lines.body.trim().split('\n')).toHaveLength(2);
    expect(lines.body).not.toMatch(/[\u001b\u009b]/);
    expect(JSON.parse(lines.body.trim().split('\n')[1] ?? '').message).toBe(
      '\u001b[31mred\u009b\n"',
    );
  });
});

describe('the system', () => {
  it('should list actors in order, page them, and describe every machine', async () => {
    const get = await callerWith(['system:read']);
    for (const i of [3, 1, 2]) fixture.addSensor(i);

    const actors = '/api/v2/system/actors?kind=sensor&limit=2';
    const { body } = await get(actors);
    const { body: next } = await get(`${actors}&cursor=${body.next_cursor}`);
    const { body: all } = await get('/api/v2/system/actors?limit=4');
    const { body: machines } = await get('/api/v2/system/machines');

    expect(body.items.map((one: { id: string }) => one.id)).toEqual([sensorIdOf(1), sensorIdOf(2)]);
    expect(next.items.map((one: { id: string }) => one.id)).toEqual([sensorIdOf(3)]);
    expect(next.next_cursor).toBeNull();
    expect(body.counts).toMatchObject({ sensor: 3, license: 1, designation: 1 });
    expect(all.items.map((one: { kind: string }) => one.kind)).toEqual([
      ...['analytics-health', 'designation', 'license', 'loop'],
    ]);
    const sensor = machines.items.find(({ id }: { id: string }) => id === 'sensor');
    expect(sensor.states.map((one: { key: string }) => one.key)).toContain('trust');
  });
});

describe('a number in a query', () => {
  it.each(['true', 'false', 'null', '0x10', '1e1', ' 5', '', '5,6'])(
    'should be refused when it is %j',
    async (limit) => {
      const get = await callerWith(['sensors:read']);
      const { answer, body } = await get(`/api/v2/sensors?limit=${encodeURIComponent(limit)}`);
      expect([answer.statusCode, body.errors?.[0]?.pointer]).toEqual([422, '/query/limit']);
    },
  );
});

describe('probes', () => {
  it('should be answered whatever else they ask', async () => {
    const get = await callerWith([]);
    for (const path of ['/livez', '/readyz', '/version', '/ca.pem']) {
      const { answer } = await get(`${path}?pretty=1&timeout=32s`);
      expect([path, answer.statusCode]).toEqual([path, 200]);
    }
  });

  it('should tell each dependency and fail readiness while one is away or the Console drains', async () => {
    let isAway = true;
    const ping = () => (isAway ? Promise.reject(new Error('refused')) : Promise.resolve(true));
    fixture = await createFixture({ events: { ping } });

    const answer = await fixture.app.inject({ url: '/readyz?verbose' });

    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ status: 'not_ready', because: null });
    expect(answer.json().dependencies).toMatchObject([
      { name: 'postgresql', ok: true, ms: expect.any(Number) },
      { name: 'clickhouse', ok: false },
    ]);
    isAway = false;
    const draining = Fastify();
    const probes = [{ name: 'clickhouse', ping }];
    await draining.register(
      healthRoutes({ probes, notReadyBecause: () => 'the Console is stopping' } as never),
    );
    const late = await draining.inject({ url: '/readyz?verbose' });
    expect([late.statusCode, late.json().because]).toEqual([503, 'the Console is stopping']);
  });

  it('should give metrics only to their scope', async () => {
    const get = await callerWith(['metrics:read']);
    fixture.addSensor(1);
    const { answer } = await get('/metrics');

    expect(answer.body).toContain('service_sensors{trust_health="healthy"} 1');
    expect((await fixture.app.inject({ url: '/metrics' })).statusCode).toBe(401);
  });
});

const messageOf = (event: { message: string }) => event.message;

function pointersOf(problem: { errors: { pointer: string }[] }): string[] {
  return problem.errors.map(({ pointer }) => pointer).sort();
}
