// How many credentials were refused, as a metric. decision: D64
import { Counter, type Registry } from '@prometheus-io/client';

/** Adds the counts by kind. */
export function measureRefusals(
  registry: Registry,
  refused: { totals(): Readonly<Record<string, number>> },
): void {
  new Counter({
    name: 'service_refused_credentials_total',
    help: 'Credentials and anonymous requests that were refused, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, count] of Object.entries(refused.totals())) this.inc({ kind }, count);
    },
  });
}
