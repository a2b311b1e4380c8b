// The reference store of containment orders, on the state of the reference registry. decision: D85
import {
  auditOfOrder,
  type ContainmentOrderRow,
  type ContainmentOrders,
  type PlaceOrder,
  type PlaceOutcome,
} from '../../ports/containment/containment-orders.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { RegistryState } from '../fleet/registry-state.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

/** The calls on a state without orders. */
export function containmentCalls(state: RegistryState): Calls<ContainmentOrders> {
  /** Of each sensor, oldest first. */
  const orders = new Map<string, ContainmentOrderRow[]>();

  function place(input: PlaceOrder): PlaceOutcome {
    const sensor = state.sensors.get(input.sensorId);
    if (sensor === undefined || sensor.revokedAtMs !== null) {
      const code = sensor === undefined ? 'not_found' : 'sensor_is_revoked';
      state.record(auditOfOrder(input, code));
      return { ok: false, code };
    }
    const newest = sensor.containmentOrder?.orderId;
    if (newest !== undefined && newest >= input.orderId) {
      return { ok: false, code: 'overtaken', by: newest };
    }
    const order: ContainmentOrderRow = {
      orderId: input.orderId,
      sensorId: input.sensorId,
      wanted: input.wanted,
      reason: storableText(input.reason),
      orderedBy: storableText(input.actor),
      orderedAtMs: input.nowMs,
      untilMs: input.untilMs,
    };
    const own = orders.get(input.sensorId) ?? [];
    orders.set(input.sensorId, [...own, order]);
    state.sensors.set(input.sensorId, { ...sensor, containmentOrder: order });
    state.record(auditOfOrder(input, 'ok'));
    state.tellChanged(input.sensorId);
    return { ok: true, order };
  }

  return {
    place,
    list: ({ sensorId, limit, before }) =>
      (orders.get(sensorId) ?? [])
        .filter(({ orderId }) => before === null || orderId < before)
        .reverse()
        .slice(0, limit),
  };
}
