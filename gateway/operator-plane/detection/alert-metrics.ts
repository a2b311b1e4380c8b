// What is told of the inbox to whoever watches the Console: what the loop of this Console did since it started.
import { Counter, type Registry } from '@prometheus-io/client';
import type { AlertSweep } from '../../../actors/detection/alert-sweep.ts';

/** Declares the metrics. */
export function measureAlerts(registry: Registry, { removed }: AlertSweep): void {
  new Counter({
    name: 'service_alerts_removed_total',
    help: 'Alerts removed: settled long ago, and held by no open investigation.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(removed());
    },
  });
}
