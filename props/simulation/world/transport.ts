// The Sensor's transport over the simulated network: keep-alive requests with a deadline, and the stream. An answer
// passes through the same reading as a real one.
import { STREAM_IDLE_TIMEOUT_S } from '../../../machines/limits.ts';
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import { INSTANCE_HEADER, SENSOR_SUBPROTOCOL } from '../../../machines/wire/scalars.ts';
import type { Answer } from '../../../sensor/transport/answer.ts';
import { isObject, retryAfterOf } from '../../../sensor/transport/answer.ts';
import {
  answerOf,
  type ClientOptions,
  type ConsoleClient,
} from '../../../sensor/transport/console-client.ts';
import {
  frameOf,
  type StreamHandlers,
  type StreamOpening,
} from '../../../sensor/transport/stream-socket.ts';
import type { Transport } from '../../../sensor/transport/transport.ts';
import type { Trouble } from '../../../sensor/transport/trouble.ts';
import { rootsPemOf } from './certificates.ts';
import { ANY_ROOT, type Dialled, type Dialler, dial, type Listening } from './dial.ts';
import { type EdgeSocket, UNREAD_MAX_BYTES } from './edge.ts';
import type { Asker, EdgeAnswer } from './edge-exchange.ts';
import type { Connection } from './network.ts';

const TIMED_OUT: Trouble = { kind: 'timed_out', detail: 'the request timed out' };
const LOST: Trouble = { kind: 'connection_lost', detail: 'ECONNRESET' };
/** A middlebox that repeats a request does so within a minute. */
const REPLAY_WITHIN_MS = 60_000;

type Asked = { readonly method: 'get' | 'post'; readonly path: string; readonly body: string };
type Line = { readonly connection: Connection; readonly at: Listening };

/** Makes the transport of one life of a node. */
export function worldTransport(from: Dialler): Transport {
  return {
    createClient: (options) => createClient(from, options),
    openStream: (client, hello, handlers, timeoutMs) =>
      openStream(from, client, JSON.stringify(hello), handlers, timeoutMs),
    async fetchPinnedCa(baseUrl) {
      const dialled = await withDeadline(
        from,
        dial(from, baseUrl, { keyPem: null, certPem: null, caPem: ANY_ROOT }),
        20_000,
      );
      if (dialled === null || !dialled.ok) {
        return { ok: false, isReachable: false, reason: 'the Console cannot be reached' };
      }
      dialled.connection.close('client', 'done');
      // People give the fingerprint of the roots that are there.
      return { ok: true, caPem: rootsPemOf(dialled.at.roots) };
    },
    async askConsoleClock(baseUrl, caPem, { timeoutMs }) {
      const identity = { keyPem: null, certPem: null, caPem };
      const dialled = await withDeadline(from, dial(from, baseUrl, identity), timeoutMs);
      if (dialled === null || !dialled.ok) return null;
      dialled.connection.close('client', 'done');
      // A Date has whole seconds.
      return Math.floor(dialled.at.clock.wallNow() / 1_000) * 1_000;
    },
  };
}

function askerOf({ node, life }: Dialler): Asker {
  return { host: node, incarnation: life.incarnation };
}

function withDeadline<T>(from: Dialler, wanted: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = from.life.after(ms, () => resolve(null));
    void wanted.then((value) => {
      timer.run = null;
      resolve(value);
    });
  });
}

