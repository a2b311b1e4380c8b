// The route of the stream without a socket: who is upgraded with what, and that callbacks only hand over.
import { beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../machines/errors.ts';
import {
  STREAM_BACKPRESSURE_MAX_BYTES,
  STREAM_FRAME_MAX_BYTES,
  STREAM_IDLE_TIMEOUT_S,
} from '../../machines/limits.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import type { Exchange } from '../listener/exchange.ts';
import { ADDRESS, ask, IDENTITY, openAdmission } from './exchange.fixture.ts';
import type { StreamPeer } from './stream-hub.ts';
import { attachStream } from './stream-route.ts';

const INSTANCE = 'a'.repeat(32);
const HEADERS = {
  ...{ 'sec-websocket-protocol': 'other, service.stream.v1', 'x-service-instance': INSTANCE },
  ...{ 'sec-websocket-key': 'key', 'sec-websocket-extensions': 'more' },
};
const UPGRADED = { instanceHeader: INSTANCE, address: ADDRESS, connection: null, isClosed: false };

type Socket = ReturnType<typeof socketFor>;
type Behavior = Record<string, unknown> & {
  upgrade(res: unknown, req: unknown, context: unknown): Promise<void>;
  open(ws: Socket): void;
  message(ws: Socket, message: ArrayBuffer, isBinary: boolean): void;
  close(ws: Socket): void;
};
let behavior: Behavior;
let plain: (exchange: Exchange) => void;
let asked: ReturnType<typeof ask>;
let paths: string[];
let peers: StreamPeer[];
let left: string[];
let isDown: boolean;

function attach(more: object = {}): void {
  const app = {
    ws(path: string, given: Behavior) {
      paths.push(path);
      behavior = given;
    },
    any(path: string, handler: typeof plain) {
      paths.push(path);
      plain = handler;
    },
  };
  const service = {
    ...{ enter: (peer: StreamPeer) => void peers.push(peer), isShutDown: () => isDown },
    leave: (_: StreamPeer, reason: string) => void left.push(reason),
  };
  // An exchange is opened by what the listener gives: here the one that a test asks with.
  const handle = (handler: (exchange: Exchange) => unknown) => () => handler(asked.exchange);
  attachStream(
    app as never,
    { ...openAdmission().deps, ...more } as never,
    service as never,
    handle as never,
  );
}
beforeEach(() => {
  [paths, peers, left, isDown] = [[], [], [], false];
  attach();
});

async function upgrade(headers: Record<string, string> = HEADERS) {
  asked = ask({ method: 'GET', headers });
  await behavior.upgrade(null, null, 'context');
  return asked;
}
/** The socket of an upgrade; `sendsAs` is what the native server says of a send. */
function socketFor(data: object, sendsAs = 1) {
  const out: unknown[] = [];
  return {
    ...{ out, getUserData: () => data },
    send(text: string) {
      out.push(text);
      return sendsAs;
    },
    end: (...why: unknown[]) => void out.push(why),
  };
}
function opened(sendsAs = 1) {
  const data = { ...UPGRADED, identity: IDENTITY };
  const socket = socketFor(data, sendsAs);
  behavior.open(socket);
  const [peer] = peers;
  if (peer === undefined) throw new Error('the stream did not enter');
  return { data, socket, peer };
}
const bytesOf = (text: string) => new TextEncoder().encode(text).buffer;

describe('the upgrade to a stream', () => {
  it('should be bounded, and be at the path of streams', () => {
    expect(paths).toEqual([SENSOR_PATHS.stream, SENSOR_PATHS.stream]);
    expect(behavior).toMatchObject({
      maxPayloadLength: STREAM_FRAME_MAX_BYTES,
      maxBackpressure: STREAM_BACKPRESSURE_MAX_BYTES,
      closeOnBackpressureLimit: true,
      idleTimeout: STREAM_IDLE_TIMEOUT_S,
    });
  });

  it('should take along who it is, since a socket cannot be asked', async () => {
    const { upgrades, exchange, answer } = await upgrade();
    const data = { ...UPGRADED, identity: IDENTITY };
    expect(upgrades).toEqual([[data, 'key', 'service.stream.v1', 'more', 'context']]);
    expect([exchange.state, answer()]).toEqual(['answered', null]);
    const bare = await upgrade({ 'sec-websocket-protocol': 'service.stream.v1' });
    expect(bare.upgrades).toEqual([
      [{ ...data, instanceHeader: null }, '', 'service.stream.v1', '', 'context'],
    ]);
  });

  it.each([
    [{ 'sec-websocket-protocol': 'other' }, 'The subprotocol must be service.stream.v1.'],
    [{ 'sec-websocket-protocol': '' }, 'The subprotocol must be service.stream.v1.'],
    [{ 'x-service-instance': 'A'.repeat(32) }, 'x-service-instance must be 32 hexadecimal digits.'],
    [{ 'x-service-instance': `${INSTANCE}a` }, 'x-service-instance must be 32 hexadecimal digits.'],
    [{ 'x-service-instance': `x${INSTANCE}` }, 'x-service-instance must be 32 hexadecimal digits.'],
  ])('should be refused when it is not that of a Sensor: %o', async (headers, detail) => {
    const { upgrades, answer } = await upgrade({ ...HEADERS, ...headers });
    expect(answer()).toMatchObject({ status: 400, body: { code: 'malformed_request', detail } });
    expect(upgrades).toEqual([]);
  });

  it('should be refused to nobody it knows, and when the Console stops', async () => {
    isDown = true;
    const stopping = await upgrade();
    expect(stopping.answer()).toMatchObject({
      headers: { 'retry-after': expect.any(String) },
      body: { code: 'shutting_down', detail: 'The Console is stopping.' },
    });
    attach({ authenticate: () => refuse('sensor_revoked', 'gone') });
    const revoked = await upgrade();
    expect(revoked.answer()?.body.code).toBe('sensor_revoked');
    expect([...stopping.upgrades, ...revoked.upgrades]).toEqual([]);
  });

  it('should not be given to a peer that left meanwhile', async () => {
    asked = ask({ method: 'GET', headers: HEADERS });
    const waiting = behavior.upgrade(null, null, 'context');
    asked.leave();
    await waiting;
    expect([asked.upgrades, asked.answer(), asked.exchange.state]).toEqual([[], null, 'aborted']);
  });

  it('should be missed where a request is none', () => {
    for (const [method, status, detail] of [
      ['GET', 400, 'The stream is a WebSocket; ask for the upgrade.'],
      ['POST', 405, 'Only GET is allowed here.'],
    ] as const) {
      const one = ask({ method });
      asked = one;
      (plain as () => void)();
      expect(one.answer()).toMatchObject({ status, body: { detail } });
    }
  });
});

describe('the socket of a stream', () => {
  it('should bring its frames as text, and end on others', () => {
    const { socket, peer } = opened();
    expect([peer.sensorId, peer.address]).toEqual([IDENTITY.sensorId, ADDRESS]);
    behavior.message(socket, bytesOf('{"type":"goodbye","reason":"ä"}'), false);
    expect(socket.out).toEqual([[1000, 'goodbye']]);
    const other = opened();
    behavior.message(other.socket, bytesOf('{"type":"goodbye"}'), true);
    expect([other.socket.out, left]).toEqual([
      [[1008, 'malformed_body']],
      ['goodbye', 'malformed_body'],
    ]);
  });

  it('should say whether a frame was taken', () => {
    expect(
      [0, 1, 2].map((sendsAs) => opened(sendsAs).peer && peers.at(-1)?.send({ type: 'revoked' })),
    ).toEqual([...[true, true, false]]);
  });

  it('should be left alone once it is gone', () => {
    const { data, socket, peer } = opened();
    behavior.close(socket);
    expect([data.isClosed, left]).toEqual([true, ['peer_gone']]);
    expect(peer.send({ type: 'revoked' })).toBe(false);
    peer.end(1000, 'replaced');
    expect(socket.out).toEqual([]);
    const early = socketFor({ ...UPGRADED });
    behavior.message(early, bytesOf('{}'), false);
    behavior.message(early, bytesOf('{}'), true);
    behavior.close(early);
    expect(early.out).toEqual([]);
  });
});
