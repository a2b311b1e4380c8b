// The operator's side joined together: credentials, API, live channel, metrics, and the bridge that puts them behind the
// listener. decision: D15, D16

import type { TemplatedApp } from 'uWebSockets.js';
import type { LicenseDesk } from '../../actors/license/license-desk.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { RevokeSensor } from '../../actors/trust/revocation.ts';
import type { TokenDesk } from '../../actors/trust/tokens.ts';
import { rateLimitsMachine } from '../../machines/console/access/rate-limits.machine.ts';
import { secondFactorMachine } from '../../machines/console/access/second-factor.machine.ts';
import { sessionMachine } from '../../machines/console/access/session.machine.ts';
import { ssoLoginMachine } from '../../machines/console/access/sso-login.machine.ts';
import { auditSealerMachine } from '../../machines/console/audit/audit-sealer.machine.ts';
import { sensorMachine } from '../../machines/console/fleet/sensor.machine.ts';
import { licenseMachine } from '../../machines/console/license/license.machine.ts';
import { startupMachine } from '../../machines/console/runtime/startup.machine.ts';
import { storeProcessMachine } from '../../machines/console/runtime/store-process.machine.ts';
import { setupMachine } from '../../machines/console/settings/setup.machine.ts';
import { enrollmentTokenMachine } from '../../machines/console/trust/enrollment-token.machine.ts';
import type { AuditChain } from '../../storage/ports/audit/audit-chain.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { AuditLog } from '../../storage/ports/relational.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { ConsoleConfig } from '../config/config.ts';
import { handleExchange } from '../listener/handle-exchange.ts';
import type { EventTap } from '../live/event-tap.ts';
import { createLiveHub, type LiveHub } from '../live/live-hub.ts';
import { createLiveBehavior, LIVE_PATH } from '../live/live-socket.ts';
import { createOperatorPlane } from '../operator-plane/plumbing/app.ts';
import { createBridge } from '../operator-plane/plumbing/bridge.ts';
import { createCursorSigner } from '../operator-plane/plumbing/cursor.ts';
import type { DirectoryView, Probe, TelemetryReads } from '../operator-plane/plumbing/deps.ts';
import {
  createMetrics,
  type Metrics,
  measureRateLimits,
} from '../operator-plane/system/metrics.ts';
import type { Access } from './access.ts';
import type { Fleet } from './fleet.ts';
import { licenseDirectory } from './license.ts';
import { createStoreView } from './store-view.ts';
import type { Time } from './time.ts';

export type OperatorSide = {
  readonly metrics: Metrics;
  readonly live: LiveHub;
  /** Puts the live channel and every operator route on an app. Call it last: it takes what nobody else took. */
  attach(app: TemplatedApp): void;
  /** Ends it; further calls wait for the same end. */
  close(): Promise<void>;
};

export type OperatorSideDeps = {
  readonly config: ConsoleConfig;
  readonly version: string;
  readonly time: Time;
  readonly logger: Logger;
  readonly fleet: Fleet;
  readonly registry: SensorRegistry;
  readonly events: EventStore;
  readonly telemetry: TelemetryReads;
  readonly tap: EventTap;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
  readonly access: Access;
  readonly tokens: TokenDesk;
  readonly revokeSensor: RevokeSensor;
  readonly license: LicenseDesk;
  readonly probes: readonly Probe[];
  /** The supervised databases. */
  readonly stores: DirectoryView;
  readonly sealers: DirectoryView;
  /** Signs page links; kept with the data, so a link survives a restart. */
  readonly cursorKey: Buffer;
  readonly caPem: () => string;
  readonly caFingerprint: () => string;
  readonly notReadyBecause: () => string | null;
  readonly exchange: Parameters<typeof handleExchange>[0];
};

/** Builds the operator plane; rejects when a route is not sound. */
export async function assembleOperatorSide(deps: OperatorSideDeps): Promise<OperatorSide> {
  const { config, time, logger, fleet } = deps;
  const { admitter } = deps.access;
  const metrics = createMetrics(() => fleet.picture.counts());
  const shared = sharedLimits(deps);
  if (deps.access.limits !== null) measureRateLimits(metrics, deps.access.limits);
  const app = await createOperatorPlane({
    logger,
    now: time.now,
    version: { version: deps.version, platform: config.platform },
    baseUrl: () => config.baseUrl,
    caPem: deps.caPem,
    caFingerprint: deps.caFingerprint,
    admitter,
    access: deps.access.plane,
    cursors: createCursorSigner(deps.cursorKey),
    registry: deps.registry,
    events: deps.events,
    telemetry: deps.telemetry,
    audit: deps.audit,
    auditChain: deps.auditChain,
    fleet: fleet.picture,
    tokens: deps.tokens,
    revokeSensor: deps.revokeSensor,
    license: deps.license,
    sensorActors: fleet.directory,
    directories: [
      ...[fleet.directory, deps.stores, deps.sealers, licenseDirectory(deps.license)],
      ...shared.directories,
    ],
    feed: fleet.feed,
    crashes: fleet.crashes,
    machines: [
      sensorMachine,
      enrollmentTokenMachine,
      startupMachine,
      setupMachine,
      storeProcessMachine,
      auditSealerMachine,
      licenseMachine,
      secondFactorMachine,
      sessionMachine,
      ssoLoginMachine,
      rateLimitsMachine,
    ],
    probes: [...deps.probes, ...shared.probes],
    notReadyBecause: deps.notReadyBecause,
    metrics,
  });
  const live = createLiveHub({
    fleet: fleet.picture,
    feed: fleet.feed,
    events: deps.tap,
    admitter,
    now: time.now,
    logger,
  });
  const bridge = createBridge({ app, startTimer: startTimerOf(time) });
  let closing: Promise<void> | null = null;
  async function closeInOrder(): Promise<void> {
    live.close();
    await app.close();
    await deps.access.close();
  }
  return {
    metrics,
    live,
    attach(uws) {
      uws.ws(
        LIVE_PATH,
        createLiveBehavior({
          hub: live,
          admitter,
          baseUrl: () => config.baseUrl,
          exchange: deps.exchange,
        }),
      );
      uws.any('/*', handleExchange(deps.exchange, bridge));
    },
    close() {
      closing ??= closeInOrder();
      return closing;
    },
  };
}

// Where budgets are shared, operators see whether they are now; the Console serves either way. decision: D41
function sharedLimits({ access: { limits }, time }: OperatorSideDeps): {
  readonly directories: readonly DirectoryView[];
  readonly probes: readonly Probe[];
} {
  if (limits === null) return { directories: [], probes: [] };
  const view = createStoreView(time.now, 'rate-limits');
  view.add('redis', limits);
  const ping = async () => limits.countsTogether();
  return { directories: [view], probes: [{ name: 'redis', isOptional: true, ping }] };
}

/** A timer that returns its own cancel, as the body reader wants it. */
export function startTimerOf(time: Time): (run: () => void, delayMs: number) => () => void {
  return (run, delayMs) => {
    const timer = time.setTimeout(run, delayMs);
    return () => time.clearTimeout(timer);
  };
}
