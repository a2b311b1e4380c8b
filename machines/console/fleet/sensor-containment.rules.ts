// What is known of a sensor's containment, and the state it means: what was ordered, what the node said of which order, and
// whether it is cut off by its own word. decision: D85, D87
import type { ContainmentReport } from '../../wire/policy.ts';

export type OrderFacts = {
  readonly orderId: string;
  readonly wanted: 'contained' | 'released';
  readonly reason: string;
  /** When it ends by the node's own clock; null: by an order alone. */
  readonly untilMs: number | null;
};
export type ReportFacts = {
  /** The order it is about; null: the node was never given one. */
  readonly orderId: string | null;
  readonly state: ContainmentReport['state'];
  readonly failure: string | null;
};
export type ContainmentFacts = {
  readonly order: OrderFacts | null;
  readonly report: ReportFacts | null;
  /** The node said `contained` and has not yet said `released`. */
  readonly isContained: boolean;
};
export const NOT_CONTAINED: ContainmentFacts = { order: null, report: null, isContained: false };

/** An order can be void before it reached the node. */
export function isOrderOver(order: OrderFacts, nowMs: number): boolean {
  return order.untilMs !== null && nowMs >= order.untilMs;
}

/** Whether the node has to be told of its newest order. One that is over still lets go what an older order holds. */
export function isUntold(facts: ContainmentFacts, nowMs: number): boolean {
  const { order, report } = facts;
  if (order === null || report?.orderId === order.orderId) return false;
  return order.wanted === 'released' || !isOrderOver(order, nowMs) || isHeld(facts);
}

/** Whether the node may be cut off, or on its way there, by what it said last. */
function isHeld({ report, isContained }: ContainmentFacts): boolean {
  return isContained || (report !== null && report.state !== 'released');
}

/** The state that order and report mean together. */
export function containmentRegionOf(
  facts: ContainmentFacts,
  nowMs: number,
): ContainmentReport['state'] {
  const { order, report, isContained } = facts;
  const said = report?.state ?? (isContained ? 'contained' : 'released');
  if (order === null || !isUntold(facts, nowMs)) return said;
  const isWanted = order.wanted === 'contained' && !isOrderOver(order, nowMs);
  return isWanted ? 'containing' : 'releasing';
}

/** Orders of one sensor rise: one that was overtaken on its way changes nothing. */
export function withOrder(facts: ContainmentFacts, order: OrderFacts): ContainmentFacts {
  const isNewer = facts.order === null || order.orderId > facts.order.orderId;
  return isNewer ? { ...facts, order } : facts;
}

export function withReport(facts: ContainmentFacts, report: ReportFacts): ContainmentFacts {
  const isContained =
    report.state === 'contained' || (report.state !== 'released' && facts.isContained);
  return { ...facts, report, isContained };
}

/** Whether a report says something new. */
export function isKnownReport({ report }: ContainmentFacts, next: ReportFacts): boolean {
  return (
    report !== null &&
    report.orderId === next.orderId &&
    report.state === next.state &&
    report.failure === next.failure
  );
}

/** Milliseconds until an order that the node was not told of is void. */
export function untilVoidMs({ order }: ContainmentFacts, nowMs: number): number {
  if (order === null || order.untilMs === null) return Number.MAX_SAFE_INTEGER;
  return Math.max(0, order.untilMs - nowMs);
}
