// The two planes joined together from what capabilities contribute, behind the one listener. decision: D15, D16

import type { FastifyInstance } from 'fastify';
import { system } from './capabilities/system/system.ts';
import type { ConsoleContext } from './capability.ts';
import type { ExchangeHandler } from './listener/exchange.ts';
import { type HandleExchange, handleExchange } from './listener/handle-exchange.ts';
import type { Routed } from './listener/let-go.ts';
import { createPeerFingerprints, type PeerFingerprints } from './listener/peer-fingerprints.ts';
import { createOperatorPlane } from './operator-plane/plumbing/app.ts';
import { createBridge } from './operator-plane/plumbing/bridge.ts';
import { withPage } from './page/page-handler.ts';
import { PAGE_ROOTS } from './page/page-paths.ts';
import { attachSensorPlane } from './sensor-plane/sensor-plane.ts';
import { startTimerOf } from './start-timer.ts';

export type Planes = {
  readonly app: FastifyInstance;
  readonly bridge: ExchangeHandler;
  readonly peers: PeerFingerprints;
  /** Ends the operator plane; further calls wait for the same end. */
  close(): Promise<void>;
};

/** Builds the operator plane; rejects when a route is not sound. */
export async function buildPlanes(context: ConsoleContext): Promise<Planes> {
  const { logger, time, version, config, relational } = context;
  const all = context.contributions();
  const app = await createOperatorPlane({
    logger,
    now: time.now,
    version: { version, platform: config.platform },
    guard: context.guard(),
    audit: relational.audit,
    metrics: context.use(system).metrics,
    notices: () => all.flatMap(({ notices }) => notices?.() ?? []),
    routes: all.flatMap(({ operatorRoutes }) => operatorRoutes?.() ?? []),
    pages: all.flatMap(({ pages }) => pages?.() ?? []),
  });
  let closing: Promise<void> | null = null;
  return {
    app,
    bridge: createBridge({
      ...{ app, startTimer: startTimerOf(time) },
      isClosing: () => closing !== null,
    }),
    peers: createPeerFingerprints(),
    close() {
      closing ??= Promise.resolve(app.close());
      return closing;
    },
  };
}

/** Puts every route on an app; called for each that the listener builds. */
export function attachPlanes(context: ConsoleContext, planes: Planes, app: Routed): void {
  const { logger, afterParsing } = context;
  const { peers, bridge } = planes;
  const handleOf = (plane: 'sensor' | 'operator'): HandleExchange => {
    const onFailure = (error: unknown, { path, requestId }: { path: string; requestId: string }) =>
      logger.error({ path, requestId, error: String(error) }, FAILED[plane]);
    return (handler) => handleExchange({ peers, onFailure, afterParsing }, handler);
  };
  const handle = { sensor: handleOf('sensor'), operator: handleOf('operator') };
  const all = context.contributions();
  for (const { attachSockets } of all) attachSockets?.(app, handle);
  const posts = all.flatMap((one) => one.sensorPosts ?? []);
  const orPage = (next: ExchangeHandler) => withPage(context.page ?? null, PAGE_ROOTS, next);
  attachSensorPlane(app, posts, handle.sensor, orPage);
  // Last: it takes what nobody else took.
  app.any('/*', handle.operator(orPage(bridge)));
}

const FAILED = {
  sensor: 'a sensor request failed',
  operator: 'an operator request failed',
} as const;
