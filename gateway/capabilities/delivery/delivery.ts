// Delivery: alerts reach webhooks, at least once, whatever crashes on the way. decision: D101, D102, D103, D104
import { type AlertIntake, createAlertIntake } from '../../../actors/delivery/alert-intake.ts';
import { ALERT_TELLING_LOOP, alertTellingLoop } from '../../../actors/delivery/alert-telling.ts';
import {
  createConflictWatch,
  IDENTITY_CONFLICT_LOOP,
} from '../../../actors/delivery/conflict-watch.ts';
import { createDeadLetters } from '../../../actors/delivery/dead-letters.ts';
import { createDeliverySweep } from '../../../actors/delivery/delivery-sweep.ts';
import { createDeliveryWorker, DELIVERY_LOOP } from '../../../actors/delivery/delivery-worker.ts';
import { createSensorWatch } from '../../../actors/delivery/sensor-watch.ts';
import { createWebhookSender } from '../../../actors/delivery/webhook-sender.ts';
import { createWebhookService } from '../../../actors/delivery/webhook-service.ts';
import { deliveryMachine } from '../../../machines/console/delivery/delivery.machine.ts';
import { destinationMachine } from '../../../machines/console/delivery/destination.machine.ts';
import type { Capability, ConsoleContext } from '../../capability.ts';
import { deliveryRoutes } from '../../operator-plane/delivery/deliveries.ts';
import { measureDeliveries } from '../../operator-plane/delivery/delivery-metrics.ts';
import { webhookRoutes } from '../../operator-plane/delivery/webhooks.ts';
import { detection } from '../detection/detection.ts';
import { fleet } from '../fleet/fleet.ts';
import { settings } from '../settings/settings.ts';
import { telemetry } from '../telemetry/telemetry.ts';

/** What other capabilities are given: where they hand over what has to be told. */
export type Delivery = { readonly intake: AlertIntake };

export const delivery: Capability<Delivery> = {
  name: 'delivery',
  async open(context) {
    const { relational, config, time, chance, logger, cursors, loops } = context;
    const { webhooks, deliveries, audit } = relational;
    const { liveView } = context.use(fleet);
    const sealer = await context.keys.operatorSecrets();
    const allowList = () => context.use(settings).get().webhookAllowList;
    const wake = (): void => loops.wake(DELIVERY_LOOP);
    const sender = createWebhookSender({
      ...{ post: context.outboundPost, sealer, allowList, version: context.version },
      ...{ baseUrl: () => config.baseUrl, now: time.now, monotonicNow: time.monotonicNow },
      factsOf(sensorId) {
        const entry = liveView.get(sensorId);
        if (entry === undefined) return null;
        return { trustHealth: entry.trust_health, isContained: entry.is_contained };
      },
    });
    const intake = createAlertIntake({
      ...{ webhooks, deliveries, chance, now: time.now, onPosted: wake },
    });
    const { alerts } = context.use(detection);
    const dead = createDeadLetters(chance);
    const worker = createDeliveryWorker({
      ...{ webhooks, deliveries, sender, dead, chance, logger },
      alerts,
      ...{ now: time.now, onDone: wake },
    });
    const service = createWebhookService({
      ...{ webhooks, audit, sealer, sender, allowList, chance },
    });
    const sweep = createDeliverySweep({ deliveries, alerts, chance, logger, now: time.now });
    const telling = alertTellingLoop({ store: relational.alerts, intake, now: time.now });
    const { watches, stop } = watchesOf(context);
    return {
      service: { intake },
      operatorRoutes: () => [
        webhookRoutes({ service, webhooks, now: time.now }),
        deliveryRoutes({ deliveries, webhooks, cursors, now: time.now, wake }),
      ],
      machines: [deliveryMachine, destinationMachine],
      loops: () => [...watches, telling, worker.loop, sweep.loop],
      measure: (registry) => measureDeliveries(registry, worker, sweep),
      close() {
        stop();
        worker.close();
      },
    };
  },
};

function watchesOf(context: ConsoleContext) {
  const { relational, time, chance } = context;
  const { directory, liveView } = context.use(fleet);
  const { alerts } = context.use(detection);
  const labelsOf = async (sensorId: string) => {
    const [labels] = await relational.teams.labelsOf([sensorId]);
    return labels ?? { tags: [], groupIds: [] };
  };
  const watch = createSensorWatch({
    ...{ alerts, chance, now: time.now, registry: relational.sensors },
    deliveries: relational.deliveries,
    ids: () => [...directory.ids()],
    snapshotOf(sensorId) {
      const view = directory.ask(sensorId);
      return view === 'absent' ? undefined : view.snapshot;
    },
    labelsOf,
  });
  const conflicts = createConflictWatch({
    ...{ alerts, chance, labelsOf },
    nodeNameOf: async (id) => (await relational.sensors.getSensor(id))?.nodeName,
  });
  const endings = [
    context.use(telemetry).streams.onConflict((...conflict) => {
      conflicts.note(...conflict);
      context.loops.wake(IDENTITY_CONFLICT_LOOP);
    }),
    alerts.onRaised(() => context.loops.wake(ALERT_TELLING_LOOP)),
    liveView.subscribe(({ sensor_id: id }) => watch.note(id)),
    context.use(fleet).feed.subscribe(({ kind, id }) => {
      if (kind === 'sensor') watch.note(id);
    }),
  ];
  return {
    watches: [watch.loop, conflicts.loop],
    stop() {
      for (const end of endings) end();
    },
  };
}
