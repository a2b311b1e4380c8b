// What stands before the work of every route: the certificate, the budget of an address, the body.
import { zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../machines/errors.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { admit, admitWithBody, answerRefusal, readText, refuseMethod } from './admission.ts';
import type { AdmissionDeps } from './deps.ts';
import { ADDRESS, ask, IDENTITY, openAdmission } from './exchange.fixture.ts';

const NOBODY = refuse('client_certificate_required', 'none');
const REVOKED = refuse('sensor_revoked', 'gone');
const LIMITS = { maxBytes: 100 };

let plane: ReturnType<typeof openAdmission>;
beforeEach(() => {
  plane = openAdmission();
});
const judging = (verdict: unknown): AdmissionDeps =>
  ({ ...plane.deps, authenticate: () => verdict }) as AdmissionDeps;

/** An address that has nothing left. */
function spend(deps: AdmissionDeps): AdmissionDeps {
  const state = { allowed: false, limit: 10, remaining: 0, resetMs: 4_200 };
  return { ...deps, budget: { ...deps.budget, consume: async () => state } };
}

describe('a refusal', () => {
  it('should say what was wrong, where, and how long to wait, and no more than is known', () => {
    const [full, bare] = [ask(), ask()];
    const errors = [{ pointer: '/a', detail: 'is wrong' }];
    const said = refuse('schema_violation', 'why', { errors, retryAfterMs: 1_500 });
    answerRefusal(full.exchange, said, { 'x-more': 'more' });
    expect(full.answer()).toMatchObject({
      status: 422,
      headers: { 'content-type': 'application/problem+json', 'retry-after': '2', 'x-more': 'more' },
      body: { code: 'schema_violation', detail: 'why', errors, request_id: 'r' },
    });
    answerRefusal(bare.exchange, refuse('not_found', 'why'));
    expect(bare.answer()?.headers).not.toHaveProperty('retry-after');
    expect(bare.answer()?.body).not.toHaveProperty('errors');
  });

  it('should name the method that a path knows', () => {
    const asked = ask({ method: 'PUT' });
    refuseMethod(asked.exchange, 'GET');
    expect(asked.answer()).toMatchObject({
      ...{ status: 405, headers: { allow: 'GET' } },
      body: { detail: 'Only GET is allowed here.' },
    });
  });
});

describe('a request without a body', () => {
  it('should be let in by its certificate, for nothing', async () => {
    const asked = ask({ method: 'GET' });
    expect(await admit(plane.deps, asked.exchange)).toBe(IDENTITY);
    expect([asked.answer(), plane.spent]).toEqual([null, []]);
  });

  it('should cost its address one when it shows no certificate, and only then', async () => {
    for (const [verdict, spent, status] of [
      [NOBODY, [`took ${ADDRESS}`], 401],
      [REVOKED, [], 403],
    ] as const) {
      plane = openAdmission();
      const asked = ask();
      expect(await admit(judging(verdict), asked.exchange)).toBeNull();
      expect([asked.answer()?.status, asked.answer()?.body.code, plane.spent]).toEqual([
        ...[status, verdict.code, spent],
      ]);
    }
  });

  it('should hear when it may come back once its address has nothing left', async () => {
    const asked = ask();
    expect(await admit(spend(judging(NOBODY)), asked.exchange)).toBeNull();
    expect(asked.answer()).toMatchObject({
      status: 429,
      headers: { 'retry-after': '5', ratelimit: '"unauthenticated";r=0;t=5' },
      body: { code: 'rate_limited', detail: 'Too many requests without a certificate.' },
    });
  });
});

describe('a body', () => {
  const read = (headers: Record<string, string>, body: string | Uint8Array = '{}') =>
    readText(plane.deps, ask({ headers, body }).exchange, LIMITS);

  it('should be plain or zstd, in whatever case and type it says so', async () => {
    expect(await read({})).toEqual({ ok: true, text: '{}' });
    expect(await read({ 'content-encoding': 'identity' })).toEqual({ ok: true, text: '{}' });
    const packed = zstdCompressSync('{"a":1}');
    for (const name of ['zstd', ' ZSTD ']) {
      const type = 'Application/JSON; charset=utf-8';
      const answer = await read({ 'content-encoding': name, 'content-type': type }, packed);
      expect(answer).toEqual({ ok: true, text: '{"a":1}' });
    }
  });

  it.each([
    [{ 'content-encoding': 'gzip' }, '{}', 'Content-Encoding may be zstd or absent.'],
    [{ 'content-type': 'text/plain' }, '{}', 'Content-Type must be application/json.'],
    [{}, Buffer.from([0xff]), 'The body is not UTF-8 text.'],
    [{}, 'x'.repeat(101), 'the body may hold at most 100 bytes'],
    [{ 'content-encoding': 'zstd' }, '{}', 'the body is not a zstd frame'],
    [{ 'content-encoding': 'zstd' }, zstdCompressSync('x'.repeat(101)), /^the body may .* 100 /],
  ])('should be refused when it is something else: %o', async (headers, body, detail) => {
    const answer = await read(headers as never, body);
    expect(answer.ok ? '' : answer.detail).toMatch(detail);
    expect(answer.ok).toBe(false);
  });

  it('should name all types that a route reads', async () => {
    const types = ['a/a', 'b/b'];
    const asked = ask({ body: '{}' });
    expect(await readText(plane.deps, asked.exchange, { ...LIMITS, types })).toMatchObject({
      detail: 'Content-Type must be a/a or b/b.',
    });
    expect(asked.isRead()).toBe(false);
  });

  it('should have so long, by the clock of the plane, and leave no timer behind', async () => {
    await read({});
    expect(plane.timers.map(({ delayMs }) => delayMs)).toEqual([
      DEFAULT_INTERVALS.BODY_READ_TIMEOUT_MS,
    ]);
    expect(plane.spent).toEqual(['cleared 1']);
  });
});

describe('a request with a body', () => {
  const post = (more = {}) => ask({ body: '{"a":1}', ...more });

  it('should bring who asks and the text', async () => {
    const asked = post();
    const later = { ...IDENTITY, status: 'overlapping' };
    const cache = { ...plane.deps.cache, judge: () => ({ ok: true, identity: later }) };
    const admitted = await admitWithBody({ ...plane.deps, cache } as never, asked.exchange, LIMITS);
    expect(admitted).toEqual({ identity: later, text: '{"a":1}' });
    expect(asked.answer()).toBeNull();
  });

  it('should not be read from a peer that is known to be nobody', async () => {
    const asked = post();
    expect(await admitWithBody(judging(NOBODY), asked.exchange, LIMITS)).toBeNull();
    expect([asked.isRead(), asked.answer()?.status, plane.spent]).toEqual([
      ...[false, 401, [`took ${ADDRESS}`]],
    ]);
  });

  it('should be refused by who asks before what it says, however late that is known', async () => {
    const asked = post({ headers: { 'content-encoding': 'gzip' } });
    const late = judging(Promise.resolve(REVOKED));
    expect(await admitWithBody(late, asked.exchange, LIMITS)).toBeNull();
    expect(asked.answer()?.body.code).toBe('sensor_revoked');
  });

  it('should let nobody in who was revoked while it came', async () => {
    const asked = post();
    const cache = { ...plane.deps.cache, judge: () => REVOKED };
    expect(
      await admitWithBody({ ...plane.deps, cache } as never, asked.exchange, LIMITS),
    ).toBeNull();
    expect(asked.answer()?.body.code).toBe('sensor_revoked');
  });

  it('should be refused for what it is, and not when its peer is gone', async () => {
    const wrong = post({ headers: { 'content-encoding': 'gzip' } });
    expect(await admitWithBody(plane.deps, wrong.exchange, LIMITS)).toBeNull();
    expect(wrong.answer()?.status).toBe(415);
    const gone = post();
    const waiting = admitWithBody(plane.deps, gone.exchange, LIMITS);
    gone.leave();
    expect([await waiting, gone.answer()]).toEqual([null, null]);
  });
});
