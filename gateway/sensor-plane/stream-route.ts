// GET /sensors/stream: the upgrade is judged like any request, and the fingerprint goes into the socket's user data,
// because a WebSocket cannot be asked for its certificate. Socket callbacks only copy and hand over. decision: D10
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { refuse } from '../../machines/errors.ts';
import {
  STREAM_BACKPRESSURE_MAX_BYTES,
  STREAM_FRAME_MAX_BYTES,
  STREAM_IDLE_TIMEOUT_S,
} from '../../machines/limits.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import { INSTANCE_HEADER, SENSOR_SUBPROTOCOL } from '../../machines/wire/scalars.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import type { Exchange } from '../listener/exchange.ts';
import type { HandleExchange } from '../listener/handle-exchange.ts';
import type { Routed } from '../listener/let-go.ts';
import { admit, answerRefusal, refuseMethod } from './admission.ts';
import type { StreamDeps } from './deps.ts';
import { openStreamConnection, type StreamConnection } from './stream-connection.ts';
import type { StreamService } from './stream-hub.ts';

type SocketData = {
  readonly identity: IdentityRecord;
  readonly instanceHeader: string | null;
  readonly address: string;
  connection: StreamConnection | null;
  isClosed: boolean;
};
type Socket = WebSocket<SocketData>;

const INSTANCE_ID = /^[0-9a-f]{32}$/;
const TEXT = new TextDecoder('utf-8', { fatal: true });

/** Puts the stream on an app: the WebSocket, and a refusal for what is none. */
export function attachStream(
  app: Routed,
  deps: StreamDeps,
  service: StreamService,
  handle: HandleExchange,
): void {
  app.ws(SENSOR_PATHS.stream, streamBehavior(deps, service, handle));
  app.any(SENSOR_PATHS.stream, handle(refuseStreamRequest));
}

function refuseStreamRequest(exchange: Exchange): void {
  if (exchange.request.method !== 'GET') {
    refuseMethod(exchange, 'GET');
    return;
  }
  const detail = 'The stream is a WebSocket; ask for the upgrade.';
  answerRefusal(exchange, refuse('malformed_request', detail));
}

/** The behavior of the stream's route. `handle` opens an exchange the way every route does. */
function streamBehavior(deps: StreamDeps, service: StreamService, handle: HandleExchange) {
  return {
    maxPayloadLength: STREAM_FRAME_MAX_BYTES,
    maxBackpressure: STREAM_BACKPRESSURE_MAX_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: STREAM_IDLE_TIMEOUT_S,
    upgrade: (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) =>
      handle((exchange) => upgrade(deps, service, exchange, context))(res, req),
    open(ws: Socket) {
      const data = ws.getUserData();
      data.connection = openStreamConnection(deps, service, {
        socket: socketOf(ws, data),
        identity: data.identity,
        instanceHeader: data.instanceHeader,
        address: data.address,
      });
    },
    message(ws: Socket, message: ArrayBuffer, isBinary: boolean) {
      const { connection } = ws.getUserData();
      if (isBinary) connection?.receiveBinary();
      else connection?.receive(TEXT.decode(message));
    },
    close(ws: Socket) {
      const data = ws.getUserData();
      data.isClosed = true;
      data.connection?.closed();
    },
  };
}

async function upgrade(
  deps: StreamDeps,
  service: StreamService,
  exchange: Exchange,
  context: us_socket_context_t,
): Promise<void> {
  const { headers } = exchange.request;
  const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',');
  const instance = headers.get(INSTANCE_HEADER) ?? null;
  const identity = await admit(deps, exchange);
  if (identity === null || exchange.state !== 'open') return;
  if (service.isShutDown()) {
    const refusal = refuse('shutting_down', 'The Console is stopping.', {
      retryAfterMs: deps.intervals.RETRY_AFTER_STORE_MS,
    });
    return answerRefusal(exchange, refusal);
  }
  const mistake = !protocols.some((one) => one.trim() === SENSOR_SUBPROTOCOL)
    ? `The subprotocol must be ${SENSOR_SUBPROTOCOL}.`
    : instance !== null && !INSTANCE_ID.test(instance)
      ? `${INSTANCE_HEADER} must be 32 hexadecimal digits.`
      : null;
  if (mistake !== null) return answerRefusal(exchange, refuse('malformed_request', mistake));
  exchange.state = 'answered';
  const data: SocketData = {
    identity,
    instanceHeader: instance,
    address: exchange.request.remoteAddress,
    connection: null,
    isClosed: false,
  };
  exchange.res.cork(() => {
    exchange.res.upgrade(
      data,
      headers.get('sec-websocket-key') ?? '',
      SENSOR_SUBPROTOCOL,
      headers.get('sec-websocket-extensions') ?? '',
      context,
    );
  });
}

function socketOf(ws: Socket, data: SocketData) {
  return {
    // 2 = dropped for backpressure; the socket is closed then.
    send: (text: string) => !data.isClosed && ws.send(text) !== 2,
    end(closeCode: number, reason: string) {
      if (!data.isClosed) ws.end(closeCode, reason);
    },
  };
}