function createClient(from: Dialler, options: ClientOptions): ConsoleClient {
  const { life, network, node } = from;
  const { baseUrl, instanceId, onAnswer } = options;
  let identity = options.identity;
  let line: Line | null = null;
  const underWay = new Map<Connection, number>();

  function hangUp(): void {
    line?.connection.close('client', 'done');
    line = null;
  }

  function count(connection: Connection, by: number): void {
    const left = (underWay.get(connection) ?? 0) + by;
    if (left > 0) underWay.set(connection, left);
    else underWay.delete(connection);
  }

  // A connection that has a successor goes with its last answer.
  function leave(connection: Connection): void {
    count(connection, -1);
    if (connection !== line?.connection && !underWay.has(connection)) {
      connection.close('client', 'done');
    }
  }

  async function lineFor(): Promise<Dialled> {
    if (line?.connection.isOpen('client') === true) return { ok: true, ...line };
    const own = identity;
    const dialled = await dial(from, baseUrl, own);
    if (dialled.ok && own === identity) line = dialled;
    return dialled;
  }

  function deliver(
    at: Listening,
    asked: Asked,
    certPem: string,
    line_: Line | null,
    settle: (answer: EdgeAnswer) => void,
  ): void {
    if (!at.life.isAlive()) return;
    const { body } = asked;
    const served = at.edge.request(
      {
        ...asked,
        from: askerOf(from),
        certPem,
        address: `10.0.${node.length}.1`,
        headers: {
          [INSTANCE_HEADER]: instanceId,
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        },
      },
      settle,
    );
    line_?.connection.setEnd('server', { onClosed: served.abort });
  }

  function exchange(asked: Asked, timeoutMs: number): Promise<Answer> {
    const { body } = asked;
    return new Promise((resolve) => {
      let isSettled = false;
      let used: Connection | null = null;
      const settle = (answer: Answer): void => {
        if (isSettled || !life.isAlive()) return;
        isSettled = true;
        deadline.run = null;
        if (used !== null) leave(used);
        resolve(answer);
      };
      const lose = (trouble: Trouble): void => settle({ ok: false, kind: 'unreachable', trouble });
      const deadline = life.after(timeoutMs, () => {
        hangUp();
        lose(TIMED_OUT);
      });
      void lineFor().then((dialled) => {
        if (isSettled) {
          if (dialled.ok) dialled.connection.close('client', 'done');
          return;
        }
        if (!dialled.ok) {
          lose(dialled.trouble);
          return;
        }
        const { connection, at } = dialled;
        const certPem = identity.certPem ?? '';
        used = connection;
        count(connection, 1);
        connection.setEnd('client', { onClosed: () => lose(LOST) });
        connection.send('client', body.length, () => {
          deliver(at, asked, certPem, dialled, (answer) => {
            const link = network.link(node);
            if (from.random.chance(link.reset)) {
              connection.close('server', 'reset');
              return;
            }
            connection.send('server', answer.body.length, () => {
              const wait = retryAfterOf(answer.headers.get('retry-after'));
              settle(answerOf(answer.status, told(from, 'console', answer.body), wait));
            });
          });
        });
        if (!from.random.chance(network.link(node).replay)) return;
        // It is the middlebox that does it.
        at.life.arrive(from.random.between(1, REPLAY_WITHIN_MS), () => {
          if (life.isAlive()) deliver(at, asked, certPem, null, () => undefined);
        });
      });
    });
  }

  return {
    baseUrl,
    instanceId,
    proxyUrl: options.proxyUrl,
    useIdentity(next) {
      identity = next;
      const old = line;
      line = null;
      if (old !== null && !underWay.has(old.connection)) old.connection.close('client', 'done');
    },
    identity: () => identity,
    async post(path, jsonText, more) {
      const asked = { method: 'post', path, body: told(from, 'sensor', jsonText) } as const;
      const answer = await exchange(asked, more.timeoutMs);
      onAnswer?.(path, answer);
      return answer;
    },
    get: (path, timeoutMs) => exchange({ method: 'get', path, body: '' }, timeoutMs),
    close: hangUp,
  };
}

