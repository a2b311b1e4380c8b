// The Console itself as operators see it: its actors, machines, probes and metrics, the live channel, and the plain page.
// It stands last and shows what every other capability contributes. decision: D15
import {
  type AnalyticsWatch,
  createAnalyticsWatch,
} from '../../../actors/telemetry/analytics-watch.ts';
import { designationMachine } from '../../../machines/console/runtime/designation.machine.ts';
import { loopMachine } from '../../../machines/console/runtime/loop.machine.ts';
import { startupMachine } from '../../../machines/console/runtime/startup.machine.ts';
import { storeProcessMachine } from '../../../machines/console/runtime/store-process.machine.ts';
import { analyticsHealthMachine } from '../../../machines/console/telemetry/analytics-health.machine.ts';
import type { Capability, ConsoleContext } from '../../capability.ts';
import { colonHex } from '../../fingerprint-text.ts';
import { homeRoute } from '../../home/home-route.ts';
import { createLiveHub, type LiveHub } from '../../live/live-hub.ts';
import { createLiveBehavior, LIVE_PATH } from '../../live/live-socket.ts';
import type { DirectoryView } from '../../operator-plane/plumbing/deps.ts';
import { analyticsRoutes, measureAnalytics } from '../../operator-plane/system/analytics.ts';
import { healthRoutes } from '../../operator-plane/system/health.ts';
import { loopDirectories } from '../../operator-plane/system/loop-directories.ts';
import { measureLoops } from '../../operator-plane/system/loop-metrics.ts';
import { loopRoutes } from '../../operator-plane/system/loops.ts';
import { createMetrics, type Metrics } from '../../operator-plane/system/metrics.ts';
import { systemRoutes } from '../../operator-plane/system/system.ts';
import type { SystemRouteDeps } from '../../operator-plane/system/system-deps.ts';
import { access } from '../access/access.ts';
import { detection } from '../detection/detection.ts';
import { fleet } from '../fleet/fleet.ts';
import { telemetry } from '../telemetry/telemetry.ts';
import { installation } from '../trust/installation.ts';

export type System = { readonly metrics: Metrics; readonly live: LiveHub };

export const system: Capability<System> = {
  name: 'system',
  open(context) {
    const { relational, analytics, config, time } = context;
    const { audit, designation } = relational;
    const { loops } = context;
    const { liveView, feed } = context.use(fleet);
    const { admitter } = context.use(access);
    const metrics = createMetrics();
    const live = createLiveHub({
      ...{ fleet: liveView, feed, events: context.use(telemetry).tap },
      ...{ admitter, now: time.now, timers: time },
    });
    const watch = watchOf(context);
    return {
      service: { metrics, live },
      operatorRoutes: () => [
        systemRoutes(shownBy(context, metrics)),
        loopRoutes({ loops, designation, audit, now: time.now }),
        analyticsRoutes(watch),
      ],
      pages() {
        const shown = shownBy(context, metrics);
        context.measureProcess(metrics.registry);
        for (const { measure } of context.contributions()) measure?.(metrics.registry);
        return [healthRoutes(shown), homeRoute(shown)];
      },
      attachSockets: (app, { operator: handle }) =>
        app.ws(
          LIVE_PATH,
          createLiveBehavior({ hub: live, admitter, baseUrl: () => config.baseUrl, handle }),
        ),
      loops: () => [live.loop, watch.look, watch.tell],
      machines: [
        ...[startupMachine, storeProcessMachine, loopMachine, designationMachine],
        analyticsHealthMachine,
      ],
      directories: [context.supervised, ...loopDirectories(loops), directoryOf(watch)],
      measure(registry) {
        measureLoops(registry, loops);
        measureAnalytics(registry, watch);
      },
      probes: [
        { name: 'postgresql', ping: () => relational.health.ping() },
        { name: 'clickhouse', ping: () => analytics.events.ping() },
      ],
      drain: () => live.close(),
      close: () => live.close(),
    };
  },
};

function watchOf(context: ConsoleContext): AnalyticsWatch {
  const { analytics, chance, clock, logger, time } = context;
  return createAnalyticsWatch({
    ...{ health: analytics.health, clock, chance, logger, alerts: context.use(detection).alerts },
    queuedRows: () => analytics.sink.queuedRows(),
    ...{ now: time.now, monotonicNow: time.monotonicNow },
  });
}

const ANALYTICS_ID = 'clickhouse';

function directoryOf(watch: AnalyticsWatch): DirectoryView {
  return {
    kind: 'analytics-health',
    ids: () => [ANALYTICS_ID],
    size: () => 1,
    ask(id) {
      if (id !== ANALYTICS_ID) return 'absent';
      const snapshot = watch.snapshot();
      const lastEvent = `entered ${snapshot.value}`;
      return { id, snapshot, sinceMs: watch.sinceMs(), lastEvent, restarts: 0 };
    },
  };
}

function shownBy(context: ConsoleContext, metrics: Metrics): SystemRouteDeps {
  const { config, version, cursors } = context;
  const all = context.contributions();
  return {
    version: { version, platform: config.platform },
    cursors,
    baseUrl: () => config.baseUrl,
    caPem: () => context.certificates.tls().serverCaPem,
    caFingerprint: () => colonHex(context.certificates.tls().serverCaFingerprintSha256),
    enrollLine: () => context.use(installation).line(),
    directories: all.flatMap((one) => one.directories ?? []),
    machines: all.flatMap((one) => one.machines ?? []),
    probes: all.flatMap((one) => one.probes ?? []),
    crashes: context.use(fleet).crashes,
    notReadyBecause: () => context.notReadyBecause(),
    metrics,
  };
}
