// The sensor plane as one thing: its routes on an app, its streams, its end. The listener attaches it to every app it
// builds, so the streams live here and not in an app.
import type { TemplatedApp } from 'uWebSockets.js';
import { refuse } from '../../machines/errors.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import type { Exchange, ExchangeHandler } from '../listener/exchange.ts';
import { handleExchange } from '../listener/handle-exchange.ts';
import { answerRefusal, refuseMethod } from './admission.ts';
import type { SensorPlaneDeps } from './deps.ts';
import { handleEnroll } from './enroll-route.ts';
import { handleEvents } from './events-route.ts';
import { handleHeartbeat } from './heartbeat-route.ts';
import { handleInventory } from './inventory-route.ts';
import { handleRenew } from './renew-route.ts';
import { createStreamHub, type StreamHub } from './stream-hub.ts';
import { streamBehavior } from './stream-route.ts';

export type SensorPlane = {
  /** Puts the routes on an app. */
  attach(app: TemplatedApp): void;
  readonly streams: StreamHub;
};

type Route = (deps: SensorPlaneDeps, exchange: Exchange) => Promise<void>;

const POSTS: readonly (readonly [path: string, route: Route])[] = [
  [SENSOR_PATHS.enroll, handleEnroll],
  [SENSOR_PATHS.renew, handleRenew],
  [SENSOR_PATHS.heartbeat, handleHeartbeat],
  [SENSOR_PATHS.events, handleEvents],
  [SENSOR_PATHS.inventory, handleInventory],
];

/** Makes the plane; nothing is served before `attach`. */
export function createSensorPlane(deps: SensorPlaneDeps): SensorPlane {
  const hub = createStreamHub(deps);
  const onFailure = (
    error: unknown,
    request: { readonly path: string; readonly requestId: string },
  ) =>
    deps.logger.error(
      { path: request.path, requestId: request.requestId, error: String(error) },
      'a sensor request failed',
    );
  const handle = (handler: ExchangeHandler) =>
    handleExchange(
      {
        peers: deps.peers,
        onFailure,
        ...(deps.afterParsing === undefined ? {} : { afterParsing: deps.afterParsing }),
      },
      handler,
    );

  return {
    streams: hub,
    attach(app) {
      for (const [path, route] of POSTS) {
        app.any(
          path,
          handle((exchange) => {
            if (exchange.request.method !== 'POST') return refuseMethod(exchange, 'POST');
            return route(deps, exchange);
          }),
        );
      }
      app.ws(SENSOR_PATHS.stream, streamBehavior(deps, hub, handle));
      app.any(SENSOR_PATHS.stream, handle(refuseStreamRequest));
      app.any(
        '/sensors/*',
        handle((exchange) => answerRefusal(exchange, refuse('not_found', 'No such route.'))),
      );
    },
  };
}

function refuseStreamRequest(exchange: Exchange): void {
  if (exchange.request.method !== 'GET') {
    refuseMethod(exchange, 'GET');
    return;
  }
  const detail = 'The stream is a WebSocket; ask for the upgrade.';
  answerRefusal(exchange, refuse('malformed_request', detail));
}
