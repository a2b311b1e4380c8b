// The operator plane behind the real listener: what only shows on a socket.
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventQuery } from '../../../storage/ports/telemetry/event-store.ts';
import { type Listening, listenWithFixture } from './listening.fixture.ts';
import { storedEvent } from './operator-plane.fixture.ts';

const PAGE_ROWS = 1_000;
let live: Listening;
let authorization: string;
let asked = 0;
/** When set, the store never ends: every page is full. */
let isEndless = false;
let failsAfter = Number.POSITIVE_INFINITY;

beforeAll(async () => {
  live = await listenWithFixture({
    events: {
      transitionsOf: async () => [],
      async search(query: EventQuery) {
        asked += 1;
        if (asked > failsAfter) throw new Error('the store broke');
        const rows = isEndless ? Math.min(query.limit, PAGE_ROWS) : Math.min(query.limit, 3);
        return Array.from({ length: rows }, (_, i) =>
          storedEvent(i, { message: 'x'.repeat(1_000) }),
        );
      },
    },
  });
  authorization = `Bearer ${live.fixture.addKey(['admin'])}`;
});
afterAll(() => live.close());

type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly of?: Listening;
  readonly agent?: Agent | false;
};

async function ask(asked: Asked) {
  const { method = 'GET', path, headers = {}, body, of = live, agent = false } = asked;
  const outgoing = request(`${of.url}${path}`, {
    method,
    ca: of.caPem,
    agent,
    headers: { authorization, ...headers },
  });
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: incoming.statusCode, headers: incoming.headers, text };
}

describe('the bridge', () => {
  it('should carry an answer with its headers and one request id', async () => {
    const { status, headers, text } = await ask({ path: '/api/v2/sensors?limit=3' });

    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ items: [], next_cursor: null });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['ratelimit']).toMatch(/^"key"/);
    expect(headers['strict-transport-security']).toBeDefined();
  });

  it('should answer HEAD with the length and no body', async () => {
    const get = await ask({ path: '/version' });
    const head = await ask({ method: 'HEAD', path: '/version' });

    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
  });

  it('should name the request in a problem as in its header', async () => {
    const { status, headers, text } = await ask({
      path: '/api/v2/sensors',
      headers: { authorization: 'Bearer nonsense' },
    });

    expect(status).toBe(401);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(text).request_id).toBe(headers['x-request-id']);
    expect(headers['www-authenticate']).toContain('invalid_token');
  });

  it.each([
    ['my-log.17', true],
    ['a b', false],
    ['x'.repeat(65), false],
  ])("should take over a caller's request id only when it is harmless: %s", async (id, isTaken) => {
    const { headers } = await ask({ path: '/version', headers: { 'x-request-id': id } });

    expect(headers['x-request-id'] === id).toBe(isTaken);
  });

  it.each([
    ['announced', { 'content-length': '1200000' }],
    ['far over it', { 'content-length': '99999999' }],
  ])('should refuse a body over the cap when it is %s', async (_, framing) => {
    const { status, text } = await ask({
      method: 'POST',
      path: '/api/v2/enrollment-tokens',
      headers: { 'content-type': 'application/json', ...framing } as Record<string, string>,
      body: Buffer.alloc(1_200_000, 'x'),
    });

    expect(status).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ code: 'body_too_large', status: 413 });
  });

  it('should take a body of a POST', async () => {
    const { status, text } = await ask({
      method: 'POST',
      path: '/api/v2/enrollment-tokens',
      headers: { 'content-type': 'application/json' },
      body: '{"note":"über"}',
    });

    expect(status).toBe(201);
    expect(JSON.parse(text).note).toBe('über');
  });

  it('should not let a header forge the address that budgets and audit see', async () => {
    const { headers } = await ask({
      path: '/version',
      headers: { authorization: '', 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9' },
    });
    const { headers: next } = await ask({ path: '/version', headers: { authorization: '' } });
    const left = (text: unknown) => Number(/r=(\d+)/.exec(String(text))?.[1]);

    expect(left(next['ratelimit'])).toBe(left(headers['ratelimit']) - 1);
  });

  it('should stream an export and stop the producer when the reader leaves', async () => {
    isEndless = true;
    asked = 0;
    const outgoing = request(`${live.url}/api/v2/events`, {
      ca: live.caPem,
      agent: false,
      headers: { authorization, accept: 'application/x-ndjson' },
    });
    outgoing.on('error', () => {});
    outgoing.end();
    const [incoming] = await once(outgoing, 'response');
    await once(incoming, 'data');
    incoming.pause();
    // The reader takes nothing: sockets and buffers fill, then the questions stop.
    const settled = await settledValue(() => asked);
    incoming.on('error', () => {});
    outgoing.destroy();
    const afterLeaving = await settledValue(() => asked);
    isEndless = false;

    expect(incoming.statusCode).toBe(200);
    expect(settled).toBeLessThan(40);
    expect(afterLeaving - settled).toBeLessThanOrEqual(2);
  });

  it('should cut the connection when an export breaks midway, so it cannot look whole', async () => {
    isEndless = true;
    asked = 0;
    failsAfter = 3;

    const cut = ask({ path: '/api/v2/events', headers: { accept: 'text/csv' } });

    await expect(cut).rejects.toThrow();
    isEndless = false;
    failsAfter = Number.POSITIVE_INFINITY;
  });

  it('should refuse what comes on an open connection while the Console stops', async () => {
    const of = await listenWithFixture();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask({ path: '/version', of, agent })).status).toBe(200);
    const { listener } = of.fixture.context;
    const closeConnections = listener.close.bind(listener);
    Object.assign(listener, { close: () => undefined });
    await of.close();

    const { status, headers, text } = await ask({ path: '/version', of, agent });

    expect([status, JSON.parse(text).code]).toEqual([503, 'shutting_down']);
    expect(headers['retry-after']).toBe('5');
    expect(of.failures).toEqual([]);
    agent.destroy();
    closeConnections();
  });

  it('should have failed nowhere', () => {
    expect(live.failures).toEqual([]);
  });
});

/** Looks until a value has been still for a while. */
async function settledValue(read: () => number): Promise<number> {
  let before = -1;
  let stillFor = 0;
  while (stillFor < 5) {
    const value = read();
    stillFor = value === before ? stillFor + 1 : 0;
    before = value;
    await wait(40);
  }
  return before;
}
