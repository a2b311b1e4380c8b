// Attacks on where one request ends and the next begins: what two readers could understand differently is refused, the
// connection closed, and what lies behind it never handled. The prize is a revocation: the smuggled request carries an
// admin's key behind a sensor's certificate. invariant: I9
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { codeOf, heartbeatBody, type Identity, talk } from './peer.ts';

let console: ConsoleUnderTest;
let identity: Identity;
let victim: Identity;
let secret: string;
let smuggled = '';

beforeAll(async () => {
  console = await startConsole();
  identity = await console.enroll('attacker');
  ({ secret } = await console.newKey(['admin']));
});
beforeEach(async () => {
  victim = await console.enroll('victim');
  const body = '{"reason":"smuggled"}';
  smuggled =
    `POST /api/v2/sensors/${victim.sensorId}/revoke HTTP/1.1\r\nhost: localhost\r\n` +
    `authorization: Bearer ${secret}\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`;
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

const post = (headers: string, path = '/sensors/heartbeat') =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}\r\n`;
const isRevoked = async () => {
  const row = await console.stores.relational.sensors.getSensor(victim.sensorId);
  return row?.revokedAtMs !== null;
};
const send = (text: string) => {
  const { cert, key } = identity;
  return talk(console, Buffer.from(text, 'latin1'), { cert, key });
};

describe('attack 18: a second request inside the first', () => {
  const LENGTHS: readonly (readonly [string, (hidden: string) => string])[] = [
    [
      'two lengths',
      (hidden) =>
        `${post(`content-length: 2\r\ncontent-length: ${2 + hidden.length}\r\n`)}{}${hidden}`,
    ],
    [
      'two equal lengths',
      (hidden) => `${post('content-length: 2\r\ncontent-length: 2\r\n')}{}${hidden}`,
    ],
    [
      'a length and chunks',
      (hidden) =>
        `${post('content-length: 2\r\ntransfer-encoding: chunked\r\n')}0\r\n\r\n${hidden}`,
    ],
    [
      'chunks and a length',
      (hidden) =>
        `${post('transfer-encoding: chunked\r\ncontent-length: 2\r\n')}0\r\n\r\n${hidden}`,
    ],
    [
      'two encodings',
      (hidden) =>
        `${post('transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n')}0\r\n\r\n${hidden}`,
    ],
    [
      'an unknown encoding',
      (hidden) => `${post('transfer-encoding: xchunked\r\n')}0\r\n\r\n${hidden}`,
    ],
    [
      'an encoding with a tab',
      (hidden) => `${post('transfer-encoding:\tchunked, identity\r\n')}0\r\n\r\n${hidden}`,
    ],
    ['a list of lengths', (hidden) => `${post('content-length: 2, 2\r\n')}{}${hidden}`],
    ['a signed length', (hidden) => `${post('content-length: +2\r\n')}{}${hidden}`],
    ['a negative length', (hidden) => `${post('content-length: -1\r\n')}${hidden}`],
    ['a length in hexadecimal', (hidden) => `${post('content-length: 0x2\r\n')}{}${hidden}`],
    ['a huge length', (hidden) => `${post('content-length: 99999999999999999999\r\n')}{}${hidden}`],
    ['a folded header', (hidden) => `${post('x-a: b\r\n content-length: 2\r\n')}{}${hidden}`],
    ['a space before the colon', (hidden) => `${post('content-length : 2\r\n')}{}${hidden}`],
    [
      'bare line feeds',
      (hidden) => `${post('content-length: 2\r\n').replaceAll('\r\n', '\n')}{}${hidden}`,
    ],
    ['a null in a header', (hidden) => `${post('x-a: b\0c\r\ncontent-length: 2\r\n')}{}${hidden}`],
    ['two hosts', (hidden) => `${post('host: other\r\ncontent-length: 2\r\n')}{}${hidden}`],
    [
      'two authorizations',
      (hidden) =>
        `${post('authorization: a\r\nauthorization: b\r\ncontent-length: 2\r\n')}{}${hidden}`,
    ],
    [
      'a chunk size that is none',
      (hidden) => `${post('transfer-encoding: chunked\r\n')}zz\r\n{}\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'a chunk size that overflows',
      (hidden) =>
        `${post('transfer-encoding: chunked\r\n')}fffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'a hundred headers',
      (hidden) => `${post(`${'x-a: b\r\n'.repeat(100)}content-length: 2\r\n`)}{}${hidden}`,
    ],
    ['a version without a number', (hidden) => `GET /livez HTTP\r\nhost: a\r\n\r\n${hidden}`],
  ];

  it('should be worth hiding: sent by itself it is handled', async () => {
    const { cert, key } = identity;
    const until = /HTTP\/1\.1 \d{3}/;
    expect(await talk(console, smuggled, { cert, key, until })).toMatch(/^HTTP\/1\.1 200/);
    expect(await isRevoked()).toBe(true);
  });

  it.each(LENGTHS)('should not be handled behind %s', async (_name, build) => {
    const answer = await send(build(smuggled));
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0).toBeLessThanOrEqual(1);
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 [45]\d\d/);
    expect(await isRevoked()).toBe(false);
  });

  it.each([
    ['no version', `GET /livez\r\n\r\n`],
    ['a bare carriage return', `${post('x-a: b\rcontent-length: 2\r\n')}{}`],
  ])(
    'should not be handled behind %s, which reads like a request without an end',
    async (...row) => {
      const [, first] = row;
      const { cert, key } = identity;
      // Silence is the answer; that other requests were served after it proves that it was read. The connection is closed
      // by the listener's idle time-out, which attack 17 waits for.
      const enough = async (sent: Promise<void>) => {
        await sent;
        for (let n = 0; n < 3; n += 1) await console.ask(identity, '/sensors/heartbeat', {});
      };
      expect(await talk(console, `${first}${smuggled}`, { cert, key, enough })).toBe('');
      expect(await isRevoked()).toBe(false);
    },
  );

  it('should not be handled behind a body that was refused', async () => {
    for (const [path, body] of [
      ['/sensors/heartbeat', ' '.repeat(4 * 1_048_576 + 1)],
      ['/sensors/renew', ' '.repeat(65_537)],
      ['/api/v2/enrollment-tokens', ' '.repeat(1_048_577)],
    ] as const) {
      const text = `${post(`content-length: ${body.length}\r\n`, path)}${body}${smuggled}`;
      const answer = await send(text);
      expect(answer.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(await isRevoked()).toBe(false);
    }
  });

  it('should be a request like any other when it is framed well: judged by its own credential', async () => {
    const body = JSON.stringify(heartbeatBody(0, []));
    const first = `${post(`content-length: ${body.length}\r\n`)}${body}`;
    const { cert, key } = identity;
    const without = smuggled.replace(/authorization: [^\r]*\r\n/, '');
    const until = /HTTP\/1\.1 \d{3}[\s\S]*HTTP\/1\.1 \d{3}/;
    const heard = await talk(console, `${first}${without}`, { cert, key, until });
    const codes = heard.match(/HTTP\/1\.1 \d{3}/g) ?? [];
    // A server whose answer takes longer than the next request gives the connection up in place of both answers.
    expect(['HTTP/1.1 200', undefined]).toContain(codes[0]);
    // The sensor's certificate lends nothing to what follows it.
    expect(codes.slice(1).every((line) => line === 'HTTP/1.1 401')).toBe(true);
    expect(await isRevoked()).toBe(false);
  });

  it('should leave the listener sound for everybody else', async () => {
    const answer = await console.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []));
    expect(codeOf(answer)).toEqual([200, undefined]);
    expect(console.errors).toEqual([]);
  });
});
