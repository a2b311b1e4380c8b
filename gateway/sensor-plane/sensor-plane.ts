// The sensor plane as one thing: the routes that capabilities contribute, on an app. The listener attaches it to every app
// it builds, so nothing lives in an app.

import { refuse } from '../../machines/errors.ts';
import type { Exchange, ExchangeHandler } from '../listener/exchange.ts';
import type { HandleExchange } from '../listener/handle-exchange.ts';
import type { Routed } from '../listener/let-go.ts';
import { answerRefusal, refuseMethod } from './admission.ts';

/** A route of sensors; a POST unless it says otherwise. */
export type SensorPost = {
  readonly path: string;
  readonly method?: 'GET';
  readonly answer: (exchange: Exchange) => Promise<void>;
};

/**
 * Puts the routes on an app, and a refusal on every other path of sensors. `before` may answer such a path first: the
 * page has addresses there.
 */
export function attachSensorPlane(
  app: Routed,
  posts: readonly SensorPost[],
  handle: HandleExchange,
  before: (refusal: ExchangeHandler) => ExchangeHandler = (refusal) => refusal,
): void {
  for (const { path, method = 'POST', answer } of posts) {
    app.any(
      path,
      handle((exchange) => {
        if (exchange.request.method !== method) return refuseMethod(exchange, method);
        return answer(exchange);
      }),
    );
  }
  app.any(
    '/sensors/*',
    handle(before((exchange) => answerRefusal(exchange, refuse('not_found', 'No such route.')))),
  );
}
