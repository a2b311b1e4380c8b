// Orders to contain and to release: stored, told to the actor, and from its move on sent to the node, by whichever Console
// holds its stream. The heartbeat's answer says the same until the node's report agrees. decision: D85
import type { ContainmentFacts } from '../../machines/console/fleet/sensor-containment.rules.ts';
import { isUntold } from '../../machines/console/fleet/sensor-containment.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import type { ContainmentOrder } from '../../machines/wire/policy.ts';
import type { DownstreamFrame } from '../../machines/wire/stream.ts';
import type {
  ContainmentOrderRow,
  ContainmentOrders,
} from '../../storage/ports/containment/containment-orders.ts';
import { orderFactsOf } from '../fleet/sensor.actor.ts';
import type { Chance } from '../trust/chance.ts';
import type { SensorActors } from '../trust/sensor-actors.ts';

/** Orders that come together at several Consoles overtake each other at most so often. */
const TRIES_MAX = 8;
const UUID_CUTS = [8, 12, 16, 20] as const;

export type PlacedOrder = { readonly ok: true; readonly order: ContainmentOrderRow } | Refusal;
export type ContainmentService = {
  /** Throws StoreUnavailable when nothing was ordered. */
  order(input: {
    readonly sensorId: string;
    readonly wanted: 'contained' | 'released';
    readonly reason: string;
    readonly untilMs: number | null;
    readonly actor: string;
    readonly from?: string;
  }): Promise<PlacedOrder>;
};

/** Makes the service. */
export function createContainmentService(deps: {
  readonly orders: Pick<ContainmentOrders, 'place'>;
  readonly sensors: Pick<SensorActors, 'tell'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
}): ContainmentService {
  return {
    async order(input) {
      let orderId = deps.chance.newId();
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const nowMs = deps.now();
        const placed = await deps.orders.place({ ...input, orderId, nowMs });
        if (placed.ok) {
          const order = orderFactsOf(placed.order);
          deps.sensors.tell(input.sensorId, { type: 'containment.ordered', atMs: nowMs, order });
          return placed;
        }
        if (placed.code !== 'overtaken') {
          return placed.code === 'not_found'
            ? refuse('not_found', 'There is no such sensor.')
            : refuse('sensor_is_revoked', 'A revoked sensor takes no orders any more.');
        }
        // The clock of another Console is ahead of this one.
        orderId = idAfter(placed.by);
      }
      return refuse('overloaded', 'Too many orders for this sensor come at once.', {
        retryAfterMs: 1_000,
      });
    },
  };
}

/** The next id above another: orders of one sensor rise whatever the clocks say. */
export function idAfter(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return [0, ...UUID_CUTS].map((from, at) => digits.slice(from, UUID_CUTS[at] ?? 32)).join('-');
}

/** What an answer to the node says; null when it knows. */
export function untoldOrderOf(facts: ContainmentFacts, nowMs: number): ContainmentOrder | null {
  const { order } = facts;
  if (order === null || !isUntold(facts, nowMs)) return null;
  const { orderId: order_id, wanted, reason, untilMs } = order;
  if (wanted === 'released') return { order_id, wanted };
  return { order_id, wanted, reason, ...untilOf(untilMs) };
}

/** The same as a frame of the stream. */
export function frameOf(order: ContainmentOrder): DownstreamFrame {
  const { order_id, wanted, reason = '', until } = order;
  if (wanted === 'released') return { type: 'release', order_id };
  return { type: 'contain', order_id, reason, ...(until === undefined ? {} : { until }) };
}

function untilOf(untilMs: number | null): { readonly until?: string } {
  return untilMs === null ? {} : { until: new Date(untilMs).toISOString() };
}
