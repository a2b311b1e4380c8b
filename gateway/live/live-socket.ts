// The WebSocket of the live channel on the one listener: admitted by bearer key or session before the upgrade, a browser's
// Origin checked, bounded in message, backlog and number.
import type { WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { type Refusal, refuse } from '../../machines/errors.ts';
import {
  LIVE_BACKPRESSURE_MAX_BYTES,
  LIVE_IDLE_TIMEOUT_S,
  LIVE_MESSAGE_MAX_BYTES,
  LIVE_SOCKETS_MAX,
} from '../../machines/limits.ts';
import type { Admitter } from '../access/admitter.ts';
import type { Operator } from '../access/operator.ts';
import type { Exchange } from '../listener/exchange.ts';
import type { HandleExchange } from '../listener/handle-exchange.ts';
import { respond } from '../listener/respond.ts';
import { operatorProblem } from '../operator-plane/plumbing/operator-problem.ts';
import { refusalOf } from '../operator-plane/plumbing/problem-reply.ts';
import type { LiveHub, LiveSession } from './live-hub.ts';

export const LIVE_PATH = '/api/v2/live';

export type LiveUser = { readonly operator: Operator; session: LiveSession | null };

export type LiveSocketDeps = {
  readonly hub: LiveHub;
  readonly admitter: Pick<Admitter, 'admit'>;
  /** The Console's own address; a browser page of another origin is refused. */
  readonly baseUrl: () => string;
  /** Opens an exchange as every operator request is opened. */
  readonly handle: HandleExchange;
};

/** The behavior to register at LIVE_PATH. */
export function createLiveBehavior(deps: LiveSocketDeps): WebSocketBehavior<LiveUser> {
  async function judge(
    request: Exchange['request'],
  ): Promise<{ readonly ok: true; readonly operator: Operator } | Refusal> {
    if (!isOwnOrigin(request, deps.baseUrl())) {
      return refuse('role_required', 'A page of another origin may not open this channel.');
    }
    if (deps.hub.size() >= LIVE_SOCKETS_MAX) {
      return refuse('rate_limited', `At most ${LIVE_SOCKETS_MAX} live sessions are open at once.`);
    }
    const { result } = await deps.admitter.admit({
      authorization: request.headers.get('authorization'),
      cookie: request.headers.get('cookie'),
      address: request.remoteAddress,
    });
    if (!result.ok) return result;
    // Every browser names the page that opens a channel; a cookie without one is somebody's program.
    if (result.operator.kind === 'session' && request.headers.get('origin') === undefined) {
      return refuse('csrf_refused', 'A session opens this channel from a page of this Console.');
    }
    if (result.operator.stage === 'full') return result;
    return refuse('second_factor_required', 'This session waits for its second factor.');
  }

  return {
    maxPayloadLength: LIVE_MESSAGE_MAX_BYTES,
    maxBackpressure: LIVE_BACKPRESSURE_MAX_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: LIVE_IDLE_TIMEOUT_S,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      deps.handle(async (exchange) => {
        const { request } = exchange;
        const verdict = await judge(request).catch(refusalOf);
        if (exchange.state !== 'open') return;
        if (!verdict.ok) {
          respond(exchange, operatorProblem(verdict, request.requestId), { close: true });
          return;
        }
        exchange.state = 'answered';
        const header = (name: string) => request.headers.get(name) ?? '';
        res.cork(() => {
          res.upgrade<LiveUser>(
            { operator: verdict.operator, session: null },
            header('sec-websocket-key'),
            header('sec-websocket-protocol'),
            header('sec-websocket-extensions'),
            context,
          );
        });
      })(res, req);
    },
    open(ws) {
      const user = ws.getUserData();
      let isOpen = true;
      const session = deps.hub.open(
        {
          send: (text) => void (isOpen && ws.send(text)),
          bufferedBytes: () => (isOpen ? ws.getBufferedAmount() : 0),
          end: (code, reason) => void (isOpen && endSoftly(ws, code, reason)),
        },
        user.operator,
      );
      user.session = {
        onMessage: session.onMessage,
        onClose() {
          isOpen = false;
          session.onClose();
        },
      };
    },
    message(ws, message) {
      ws.getUserData().session?.onMessage(Buffer.from(message).toString('utf8'));
    },
    close(ws) {
      ws.getUserData().session?.onClose();
    },
  };
}

// A peer that does not read never sees a close frame; a backlog means the connection is simply cut.
function endSoftly(ws: WebSocket<LiveUser>, code: number, reason: string): void {
  if (ws.getBufferedAmount() > 0) ws.close();
  else ws.end(code, reason);
}

// Browsers always send an Origin; programs do not and are known by their key alone.
function isOwnOrigin({ headers }: Exchange['request'], baseUrl: string): boolean {
  const origin = headers.get('origin');
  if (origin === undefined) return true;
  return origin === new URL(baseUrl).origin || origin === `https://${headers.get('host')}`;
}
