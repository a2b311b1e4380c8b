// The operator API by example: who may call what, how lists page, what a mistake looks like.
import { afterEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import { EventStoreUnavailable } from '../../../storage/ports/telemetry/event-store.ts';
import { createFixture, type Fixture, NOW_MS, sensorIdOf } from './operator-plane.fixture.ts';

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

describe('a guard', () => {
  it('should ask for a key and name the scheme when there is none', async () => {
    fixture = await createFixture();

    const answer = await fixture.app.inject({ url: '/api/v2/sensors' });

    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({ status: 401, code: 'credential_required' });
    expect(answer.headers['x-request-id']).toBe(answer.json().request_id);
  });

  it.each([
    ['an unknown key', (known: string) => `Bearer ${known.slice(0, -1)}x`],
    ['another scheme', () => 'Basic dXNlcjpwYXNz'],
    ['an enrollment token', () => `Bearer svce_${'0'.repeat(49)}`],
  ])('should refuse %s', async (_, authorizationOf) => {
    fixture = await createFixture();
    const authorization = authorizationOf(fixture.addKey(['admin']));

    const answer = await fixture.app.inject({ url: '/api/v2/sensors', headers: { authorization } });

    expect(answer.statusCode).toBe(401);
    expect(answer.json().code).toBe('credential_invalid');
  });

  it('should refuse an expired and a revoked key at once', async () => {
    fixture = await createFixture();
    const authorization = `Bearer ${fixture.addKey(['admin'], NOW_MS + 1_000)}`;
    const ask = () => fixture.app.inject({ url: '/api/v2/sensors', headers: { authorization } });
    expect((await ask()).statusCode).toBe(200);

    fixture.state.nowMs += 1_000;

    expect((await ask()).statusCode).toBe(401);
  });

  it('should name the missing scope', async () => {
    const get = await callerWith(['events:read']);

    const { answer, body } = await get('/api/v2/sensors');

    expect(answer.statusCode).toBe(403);
    expect(body).toMatchObject({
      code: 'role_required',
      detail: expect.stringMatching(/sensors:read/),
    });
    expect(fixture.state.refused()).toMatchObject([{ actor: 'api-key:key-1', result: '403' }]);
  });

  it('should fail the start when a route declares none', async () => {
    fixture = await createFixture();
    const table = fixture.app.hasRoute({ method: 'GET', url: '/api/v2/sensors' });
    expect(table).toBe(true);

    const { default: Fastify } = await import('fastify');
    const { installGuard } = await import('./guard.ts');
    const app = Fastify();
    installGuard(app, fixture.context.guard());

    expect(() => app.get('/open', async () => 'oops')).toThrow(/declares no guard/);
  });

  it('should count a key by the minute and say what is left', async () => {
    const get = await callerWith(['admin'], {}, 2);
    const { answer: first } = await get('/api/v2/sensors');
    await get('/api/v2/sensors');

    const { answer: third, body } = await get('/api/v2/sensors');

    expect(first.headers['ratelimit-policy']).toBe('"key";q=2;w=60');
    expect(first.headers['ratelimit']).toMatch(/^"key";r=1;t=\d+$/);
    expect(third.statusCode).toBe(429);
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
    expect(body.code).toBe('rate_limited');
  });

  it('should bound guesses by address and still let a known key of that address in', async () => {
    const get = await callerWith(['admin']);
    expect((await get('/api/v2/sensors')).answer.statusCode).toBe(200);
    const guess = () => fixture.app.inject({ url: '/api/v2/sensors' });
    for (let i = 0; i < 200; i += 1) await guess();

    expect((await guess()).statusCode).toBe(429);
    expect((await get('/api/v2/sensors')).answer.statusCode).toBe(200);
    expect((await fixture.app.inject({ url: '/livez' })).statusCode).toBe(200);
  });
});

describe('the list of sensors', () => {
  it('should page without loss or repeat and end with null', async () => {
    const get = await callerWith(['sensors:read']);
    for (let i = 1; i <= 7; i += 1) fixture.addSensor(i);
    const seen: string[] = [];

    for (let url: string | null = '/api/v2/sensors?limit=3'; url !== null; ) {
      const { answer, body } = await get(url);
      seen.push(...body.items.map((one: { node_name: string }) => one.node_name));
      url = body.next_cursor === null ? null : `/api/v2/sensors?limit=3&cursor=${body.next_cursor}`;
      expect(answer.headers['link'] === undefined).toBe(url === null);
      // A sensor that arrives before the position does not move the pages.
      fixture.addSensor(100 + seen.length, `aaa-${seen.length}`);
    }

    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7].map((i) => `node-000${i}`));
  });

  it('should refuse a cursor that was edited or belongs to another filter', async () => {
    const get = await callerWith(['admin']);
    for (let i = 1; i <= 3; i += 1) fixture.addSensor(i);
    const { body: page } = await get('/api/v2/sensors?limit=1');
    const [head = '', tag = ''] = page.next_cursor.split('.');
    const forged = Buffer.from('{"n":"a","s":"b"}').toString('base64url');

    for (const url of [
      `/api/v2/sensors?limit=1&cursor=${forged}.${tag}`,
      `/api/v2/sensors?limit=1&cursor=${head}`,
      `/api/v2/sensors?limit=1&node_name=x&cursor=${page.next_cursor}`,
      `/api/v2/system/actors?cursor=${page.next_cursor}`,
    ]) {
      const { answer, body } = await get(url);
      expect(answer.statusCode).toBe(400);
      expect(body.errors[0].pointer).toBe('/query/cursor');
    }
  });

  it('should filter by live health across pages of rows', async () => {
    const get = await callerWith(['admin']);
    for (let i = 1; i <= 12; i += 1) fixture.addSensor(i);
    const revoke = { reason: 'stolen', actor: 'test' };
    for (const i of [3, 11]) await fixture.revokeSensor({ sensorId: sensorIdOf(i), ...revoke });

    const { body } = await get('/api/v2/sensors?trust_health=revoked&limit=1');
    const { body: next } = await get(
      `/api/v2/sensors?trust_health=revoked&limit=1&cursor=${body.next_cursor}`,
    );

    expect(body.items[0]).toMatchObject({ node_name: 'node-0003', trust_state: 'trust_revoked' });
    expect(next.items[0]).toMatchObject({ node_name: 'node-0011', because: [{ code: 'revoked' }] });
    expect(next.next_cursor).toBeNull();
  });
});

