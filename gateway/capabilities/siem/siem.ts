// SIEM forwarding: stored events reach SIEM systems in the order of their receipt, at least once, none skipped.
// decision: D152, D153, D154
import { createSiemForwarder, SIEM_LOOP } from '../../../actors/siem/siem-forwarder.ts';
import { createSiemSender } from '../../../actors/siem/siem-sender.ts';
import { createSiemService } from '../../../actors/siem/siem-service.ts';
import { siemDestinationMachine } from '../../../machines/console/siem/siem-destination.machine.ts';
import type { Capability } from '../../capability.ts';
import { siemRoutes } from '../../operator-plane/siem/siem-destinations.ts';
import { measureSiem } from '../../operator-plane/siem/siem-metrics.ts';
import { detection } from '../detection/detection.ts';
import { settings } from '../settings/settings.ts';

export const siem: Capability = {
  name: 'siem',
  async open(context) {
    const { relational, analytics, time, chance, logger, loops, version } = context;
    const { siem: store, sinkFloors: floors, audit } = relational;
    const sealer = await context.keys.operatorSecrets();
    const allowList = () => context.use(settings).get().webhookAllowList;
    const wake = (): void => loops.wake(SIEM_LOOP);
    const sender = createSiemSender({
      ...{ post: context.outboundPost, stream: context.outboundStream, sealer, allowList, version },
      ...{ now: time.now, monotonicNow: time.monotonicNow },
    });
    const forwarder = createSiemForwarder({
      ...{ siem: store, floors, events: analytics.events, sender, chance, logger },
      ...{ alerts: context.use(detection).alerts, now: time.now, onDone: wake },
    });
    const service = createSiemService({ siem: store, audit, sealer, sender, allowList, chance });
    return {
      service: {},
      operatorRoutes: () => [siemRoutes({ service, siem: store, now: time.now, wake })],
      machines: [siemDestinationMachine],
      loops: () => [forwarder.loop],
      measure: (registry) => measureSiem(registry, forwarder, time.now),
      close: () => forwarder.close(),
    };
  },
};
