// The Console's Prometheus metrics: process facts, requests, and the fleet's counts read at scrape time.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { FleetCounts } from '../../../actors/fleet/fleet-picture.ts';

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = {
  readonly registry: Registry;
  /** Counts one answered operator request. */
  observeRequest(input: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
};

/** Adds whether request budgets are shared with other Consoles, and how often that ended. decision: D41 */
export function measureRateLimits(
  { registry }: Metrics,
  limits: { countsTogether(): boolean; falls(): number },
): void {
  new Gauge({
    name: 'service_rate_limits_shared',
    help: '1 while request budgets are counted together with the other Consoles, 0 while alone.',
    registers: [registry],
    collect() {
      this.set(limits.countsTogether() ? 1 : 0);
    },
  });
  new Counter({
    name: 'service_rate_limits_falls_total',
    help: 'How often the shared counter was lost.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(limits.falls());
    },
  });
}

/** Makes the registry; other parts add their own metrics to it. */
export function createMetrics(counts: () => FleetCounts): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'service_operator_requests_total',
    help: 'Operator requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'service_operator_request_seconds',
    help: 'Time to answer an operator request.',
    labelNames: ['route'],
    buckets: SECONDS_BUCKETS,
    registers: [registry],
  });
  new Gauge({
    name: 'service_sensors',
    help: 'Enrolled sensors by trust health.',
    labelNames: ['trust_health'],
    registers: [registry],
    collect() {
      const { total: _total, streams: _streams, ...healths } = counts();
      for (const [health, count] of Object.entries(healths))
        this.set({ trust_health: health }, count);
    },
  });
  new Gauge({
    name: 'service_sensor_streams_open',
    help: 'Sensors with an open stream.',
    registers: [registry],
    collect() {
      this.set(counts().streams);
    },
  });
  return {
    registry,
    observeRequest({ method, route, status, seconds: took }) {
      requests.inc({ method, route, status: String(status) });
      seconds.observe({ route }, took);
    },
  };
}
