// The routes of the plane but the stream, each with what it asks of its actor and how it answers what it hears.
import { beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../machines/errors.ts';
import { DEFAULT_INTERVALS as INTERVALS } from '../../machines/intervals.ts';
import { ENROLL_BODY_MAX_BYTES, INVENTORY_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import type { Exchange } from '../listener/exchange.ts';
import { handleEnroll } from './enroll-route.ts';
import { handleEvents } from './events-route.ts';
import { ADDRESS, ask, IDENTITY, NOW_MS, openAdmission } from './exchange.fixture.ts';
import { handleInventory } from './inventory-route.ts';
import { handlePolicyDownload } from './policy-route.ts';
import { handleRenew } from './renew-route.ts';
import { attachSensorPlane } from './sensor-plane.ts';

const ENROLLMENT = {
  ...{ token: 't', csr_pem: 'c', node_name: 'n', flavor: 'standard', boot_id: 'b' },
  system: { os_name: '', os_version: '', architecture: '', kernel_version: '' },
  sensor_version: '1',
};
const EVENT = {
  ...{ event_id: '3'.repeat(32), schema_version: 1, event_kind: 'process_exec' },
  ...{ observed_at: '2026-01-01T00:00:00.000Z', severity: 'info', message: 'it ran' },
};
const BATCH = { stream_id: '2'.repeat(32), sequence: 7, events: [EVENT] };

type Asked = Parameters<typeof ask>[0];
let plane: ReturnType<typeof openAdmission>;
let heard: unknown[];
beforeEach(() => {
  plane = openAdmission();
  heard = [];
});
/** Something that is asked, and what it answers. */
const answering =
  (outcome: unknown) =>
  async (...asked: unknown[]) => {
    heard.push(...asked);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
async function run(
  handle: (deps: never, exchange: Exchange) => Promise<void>,
  more: object,
  asked: Asked,
) {
  const one = ask(asked);
  await handle({ ...plane.deps, ...more } as never, one.exchange);
  return one.answer();
}
const json = (value: unknown) => ({ body: JSON.stringify(value) });
const CONFLICT = refuse('token_invalid', 'no');

describe('an enrollment', () => {
  const enroll = (outcome: unknown, asked: Asked) =>
    run(handleEnroll, { enroll: answering(outcome) }, asked);

  it('should be answered 201, and give its address back what it took', async () => {
    const answer = await enroll({ ok: true, response: { a: 1 } }, json(ENROLLMENT));
    expect([answer?.status, answer?.body]).toEqual([201, { a: 1 }]);
    expect(heard).toEqual([ENROLLMENT, { address: ADDRESS }]);
    expect(plane.spent.toSorted()).toEqual(['cleared 1', `gave ${ADDRESS}`, `took ${ADDRESS}`]);
  });

  it('should cost its address one when it is refused', async () => {
    for (const [asked, code] of [
      [json(ENROLLMENT), CONFLICT.code],
      [json({}), 'schema_violation'],
      [{ body: 'x'.repeat(ENROLL_BODY_MAX_BYTES + 1) }, 'body_too_large'],
    ] as const) {
      plane = openAdmission();
      expect((await enroll(CONFLICT, asked))?.body.code).toBe(code);
      expect(plane.spent).not.toContain(`gave ${ADDRESS}`);
      expect(plane.spent).toContain(`took ${ADDRESS}`);
    }
    expect(heard).toHaveLength(2);
  });

  it('should be answered once when the address has nothing left, and not when the peer is gone', async () => {
    const state = { allowed: false, limit: 1, remaining: 0, resetMs: 1 };
    const budget = { ...plane.deps.budget, consume: async () => state };
    const more = { enroll: answering(CONFLICT), budget };
    expect((await run(handleEnroll, more, json(ENROLLMENT)))?.status).toBe(429);
    const gone = ask(json(ENROLLMENT));
    const deps = { ...plane.deps, enroll: answering(CONFLICT) };
    const waiting = handleEnroll(deps as never, gone.exchange);
    gone.leave();
    await waiting;
    expect([gone.answer(), heard]).toEqual([null, []]);
  });
});

describe('a renewal', () => {
  const renew = (outcome: unknown, asked: Asked) =>
    run(handleRenew, { renew: answering(outcome) }, asked);

  it('should be answered by what became of it, for who asks', async () => {
    const done = await renew({ ok: true, response: { a: 1 } }, json({ csr_pem: 'c' }));
    expect([done?.status, done?.body]).toEqual([200, { a: 1 }]);
    expect(heard).toEqual([{ identity: IDENTITY, csrPem: 'c', from: ADDRESS }]);
    expect((await renew(CONFLICT, json({ csr_pem: 'c' })))?.body.code).toBe(CONFLICT.code);
  });

  it('should be refused when it is none', async () => {
    expect((await renew(CONFLICT, json({})))?.body.code).toBe('schema_violation');
    const large = { body: 'x'.repeat(ENROLL_BODY_MAX_BYTES + 1) };
    expect((await renew(CONFLICT, large))?.body.code).toBe('body_too_large');
    expect(heard).toEqual([]);
  });
});

describe('an inventory', () => {
  const REPORT = { is_full_snapshot: true, sections: {} };
  const report = (outcome: unknown, asked: Asked) =>
    run(handleInventory, { inventory: { receive: answering(outcome) } }, asked);

  it('should be answered by what became of it, for who asks', async () => {
    const done = await report({ ok: true, response: { a: 1 } }, json(REPORT));
    expect([done?.status, done?.body]).toEqual([200, { a: 1 }]);
    expect(heard).toEqual([IDENTITY.sensorId, REPORT, NOW_MS]);
    expect((await report(CONFLICT, json(REPORT)))?.body.code).toBe(CONFLICT.code);
  });

  it('should be refused when it is none', async () => {
    expect((await report(CONFLICT, json([])))?.body.code).toBe('schema_violation');
    const large = { body: Buffer.alloc(INVENTORY_BODY_MAX_BYTES + 1) };
    expect((await report(CONFLICT, large))?.body.code).toBe('body_too_large');
    expect(heard).toEqual([]);
  });
});

describe('a batch of events', () => {
  const send = (outcome: unknown, asked: Asked) =>
    run(handleEvents, { ingest: { ingest: answering(outcome) } }, asked);
  const STORED = { ok: true, acknowledged: 7, repeated: false };
  const STORE = {
    ...{ identity: IDENTITY, streamId: BATCH.stream_id, channel: 'batch', sequence: 7 },
    ...{ events: [EVENT], receivedAtMs: NOW_MS },
  };

  it('should be acknowledged by its number, as a document and as lines', async () => {
    const lines = {
      headers: {
        ...{ 'content-type': 'application/x-ndjson' },
        ...{ 'x-service-stream': BATCH.stream_id, 'x-service-sequence': '7' },
      },
      body: JSON.stringify(EVENT),
    };
    for (const asked of [json(BATCH), lines]) {
      heard = [];
      const answer = await send(STORED, asked);
      expect([answer?.status, answer?.body]).toEqual([202, { acknowledged_sequence: 7 }]);
      expect(heard).toEqual([STORE]);
    }
    await send(STORED, json({ ...BATCH, channel: 'stream' }));
    expect(heard.at(-1)).toEqual({ ...STORE, channel: 'stream' });
  });

  it('should be refused by what became of it, and come back later when the store is away', async () => {
    const busy = { ok: false, busy: true, retryAfterMs: 3_000 };
    expect(await send(busy, json(BATCH))).toMatchObject({
      ...{ status: 503, headers: { 'retry-after': '3' }, body: { code: 'store_unavailable' } },
    });
    const other = { ...refuse('sequence_conflict', 'other'), busy: false };
    expect((await send(other, json(BATCH)))?.body.code).toBe('sequence_conflict');
    expect((await send(STORED, json({})))?.body.code).toBe('schema_violation');
    expect((await send(STORED, { body: 'x', headers: { 'content-type': 'a/b' } }))?.body).toEqual(
      expect.objectContaining({
        detail: 'Content-Type must be application/json or application/x-ndjson.',
      }),
    );
  });
});

describe('policies', () => {
  const PACK = { pack: { a: 1 }, etag: 'e' };
  const get = (path: string, found: unknown, headers = {}) =>
    run(
      handlePolicyDownload,
      { downloads: { pack: answering(found), custom: answering(found) } },
      { method: 'GET', path: `/sensors/policies/${path}`, headers },
    );

  it('should be downloaded by pack and version, and by revision', async () => {
    expect(await get('p/3', PACK)).toMatchObject({
      status: 200,
      headers: { etag: '"e"', 'cache-control': 'no-store', 'content-type': 'application/json' },
      body: { a: 1 },
    });
    expect(await get('custom/4', { b: 2 })).toMatchObject({
      ...{ status: 200, headers: { etag: '"custom-4"' }, body: { b: 2 } },
    });
    expect(heard).toEqual(['s', 'p', 3, 's', 4]);
  });

  it('should not be sent again to who has them', async () => {
    const same = await get('p/3', PACK, { 'if-none-match': '"e"' });
    expect(same).toMatchObject({
      ...{ status: 304, headers: { etag: '"e"', 'cache-control': 'no-store' }, body: null },
    });
    expect((await get('p/3', PACK, { 'if-none-match': '"f"' }))?.status).toBe(200);
  });

  it.each(['p', 'p/', 'p/x', 'p/3x', 'p/x3', 'p/-1', 'p/12345678901', 'p/3/', 'p/3/4'])(
    'should not be there under another address: %s',
    async (path) => {
      expect((await get(path, PACK))?.body).toMatchObject({
        ...{ code: 'not_found', detail: 'No such policies are assigned to this sensor.' },
      });
      expect(heard).toEqual([]);
    },
  );

  it('should be there for nobody they are not assigned to', async () => {
    expect((await get('p/1234567890', null))?.body.code).toBe('not_found');
    expect((await get('custom/1', null))?.body.code).toBe('not_found');
    expect(heard).toHaveLength(5);
    const more = { authenticate: () => refuse('sensor_revoked', 'gone') };
    const asked = { method: 'GET', path: '/sensors/policies/p/3' };
    expect((await run(handlePolicyDownload, more, asked))?.body.code).toBe('sensor_revoked');
  });

  it('should come later when the database is away, and fail for anything else', async () => {
    expect(await get('p/3', new StoreUnavailable('away'))).toMatchObject({
      status: 503,
      headers: { 'retry-after': String(INTERVALS.RETRY_AFTER_STORE_MS / 1_000) },
      body: { code: 'store_unavailable', detail: 'The database is away.' },
    });
    await expect(get('p/3', new Error('broken'))).rejects.toThrow('broken');
  });
});

describe('a path of the plane', () => {
  it('should be answered by its own method alone, and every other path by a refusal', async () => {
    const routes = new Map<string, (exchange: Exchange) => unknown>();
    const app = { any: (path: string, handler: never) => void routes.set(path, handler) };
    const answer = async (exchange: Exchange) => void heard.push(exchange.request.method);
    const posts = [
      { path: '/sensors/post', answer },
      { path: '/sensors/get', method: 'GET' as const, answer },
    ];
    attachSensorPlane(app as never, posts, ((handler: unknown) => handler) as never);
    const status = async (path: string, method: string) => {
      const one = ask({ method });
      await routes.get(path)?.(one.exchange);
      return one.answer()?.status ?? null;
    };
    expect([await status('/sensors/post', 'POST'), await status('/sensors/get', 'GET')]).toEqual([
      ...[null, null],
    ]);
    expect([await status('/sensors/post', 'GET'), await status('/sensors/get', 'POST')]).toEqual([
      ...[405, 405],
    ]);
    expect(heard).toEqual(['POST', 'GET']);
    const other = ask();
    routes.get('/sensors/*')?.(other.exchange);
    expect(other.answer()?.body).toMatchObject({ code: 'not_found', detail: 'No such route.' });
  });
});
