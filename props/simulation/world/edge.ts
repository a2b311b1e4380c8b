// The Console's listener in the simulation: takes the routes that the sensor plane attaches and serves them requests
// and sockets as uWebSockets.js does, with its rules (one answer, nothing after an abort, a socket that cannot take a
// frame is closed). It also watches: what is let in, refused and confirmed here is what a Sensor is told.
import type { HttpRequest, HttpResponse, WebSocketBehavior } from 'uWebSockets.js';
import type { Routed } from '../../../gateway/listener/let-go.ts';
import { STREAM_BACKPRESSURE_MAX_BYTES } from '../../../machines/limits.ts';
import { type AckWatch, createAckWatch } from './ack-watch.ts';
import type { EdgeAnswer, EdgeRequest } from './edge-exchange.ts';
import type { World } from './world.ts';

/** What a socket's other side is told. */
export type EdgeSocketPeer = {
  /** Sends text; false when the client has not read too much already. */
  send(text: string): boolean;
  end(code: number, reason: string): void;
};
export type EdgeSocket = {
  receive(text: string): void;
  /** The connection is gone. */
  closed(): void;
};

export type Edge = {
  readonly app: Routed;
  /** Serves a request; `abort` tells that the client went away. */
  request(
    request: EdgeRequest,
    onAnswer: (answer: EdgeAnswer) => void,
  ): { readonly abort: () => void };
  /** Serves an upgrade: `onOpen` gives the other side's socket, or `onAnswer` the refusal. */
  upgrade(
    request: EdgeRequest,
    to: {
      readonly onOpen: () => EdgeSocketPeer;
      readonly onSocket: (socket: EdgeSocket) => void;
      readonly onAnswer: (answer: EdgeAnswer) => void;
    },
  ): { readonly abort: () => void };
};

const OPERATOR_PATHS = '/api/';

type Route = (res: HttpResponse, req: HttpRequest) => void;
type Answering = {
  status: number;
  readonly headers: Map<string, string>;
  state: 'open' | 'answered' | 'aborted';
  readonly aborts: (() => void)[];
};

/** Makes the listener of one Console life. */
export function createEdge(options: {
  readonly world: World;
  readonly console: string;
  readonly now: () => number;
  readonly keyOfEvent: (event: { readonly process?: { readonly exec_id?: string } }) => string;
}): Edge {
  const { world, console, now } = options;
  const routes = new Map<string, Route>();
  const sockets = new Map<string, WebSocketBehavior<unknown>>();
  const watch = createAckWatch({ world, console, keyOfEvent: options.keyOfEvent });

  const app = {
    any(path: string, route: Route) {
      routes.set(path, route);
      return app;
    },
    ws(path: string, behavior: WebSocketBehavior<unknown>) {
      sockets.set(path, behavior);
      return app;
    },
  };

  function note(
    request: EdgeRequest,
    answer: EdgeAnswer,
    { deliveredMs, askedAtMs }: { readonly deliveredMs: number; readonly askedAtMs: number },
  ): void {
    const fingerprint = watch.fingerprintOf(request.certPem);
    // What people ask is told by the people.
    if (request.path.startsWith(OPERATOR_PATHS)) return;
    if (answer.status < 400) {
      world.observe({
        kind: 'request.accepted',
        console,
        from: request.from ?? null,
        askedAtMs,
        consoleNowMs: deliveredMs,
        path: request.path,
        fingerprint,
      });
      return;
    }
    const code = /"code":"([a-z_]+)"/.exec(answer.body)?.[1] ?? `http_${answer.status}`;
    world.observe({
      kind: 'request.refused',
      console,
      consoleNowMs: deliveredMs,
      path: request.path,
      fingerprint,
      status: answer.status,
      code,
    });
  }

  function responseOf(
    request: EdgeRequest,
    answering: Answering,
    onAnswer: (answer: EdgeAnswer) => void,
    upgrade?: (data: unknown) => void,
  ): HttpResponse {
    const asked = { deliveredMs: now(), askedAtMs: world.scheduler.now() };
    const alive = (): void => {
      if (answering.state === 'aborted') throw new Error('a response was used after its abort');
    };
    const end = (body: unknown): void => {
      alive();
      if (answering.state === 'answered') throw new Error('a request was answered twice');
      answering.state = 'answered';
      const answer: EdgeAnswer = {
        status: answering.status,
        headers: answering.headers,
        body: typeof body === 'string' ? body : String(body ?? ''),
      };
      watch.answered(request, answer, asked);
      note(request, answer, asked);
      onAnswer(answer);
    };
    const response = {
      onAborted(run: () => void) {
        answering.aborts.push(run);
        return response;
      },
      onData(run: (chunk: ArrayBuffer, isLast: boolean) => void) {
        const bytes = Buffer.from(request.body);
        run(new Uint8Array(bytes).buffer, true);
        return response;
      },
      cork(run: () => void) {
        alive();
        run();
        return response;
      },
      writeStatus(status: string) {
        answering.status = Number.parseInt(status, 10);
        return response;
      },
      writeHeader(name: string, value: string) {
        answering.headers.set(name, value);
        return response;
      },
      end,
      endWithoutBody: () => end(''),
      getRemoteAddressAsText: () => new TextEncoder().encode(request.address).buffer,
      getX509Certificate: () => request.certPem,
      upgrade(data: unknown) {
        alive();
        answering.state = 'answered';
        upgrade?.(data);
      },
    };
    return response as unknown as HttpResponse;
  }

  function requestOf(request: EdgeRequest, method: string): HttpRequest {
    return {
      forEach(run: (name: string, value: string) => void) {
        for (const name in request.headers) run(name, request.headers[name] ?? '');
      },
      getUrl: () => request.path.split('?', 1)[0] ?? '',
      getQuery: () => request.path.split('?')[1] ?? '',
      getMethod: () => method,
    } as unknown as HttpRequest;
  }

  function opened(): Answering {
    return { status: 200, headers: new Map(), state: 'open', aborts: [] };
  }

  function abortOf(answering: Answering) {
    return () => {
      if (answering.state !== 'open') return;
      answering.state = 'aborted';
      for (const run of answering.aborts.splice(0)) run();
    };
  }

  return {
    app: app as unknown as Routed,
    request(request, onAnswer) {
      const answering = opened();
      const rest = request.path.startsWith('/sensors/') ? '/sensors/*' : '/*';
      const route = routes.get(patternOf(routes, request.path)) ?? routes.get(rest);
      if (route === undefined) throw new Error('nothing is attached');
      route(responseOf(request, answering, onAnswer), requestOf(request, request.method ?? 'post'));
      return { abort: abortOf(answering) };
    },
    upgrade(request, to) {
      const answering = opened();
      const behavior = sockets.get(request.path);
      if (behavior === undefined) throw new Error('no stream is attached');
      const askedAtMs = world.scheduler.now();
      const open = (data: unknown): void => {
        const { socket, side } = socketOf(data, to.onOpen(), behavior, watch, request.certPem);
        to.onSocket(side);
        world.observe({
          kind: 'stream.opened',
          console,
          askedAtMs,
          fingerprint: watch.fingerprintOf(request.certPem),
        });
        behavior.open?.(socket as never);
      };
      const response = responseOf(request, answering, to.onAnswer, open);
      behavior.upgrade?.(response, requestOf(request, 'GET'), {} as never);
      return { abort: abortOf(answering) };
    },
  };
}

