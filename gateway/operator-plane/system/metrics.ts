// The Console's Prometheus metrics: requests, and what capabilities add.
import { Counter, Histogram, Registry } from '@prometheus-io/client';

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

/** Makes the registry; other parts add their own metrics to it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
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
  return {
    registry,
    observeRequest({ method, route, status, seconds: took }) {
      requests.inc({ method, route, status: String(status) });
      seconds.observe({ route }, took);
    },
  };
}
