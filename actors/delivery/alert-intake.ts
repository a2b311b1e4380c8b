// Where alerts come in: whoever finds something that has to be told hands it over here, and it is durable for every webhook
// that wants it when the call resolves. Marks of sensors go with them, so that nothing is told twice. decision: D103
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { toldFromMs } from '../../machines/console/delivery/quiet-hours.rules.ts';
import { isWanted } from '../../machines/console/delivery/routing.rules.ts';
import type { DeliveryStore } from '../../storage/ports/delivery/delivery-store.ts';
import type { WebhookStore } from '../../storage/ports/delivery/webhook-store.ts';
import type { Chance } from '../trust/chance.ts';

export type AlertIntake = {
  /** Rejects with StoreUnavailable, and with Overtaken under an epoch that is over; nothing was taken then. */
  take(input: {
    readonly alerts: readonly Alert[];
    readonly marks?: Parameters<DeliveryStore['post']>[0]['marks'];
    readonly epoch?: number;
  }): Promise<void>;
};

/** Makes the intake; `onPosted` is told when there is something to send. */
export function createAlertIntake(deps: {
  readonly webhooks: Pick<WebhookStore, 'list'>;
  readonly deliveries: Pick<DeliveryStore, 'post'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
  readonly onPosted: () => void;
}): AlertIntake {
  return {
    async take({ alerts, marks = [], epoch }) {
      const nowMs = deps.now();
      const webhooks = alerts.length === 0 ? [] : await deps.webhooks.list();
      const deliveries = alerts.flatMap((alert) =>
        webhooks
          .filter(({ options }) => isWanted(options, alert))
          .map(({ webhookId, options }) => ({
            ...{ deliveryId: deps.chance.newId(), webhookId, alertId: alert.alertId },
            dueAtMs: toldFromMs(options.quietHours, alert, nowMs),
          })),
      );
      if (deliveries.length === 0 && marks.length === 0) return;
      await deps.deliveries.post({ epoch, nowMs, alerts, deliveries, marks });
      if (deliveries.length > 0) deps.onPosted();
    },
  };
}