/** The path as it was attached, some of its parts named by a colon. */
function patternOf(routes: ReadonlyMap<string, unknown>, path: string): string {
  if (routes.has(path)) return path;
  const parts = path.split('/');
  const fits = (pattern: string): boolean => {
    const own = pattern.split('/');
    const isSame = own.every((one, at) => one === parts[at] || one.startsWith(':'));
    return own.length === parts.length && isSame;
  };
  return [...routes.keys()].find((one) => one.includes(':') && fits(one)) ?? path;
}

function socketOf(
  data: unknown,
  peer: EdgeSocketPeer,
  behavior: WebSocketBehavior<unknown>,
  watch: AckWatch,
  certPem: string,
): { readonly socket: object; readonly side: EdgeSocket } {
  let isClosed = false;
  let sent = 0;
  const frames = watch.stream(certPem);
  const closed = (code: number, reason: string): void => {
    if (isClosed) return;
    isClosed = true;
    frames.closed(reason);
    behavior.close?.(socket as never, code, new TextEncoder().encode(reason).buffer);
  };
  const socket = {
    getUserData: () => data,
    send(text: string) {
      if (isClosed) throw new Error('a closed socket was used');
      sent += text.length;
      if (peer.send(text)) {
        frames.sent(text);
        return 1;
      }
      // What does not fit ends the connection (closeOnBackpressureLimit).
      peer.end(1006, 'backpressure');
      closed(1006, 'backpressure');
      return 2;
    },
    end(code: number, reason: string) {
      if (isClosed) throw new Error('a closed socket was ended');
      peer.end(code, reason);
      closed(code, reason);
    },
    sentBytes: () => sent,
  };
  return {
    socket,
    side: {
      receive(text) {
        if (isClosed) return;
        frames.received(text);
        const bytes = new TextEncoder().encode(text);
        behavior.message?.(socket as never, bytes.buffer, false);
      },
      closed: () => closed(1006, 'peer_gone'),
    },
  };
}

/** What a client may leave unread before its socket is closed. */
export const UNREAD_MAX_BYTES = STREAM_BACKPRESSURE_MAX_BYTES;
