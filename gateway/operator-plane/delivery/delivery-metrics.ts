// What is told of deliveries to whoever watches the Console. Nothing is asked of the database for it: the loops keep what
// they saw last, and where another Console runs them nothing is told here.
import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { DeliveryBacklog } from '../../../actors/delivery/delivery-sweep.ts';
import type { DeliveryWorker } from '../../../actors/delivery/delivery-worker.ts';

/** Declares the metrics. */
export function measureDeliveries(
  registry: Registry,
  worker: Pick<DeliveryWorker, 'counts' | 'running' | 'breakers'>,
  backlog: DeliveryBacklog,
): void {
  new Counter({
    name: 'service_webhook_attempts_total',
    help: 'Attempts to deliver alerts, by what came of them.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of worker.counts()) this.inc({ outcome }, count);
    },
  });
  new Gauge({
    name: 'service_webhook_attempts_running',
    help: 'Attempts that are under way.',
    registers: [registry],
    collect() {
      this.set(worker.running());
    },
  });
  new Gauge({
    name: 'service_webhook_breaker_open',
    help: '1 while a webhook is left alone because it fails.',
    labelNames: ['webhook_id'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [webhookId, state] of worker.breakers()) {
        this.set({ webhook_id: webhookId }, state === 'closed' ? 0 : 1);
      }
    },
  });
  new Gauge({
    name: 'service_webhook_deliveries',
    help: 'Deliveries that are kept, by state.',
    labelNames: ['webhook_id', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { webhookId, state, count } of backlog.counts()) {
        this.set({ webhook_id: webhookId, state }, count);
      }
    },
  });
  new Gauge({
    name: 'service_webhook_oldest_waiting_timestamp_seconds',
    help: 'Since when the oldest delivery waits that is not delivered.',
    labelNames: ['webhook_id'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { webhookId, state, oldestAtMs } of backlog.counts()) {
        if (state === 'waiting') this.set({ webhook_id: webhookId }, oldestAtMs / 1_000);
      }
    },
  });
}
