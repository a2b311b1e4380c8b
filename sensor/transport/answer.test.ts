// What a Console, or whoever answers in its place, may say: each is one of a few values, and no text of theirs is too long.
import { describe, expect, it } from 'vitest';
import { isObject, retryAfterOf, sentenceOf, waitOf } from './answer.ts';
import { answerOf, problemCodeOf } from './console-client.ts';
import { parseFingerprint } from './pinned-ca.ts';
import { frameOf } from './stream-socket.ts';
import { isTrustTrouble, type TroubleKind, troubleOf } from './trouble.ts';
import { troubleSentence } from './trouble-sentence.ts';

describe('an answer', () => {
  it('should be taken from 200 to 299 alone, as JSON and as text', () => {
    for (const status of [200, 204, 299]) {
      const answer = answerOf(status, '{"a":1}', 5);
      expect(answer).toEqual({ ok: true, status, json: { a: 1 }, text: '{"a":1}' });
    }
    expect(answerOf(200, '<html>', null)).toMatchObject({ ok: true, json: null, text: '<html>' });
    for (const status of [0, 101, 199, 300, 404, 503]) {
      expect(answerOf(status, '', null)).toEqual({
        ...{ ok: false, kind: 'refused', status, code: `http_${status}`, detail: '' },
        retryAfterMs: null,
      });
    }
  });

  it('should bring code, detail and wait of a refusal, each bounded', () => {
    const problem = { code: 'c'.repeat(65), title: 'title', detail: 'd'.repeat(501) };
    expect(answerOf(429, JSON.stringify(problem), 7_000)).toEqual({
      ...{ ok: false, kind: 'refused', status: 429, code: 'c'.repeat(64), detail: 'd'.repeat(500) },
      retryAfterMs: 7_000,
    });
    const titled = answerOf(400, '{"code":"bad","title":"only a title"}', null);
    expect(titled).toMatchObject({ code: 'bad', detail: 'only a title' });
  });

  it.each(['[{"code":"x"}]', 'null', '"code"', '7', '{"code":{"toString":1},"detail":[]}'])(
    'should have no code of what is no problem document: %s',
    (text) => {
      expect(answerOf(500, text, null)).toMatchObject({ code: 'http_500', detail: '' });
      expect(problemCodeOf(text)).toBe('');
    },
  );

  it('should have the code of a problem document, and none of a text', () => {
    expect(problemCodeOf(`{"code":"${'c'.repeat(65)}"}`)).toBe('c'.repeat(64));
    expect(problemCodeOf('{"code":"busy"')).toBe('');
  });

  it('should be an object when it is one', () => {
    expect([{}, [], null, 'text', undefined].map(isObject)).toEqual([
      ...[true, false, false, false, false],
    ]);
  });

  it('should say in one sentence what failed, and how long to wait', () => {
    const refused = { ok: false, kind: 'refused', status: 429, code: 'busy', detail: 'later' };
    const answer = { ...refused, retryAfterMs: 9 } as const;
    expect([sentenceOf(answer as never), waitOf(answer as never)]).toEqual(['busy: later', 9]);
    const lost = (kind: TroubleKind) =>
      ({ ok: false, kind: 'unreachable', trouble: { kind, detail: 'why' } }) as const;
    expect(sentenceOf(lost('timed_out'))).toBe('timed_out: why');
    expect(sentenceOf(lost('certificate_expired'))).toBe(
      'certificate_expired: why; if it has not, one of the clocks is wrong',
    );
    expect(waitOf(lost('timed_out'))).toBeNull();
    expect(waitOf({ ok: true, status: 200, json: null })).toBeNull();
  });
});

describe('Retry-After', () => {
  it('should be seconds and nothing else', () => {
    const read = [undefined, '', '3', ' 4 ', '0.5', '9999999', '10000000', '-1', '1.', 'x3', '3x'];
    expect([...read, 'Sat, 28 Nov 2026 10:00:00 GMT'].map(retryAfterOf)).toEqual([
      ...[null, null, 3_000, 4_000, 500, 9_999_999_000, null, null, null, null, null, null],
    ]);
  });
});

