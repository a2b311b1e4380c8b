// Orders to contain and to release, the authority of what is wanted of a node. Rows are never changed: the newest order of
// a sensor counts. Throws StoreUnavailable when the database cannot answer. decision: D85
import type { AuditEntry } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type ContainmentOrderRow = {
  readonly orderId: string;
  readonly sensorId: string;
  readonly wanted: 'contained' | 'released';
  readonly reason: string;
  readonly orderedBy: string;
  readonly orderedAtMs: number;
  /** When it ends by the node's own clock; null: by an order alone. */
  readonly untilMs: number | null;
};

export type PlaceOrder = AuditContext &
  Pick<ContainmentOrderRow, 'orderId' | 'sensorId' | 'wanted' | 'reason' | 'untilMs'>;
export type PlaceOutcome =
  | { readonly ok: true; readonly order: ContainmentOrderRow }
  | { readonly ok: false; readonly code: 'not_found' | 'sensor_is_revoked' }
  /** The sensor has an order with this id or a higher one; nothing was written. */
  | { readonly ok: false; readonly code: 'overtaken'; readonly by: string };

export type ContainmentOrders = {
  /** The order, its place as the sensor's newest and the audit row, together; then every replica is notified. */
  place(input: PlaceOrder): Promise<PlaceOutcome>;
  /** Newest first, below `before`. */
  list(query: {
    readonly sensorId: string;
    readonly limit: number;
    readonly before: string | null;
  }): Promise<readonly ContainmentOrderRow[]>;
};

/** The audit row of an order, the same in every store. */
export function auditOfOrder(input: PlaceOrder, result: string): AuditEntry {
  const { orderId, wanted, reason, untilMs } = input;
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: wanted === 'contained' ? 'sensor.contain' : 'sensor.release',
    target: input.sensorId,
    result,
    from: input.from,
    after: result === 'ok' ? { order_id: orderId, wanted, until_ms: untilMs } : null,
    detail: { reason },
  };
}
