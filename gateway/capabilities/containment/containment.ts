// Containment: a node is cut off from everything but the Console, by order of an operator, until another order or an
// instant. decision: D85, D87
import {
  createContainmentService,
  frameOf,
  untoldOrderOf,
} from '../../../actors/containment/containment-service.ts';
import type { SensorActors } from '../../../actors/trust/sensor-actors.ts';
import { isKnownReport } from '../../../machines/console/fleet/sensor-containment.rules.ts';
import type { Capability } from '../../capability.ts';
import { containmentRoutes } from '../../operator-plane/containment/containment.ts';
import type { HeartbeatPart } from '../../sensor-plane/heartbeat-part.ts';
import { fleet } from '../fleet/fleet.ts';
import { telemetry } from '../telemetry/telemetry.ts';

export const containment: Capability<null> = {
  name: 'containment',
  open(context) {
    const { relational, time, chance, cursors, logger } = context;
    const { sensors, feed, liveView } = context.use(fleet);
    const { streams } = context.use(telemetry);
    const service = createContainmentService({
      ...{ orders: relational.containment, sensors, chance, now: time.now },
    });
    // Moved by an order placed here or at another Console: whoever holds the stream sends it.
    const stopListening = feed.subscribe(({ kind, id, region, to, facts }) => {
      if (kind !== 'sensor' || region !== 'containment') return;
      if (to === 'failed') {
        logger.warn({ sensorId: id, facts }, 'a node could not carry out its containment order');
      }
      if (to !== 'containing' && to !== 'releasing') return;
      // After the event is over: the actor is asked for what it led to.
      queueMicrotask(() => send(id));
    });

    function send(sensorId: string): void {
      const nowMs = time.now();
      const known = sensors.view(sensorId, nowMs)?.containment;
      const order = known === undefined ? null : untoldOrderOf(known, nowMs);
      if (order !== null) streams.send(sensorId, frameOf(order));
    }

    return {
      service: null,
      operatorRoutes: () => [
        containmentRoutes({
          ...{ service, orders: relational.containment, registry: relational.sensors },
          ...{ sensors, fleet: liveView, cursors, now: time.now },
        }),
      ],
      heartbeatParts: [containmentPart(sensors, time.now)],
      close: stopListening,
    };
  },
};

/** Takes what the node says and answers what it was not told of. */
export function containmentPart(
  sensors: Pick<SensorActors, 'view' | 'tell'>,
  now: () => number,
): HeartbeatPart {
  return {
    take({ sensorId }, { containment: said }, nowMs) {
      if (said === undefined) return;
      const report = {
        orderId: said.order_id?.toLowerCase() ?? null,
        state: said.state,
        failure: said.failure ?? null,
      };
      const known = sensors.view(sensorId, nowMs)?.containment;
      if (known === undefined || isKnownReport(known, report)) return;
      sensors.tell(sensorId, { type: 'containment.reported', atMs: nowMs, report });
    },
    // What the node said last, with what follows from all it ever said.
    facts({ sensorId }, { containment: said }, nowMs) {
      const isContained = sensors.view(sensorId, nowMs)?.containment.isContained === true;
      if (said === undefined) {
        return isContained ? { containment: { state: 'contained', is_contained: true } } : {};
      }
      const { order_id, state, since, method, failure, repaired } = said;
      const told = { order_id, state, since, method, failure, repaired };
      return { containment: { ...told, is_contained: isContained } };
    },
    answer(sensorId) {
      const nowMs = now();
      const known = sensors.view(sensorId, nowMs)?.containment;
      const order = known === undefined ? null : untoldOrderOf(known, nowMs);
      return order === null ? {} : { containment: order };
    },
  };
}
