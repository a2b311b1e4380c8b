// Opens an exchange for a route. `onAborted` is registered before anything else, since a handler that returns without it
// ends the process; the exchange remembers whether the peer is gone, since a response used after that throws.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Exchange, ExchangeHandler } from './exchange.ts';
import { type RequestFacts, readRequest } from './http-request.ts';
import type { PeerFingerprints } from './peer-fingerprints.ts';
import { respondProblem } from './respond.ts';

/** Opens an exchange the way every route of a plane does. */
export type HandleExchange = (
  handler: ExchangeHandler,
) => (res: HttpResponse, req: HttpRequest) => void;

/** Wraps a handler for a route; a handler that fails is answered with `internal` and reported. */
export function handleExchange(
  options: {
    readonly peers: PeerFingerprints;
    readonly onFailure: (error: unknown, request: RequestFacts) => void;
    /** Absent: the event loop's next turn. */
    readonly afterParsing?: (run: () => void) => void;
  },
  handler: ExchangeHandler,
): ReturnType<HandleExchange> {
  return (res, req) => {
    const listeners: (() => void)[] = [];
    let isAborted = false;
    let exchange: Exchange | undefined;
    res.onAborted(() => {
      isAborted = true;
      if (exchange && exchange.state !== 'answered') exchange.state = 'aborted';
      for (const listener of listeners.splice(0)) listener();
    });
    const { facts, mistake, lacksLength } = readRequest(res, req, options.peers);
    const current: Exchange = {
      request: facts,
      res,
      afterParsing: options.afterParsing ?? setImmediate,
      state: 'open',
      isBodyRead: !facts.hasBody,
      onAborted(listener) {
        if (isAborted) listener();
        else listeners.push(listener);
      },
      refuse: (code, more) =>
        respondProblem(current, { code, requestId: facts.requestId, ...more }),
    };
    exchange = current;
    if (mistake !== undefined) {
      current.isBodyRead = false;
      respondProblem(
        current,
        {
          code: lacksLength ? 'length_required' : 'malformed_request',
          requestId: facts.requestId,
          detail: mistake,
        },
        { close: true },
      );
      return;
    }
    run(current, handler, options.onFailure);
  };
}

function run(
  exchange: Exchange,
  handler: ExchangeHandler,
  onFailure: (error: unknown, request: RequestFacts) => void,
): void {
  const fail = (error: unknown): void => {
    exchange.refuse('internal');
    onFailure(error, exchange.request);
  };
  try {
    handler(exchange)?.catch(fail);
  } catch (error) {
    fail(error);
  }
}
