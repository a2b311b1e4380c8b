// What is told of digests to whoever watches the Console: what the loop of this Console did since it started.
import { Counter, type Registry } from '@prometheus-io/client';
import type { DigestCounts } from '../../../actors/digest/digest-loop.ts';

/** Declares the metrics. */
export function measureDigests(registry: Registry, counts: () => DigestCounts): void {
  new Counter({
    name: 'service_digest_days_total',
    help: 'Days of digests by what became of them.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(counts())) this.inc({ outcome }, count);
    },
  });
}