describe('a sensor', () => {
  it('should show its live actor: regions, context, delays, moves', async () => {
    const get = await callerWith(['admin']);
    const id = fixture.addSensor(1);
    fixture.directory.tell(id, { type: 'stream.opened', atMs: NOW_MS });

    const { body } = await get(`/api/v2/sensors/${id}/actor`);

    expect(body.value).toMatchObject({ trust: 'trusted', stream: 'open', freshness: 'fresh' });
    expect(body.context.sensorId).toBe(id);
    expect(body.timers).toContainEqual({
      state: 'trust.trusted',
      delay: 'untilRecommendedMs',
      targets: ['trust.assessing'],
      due: expect.stringMatching(/^2026-03-/),
    });
    expect(body.recent_moves.at(-1)).toMatchObject({ event: 'stream.opened' });
    expect(body).toMatchObject({ trust_health: 'healthy', last_event: 'stream.opened' });
  });

  it('should show its actor as it was, from the rows that nobody stored yet, too', async () => {
    const get = await callerWith(['admin']);
    const id = fixture.addSensor(1);
    const { state } = fixture;
    state.nowMs += 1_000;
    fixture.directory.tell(id, { type: 'stream.opened', atMs: state.nowMs });
    state.nowMs += 1_000;
    fixture.directory.tell(id, { type: 'sensor.revoked', atMs: state.nowMs, reason: 'stolen' });
    const at = (ms: number) => new Date(NOW_MS + ms).toISOString();
    const shown = async (instant: string) =>
      (await get(`/api/v2/sensors/${id}/actor?at=${instant}`)).body;

    const [now, open, closed, ahead] = [
      await shown('now'),
      await shown(at(1_999)),
      await shown(at(999)),
      await shown(at(60_000)),
    ];

    expect(now).toMatchObject({
      trust_health: 'revoked',
      because: [{ code: 'revoked' }],
      gap: null,
    });
    expect(open.value).toMatchObject({ trust: 'trusted', stream: 'open' });
    expect(open).toMatchObject({ trust_health: 'healthy', as_of: at(1_999), since: at(1_000) });
    expect(open.timers.map((one: { state: string }) => one.state)).toContain('trust.trusted');
    expect(closed.value).toMatchObject({ stream: 'closed' });
    expect(ahead.as_of).toBe(at(2_000));
    expect((await get(`/api/v2/sensors/${id}/actor?at=2026-02-31T00:00:00Z`)).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/query/at' }],
    });
    expect((await get(`/api/v2/sensors/${id}/actor?at=${at(-1)}`)).body.status).toBe(404);
  });

  it('should say that nothing is known where rows were dropped', async () => {
    const get = await callerWith(['admin']);
    const id = fixture.addSensor(1);
    fixture.state.transitions.push({
      ...{ sensorId: id, actorKind: 'sensor', region: '', from: '', to: '', after: null },
      ...{ event: 'rows.dropped', facts: { rows: 7, untilMs: NOW_MS - 5 }, atMs: NOW_MS - 10 },
    });

    const { body } = await get(
      `/api/v2/sensors/${id}/actor?at=${new Date(NOW_MS - 7).toISOString()}`,
    );

    expect(body).toMatchObject({ value: {}, trust_health: null, gap: { rows: 7 } });
  });

  it('should page its past by instant and keep moves of one instant together', async () => {
    const get = await callerWith(['admin']);
    const id = fixture.addSensor(1);
    for (const [index, atMs] of [5, 4, 4, 3].entries()) {
      fixture.state.transitions.push({
        sensorId: id,
        actorKind: 'sensor',
        region: 'stream',
        from: 'a',
        to: `b${index}`,
        event: 'x',
        facts: {},
        atMs: NOW_MS + atMs,
        after: null,
      });
    }

    const { body } = await get(`/api/v2/sensors/${id}/transitions?limit=2`);
    const { body: rest } = await get(
      `/api/v2/sensors/${id}/transitions?limit=3&cursor=${body.next_cursor}`,
    );

    expect(body.items.map((one: { to: string }) => one.to)).toEqual(['b0']);
    expect(rest.items.map((one: { to: string }) => one.to)).toEqual(['b1', 'b2', 'b3']);
    const at = (ms: number) => new Date(NOW_MS + ms).toISOString();
    const span = await get(`/api/v2/sensors/${id}/transitions?from=${at(4)}&to=${at(5)}&limit=1`);
    expect(span.body.items.map((one: { to: string }) => one.to)).toEqual(['b1']);
    const none = await get(`/api/v2/sensors/${id}/transitions?kind=node/stream`);
    expect(none.body.items).toEqual([]);
  });

  it('should be revoked with a reason and refuse re-enrollment after it', async () => {
    await callerWith(['admin']);
    const id = fixture.addSensor(1);
    const headers = { authorization: `Bearer ${fixture.addKey(['admin'])}` };
    const post = (path: string, payload?: object) =>
      fixture.app.inject({
        method: 'POST',
        url: `/api/v2/sensors/${id}/${path}`,
        headers,
        ...(payload ? { payload } : {}),
      });

    expect((await post('revoke', {})).statusCode).toBe(422);
    expect((await post('reenroll')).json().secret).toMatch(/^svcr_/);
    const revoked = await post('revoke', { reason: 'stolen' });
    const again = await post('reenroll');

    expect(revoked.json()).toMatchObject({ trust_health: 'revoked', revoked_reason: 'stolen' });
    expect(again.statusCode).toBe(409);
    expect(again.json().code).toBe('sensor_is_revoked');
    expect(fixture.state.refused()).toMatchObject([
      { actor: 'api-key:key-2', action: 'POST /api/v2/sensors/:id/revoke', result: '422' },
      { action: 'POST /api/v2/sensors/:id/reenroll', target: id, result: '409' },
    ]);
  });

  it('should be 404 when there is none', async () => {
    const get = await callerWith(['admin']);

    for (const path of ['', '/actor', '/transitions', '/events']) {
      const { answer, body } = await get(`/api/v2/sensors/${sensorIdOf(9)}${path}`);
      expect([answer.statusCode, body.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('enrollment tokens', () => {
  it('should tell the secret once and list without it', async () => {
    const get = await callerWith(['admin']);
    const headers = { authorization: `Bearer ${fixture.addKey(['tokens:write'])}` };
    const made = await fixture.app.inject({
      method: 'POST',
      url: '/api/v2/enrollment-tokens',
      headers,
      payload: { note: 'rack 4', ttl_seconds: 60 },
    });

    const { body } = await get('/api/v2/enrollment-tokens');

    expect(made.statusCode).toBe(201);
    expect(made.json().secret).toMatch(/^svce_/);
    expect(made.json().enroll_command).not.toContain(made.json().secret);
    expect(body.items[0]).toMatchObject({ note: 'rack 4', status: 'usable' });
    expect(JSON.stringify(body)).not.toContain(made.json().secret);
  });
});

describe('a mistake', () => {
  it('should point at every unusable field of body and query', async () => {
    const get = await callerWith(['admin']);
    const authorization = `Bearer ${fixture.addKey(['admin'])}`;
    const posted = await fixture.app.inject({
      method: 'POST',
      url: '/api/v2/enrollment-tokens',
      headers: { authorization },
      payload: { note: 3, ttl_seconds: '60', extra: 1 },
    });
    const { answer, body } = await get('/api/v2/events?limit=1000&event_kind=foo&x=1');

    expect(posted.statusCode).toBe(422);
    expect(pointersOf(posted.json())).toEqual(['/extra', '/note', '/ttl_seconds']);
    expect(answer.statusCode).toBe(422);
    expect(pointersOf(body)).toEqual(['/query/event_kind/0', '/query/limit', '/query/x']);
  });

  it.each([
    ['{"note":', 'application/json', 400, 'malformed_body'],
    [`{"note":${'['.repeat(40)}`, 'application/json', 400, 'malformed_body'],
    ['{"__proto__":{"a":1}}', 'application/json', 400, 'malformed_body'],
    ['note=3', 'application/x-www-form-urlencoded', 415, 'unsupported_encoding'],
    [`"${'x'.repeat(1_100_000)}"`, 'application/json', 413, 'body_too_large'],
  ])('should refuse a body %#', async (payload, type, status, code) => {
    fixture = await createFixture();
    const headers = { authorization: `Bearer ${fixture.addKey(['admin'])}`, 'content-type': type };
    const answer = await fixture.app.inject({
      method: 'POST',
      url: '/api/v2/enrollment-tokens',
      headers,
      payload,
    });

    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  it('should be 404 for no resource and 405 with Allow for a wrong method', async () => {
    fixture = await createFixture();
    const nowhere = await fixture.app.inject({ url: '/api/v2/nothing' });
    const wrong = await fixture.app.inject({ method: 'PUT', url: '/api/v2/sensors' });

    expect([nowhere.statusCode, nowhere.json().code]).toEqual([404, 'not_found']);
    expect([wrong.statusCode, wrong.json().code]).toEqual([405, 'method_not_allowed']);
    expect(wrong.headers['allow']).toBe('GET, HEAD');
  });

  it('should be 503 with Retry-After when a store is away, and never a stack', async () => {
    const away = () => Promise.reject(new StoreUnavailable('connection refused by 10.0.0.1'));
    const get = await callerWith(['admin'], {
      events: {
        search: () => Promise.reject(new EventStoreUnavailable('gone')),
        transitionsOf: () => Promise.reject(new TypeError('secret detail')),
      },
    });
    const id = fixture.addSensor(1);
    Object.assign(fixture.relational.sensors, { listBriefly: away });

    for (const url of ['/api/v2/sensors', '/api/v2/events']) {
      const { answer, body } = await get(url);
      expect([answer.statusCode, body.code]).toEqual([503, 'store_unavailable']);
      expect(answer.headers['retry-after']).toBe('5');
      expect(answer.body).not.toContain('10.0.0.1');
    }
    const { answer } = await get(`/api/v2/sensors/${id}/transitions`);
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('secret detail');
  });
});

function pointersOf(problem: { errors: { pointer: string }[] }): string[] {
  return problem.errors.map(({ pointer }) => pointer).sort();
}