describe('a fingerprint', () => {
  const hex = 'ab'.repeat(32);
  it.each([hex, hex.toUpperCase(), `sha256:${hex}`, `SHA-256=${hex}`, hex.replace(/..\B/g, '$&:')])(
    'should be read however it is written: %s',
    (text) => expect(parseFingerprint(text)).toBe(hex),
  );
  it.each([
    ...['', hex.slice(1), `${hex}0`, `g${hex.slice(1)}`, `md5:${hex}`, `sha256:sha256:${hex}`],
    ...[`absha256:${hex.slice(2)}`, `${hex}sha256:`],
  ])('should be no fingerprint: %s', (text) => expect(parseFingerprint(text)).toBeNull());
});

describe('trouble', () => {
  it.each<[message: string, code: string | undefined, kind: TroubleKind]>([
    ['sslv3 alert certificate expired', undefined, 'certificate_expired'],
    ['tlsv1 alert unknown ca', undefined, 'certificate_refused'],
    ['alert bad certificate', undefined, 'certificate_refused'],
    ['write EPROTO: SSL alert number 48', 'EPROTO', 'certificate_refused'],
    ['getaddrinfo', 'ENOTFOUND', 'name_not_found'],
    ['getaddrinfo', 'EAI_AGAIN', 'name_not_found'],
    ['connect', 'ECONNREFUSED', 'connection_refused'],
    ['connect', 'ETIMEDOUT', 'timed_out'],
    ['aborted', 'ABORT_ERR', 'timed_out'],
    ['the request timed out', undefined, 'timed_out'],
    ['Connection timeout', undefined, 'timed_out'],
    ['Hostname differs', 'HOSTNAME_MISMATCH', 'console_not_trusted'],
    ['no issuer', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'console_not_trusted'],
    ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'console_not_trusted'],
    ['other names', 'ERR_TLS_CERT_ALTNAME_INVALID', 'console_not_trusted'],
    ['socket hang up', 'ECONNRESET', 'connection_lost'],
  ])('should be of its kind: %s, %s', (message, code, kind) => {
    const trouble = troubleOf({ message, ...(code === undefined ? {} : { code }) });
    expect(trouble).toEqual({ kind, detail: code === undefined ? message : `${code}: ${message}` });
  });

  it('should be told of anything thrown, at no great length', () => {
    expect(troubleOf('odd')).toEqual({ kind: 'connection_lost', detail: 'odd' });
    expect(troubleOf(new Error('x'.repeat(900))).detail).toBe('x'.repeat(500));
  });

  it('should be of trust or of the way', () => {
    const ofTrust = ['certificate_expired', 'certificate_refused', 'console_not_trusted'] as const;
    expect(ofTrust.map(isTrustTrouble)).toEqual([true, true, true]);
    const ofWay = ['name_not_found', 'connection_refused', 'timed_out', 'answer_unreadable'];
    expect(ofWay.map((kind) => isTrustTrouble(kind as TroubleKind))).toEqual([
      ...[false, false, false, false],
    ]);
  });

  it.each<[TroubleKind, string, RegExp]>([
    ['certificate_expired', '', /^c\.example refused the certificate of this node: see .* doctor$/],
    ['certificate_refused', '', /^c\.example refused the certificate of this node: see .* doctor$/],
    ['answer_unreadable', '', /^what answers at c\.example is no Console: check --url$/],
    ['connection_lost', 'the proxy refused: 407', /^the proxy refused: 407: check HTTPS_PROXY$/],
    ['connection_lost', 'EHOSTUNREACH', /^there is no way to c\.example/],
    ['connection_lost', 'WRONG version NUMBER', /does not speak TLS/],
    ['console_not_trusted', 'HOSTNAME_MISMATCH', /other names/],
  ])('should say what to do about %s %s', (kind, detail, said) => {
    expect(troubleSentence({ kind, detail }, new URL('https://c.example'), 0)).toMatch(said);
  });
});

describe('a frame of the Console', () => {
  it('should be one of the known ones, or nothing', () => {
    const ping = { type: 'ping', at: '2026-01-01T00:00:00.000Z' };
    expect(frameOf(JSON.stringify(ping))).toEqual(ping);
    for (const text of ['', '[]', 'null', '{}', '{"type":7}', '{"type":"ping"}', '{"type":"new"}'])
      expect(frameOf(text)).toBeNull();
  });

  it('should name what it knows of what to refresh', () => {
    const of = (what: unknown) => frameOf(JSON.stringify({ type: 'refresh', what }));
    expect(of(['policy', 'moon', 7, 'settings'])).toEqual({
      ...{ type: 'refresh', what: ['policy', 'settings'] },
    });
    expect(of('policy')).toBeNull();
  });
});