function openStream(
  from: Dialler,
  client: ConsoleClient,
  hello: string,
  handlers: StreamHandlers,
  timeoutMs: number,
): Promise<StreamOpening> {
  const { life, network, node } = from;
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (opening: StreamOpening): void => {
      if (isSettled || !life.isAlive()) return;
      isSettled = true;
      deadline.run = null;
      resolve(opening);
    };
    const fail = (trouble: Trouble, code = '', retryAfterMs: number | null = null): void =>
      settle({ ok: false, code, trouble, retryAfterMs });
    const deadline = life.after(timeoutMs, () => fail(TIMED_OUT));
    void dial(from, client.baseUrl, client.identity()).then((dialled) => {
      if (!dialled.ok) return fail(dialled.trouble);
      if (isSettled) return dialled.connection.close('client', 'done');
      upgrade(dialled);
    });

    function upgrade({ connection, at }: Line): void {
      let side: EdgeSocket | null = null;
      let hasEnded = false;
      const ended = (reason: string, code: number): void => {
        if (hasEnded) return;
        hasEnded = true;
        fail({ kind: 'connection_lost', detail: `closed with ${code}` });
        if (life.isAlive()) handlers.onClosed(reason, code);
      };
      connection.setEnd('client', { onClosed: (reason) => ended(reason, 1006) });
      connection.setEnd('server', { onClosed: () => side?.closed() });
      const write = (text: string): void => {
        connection.send('client', text.length, () => side?.receive(told(from, 'sensor', text)));
      };
      const certPem = client.identity().certPem ?? '';
      connection.send('client', 300, () => {
        if (!at.life.isAlive()) return;
        at.edge.upgrade(
          {
            path: SENSOR_PATHS.stream,
            from: askerOf(from),
            headers: {
              [INSTANCE_HEADER]: client.instanceId,
              'sec-websocket-protocol': SENSOR_SUBPROTOCOL,
              'sec-websocket-key': 'world',
            },
            body: '',
            certPem,
            address: '10.0.0.1',
          },
          {
            onOpen() {
              connection.send('server', 200, accept);
              return serverPeer(from, connection, at, () => side, hear, ended);
            },
            onSocket(made) {
              side = made;
            },
            onAnswer(answer) {
              connection.send('server', answer.body.length, () => {
                const parsed = parseJson(answer.body);
                const code = parsed.ok && isObject(parsed.value) ? parsed.value['code'] : '';
                const wait = retryAfterOf(answer.headers.get('retry-after'));
                const detail = `HTTP ${answer.status}`;
                fail({ kind: 'connection_refused', detail }, String(code ?? ''), wait);
                connection.close('client', 'refused');
              });
            },
          },
        );
      });

      function accept(): void {
        if (isSettled) {
          connection.close('client', 'done');
          return;
        }
        write(hello);
        settle({
          ok: true,
          socket: {
            send: (frame) => write(JSON.stringify(frame)),
            sendText: write,
            close(reason) {
              if (reason !== undefined) write(JSON.stringify({ type: 'goodbye', reason }));
              connection.close('client', 'closed');
              life.after(network.travelMs(node), () => ended('', 1005));
            },
          },
        });
      }

      function hear(text: string): void {
        const frame = life.isAlive() ? frameOf(text) : null;
        if (frame === null || !connection.isOpen('client')) return;
        if (frame.type === 'ping') {
          write(JSON.stringify({ type: 'pong', at: frame.at, instance_id: client.instanceId }));
        }
        handlers.onFrame(frame);
      }
    }
  });
}

function serverPeer(
  from: Dialler,
  connection: Connection,
  at: Listening,
  side: () => EdgeSocket | null,
  hear: (text: string) => void,
  ended: (reason: string, code: number) => void,
) {
  // uWebSockets.js closes a socket whose client has been silent for so long, its own pings unanswered. One that is paused
  // answers none.
  const watch = (): void => {
    if (!connection.isOpen('server')) return;
    const isReachable =
      !from.life.isPaused() &&
      from.network.isPassable(from.node, 'client', at.console) &&
      from.network.isPassable(from.node, 'server', at.console);
    if (!from.life.isAlive() || (!isReachable && !wasReachable)) {
      connection.close('server', 'idle', 'told');
      side()?.closed();
      return;
    }
    wasReachable = isReachable;
    at.life.after(STREAM_IDLE_TIMEOUT_S * 1_000, watch);
  };
  let wasReachable = true;
  at.life.after(STREAM_IDLE_TIMEOUT_S * 1_000, watch);
  return {
    send(text: string) {
      if (connection.unread() + text.length > UNREAD_MAX_BYTES) return false;
      connection.send('server', text.length, () => hear(told(from, 'console', text)));
      return true;
    },
    end(code: number, reason: string) {
      connection.send('server', 2, () => ended(reason, code));
      connection.close('server', reason);
    },
  };
}

/** What one says that is newer than the other: all it always said, and words of which the other knows nothing. */
function told(from: Dialler, by: 'sensor' | 'console', text: string): string {
  if (from.network.link(from.node).newer !== by) return text;
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return text;
  return JSON.stringify({ ...parsed.value, of_a_later_version: { list: [1, null], text: 'new' } });
}
