// What the reference stores of webhooks and deliveries hold and need.
import type { SensorMark } from '../../../machines/console/delivery/sensor-alerts.rules.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import type { AttemptRow, DeliveryRow } from '../../ports/delivery/delivery-store.ts';
import type { WebhookRow } from '../../ports/delivery/webhook-store.ts';
import type { Fence } from '../runtime/designation.ts';

export type Lease = { readonly epoch: number; readonly untilMs: number };
export type Kept = DeliveryRow & { readonly lease: Lease | null };
export type DeliveryState = {
  readonly webhooks: Map<string, WebhookRow>;
  readonly deliveries: Map<string, Kept>;
  readonly attempts: Map<string, readonly AttemptRow[]>;
  readonly marks: Map<string, SensorMark>;
};
export type DeliveryDeps = {
  readonly record: (entry: AuditEntry) => void;
  readonly fence: Fence;
  readonly hasSensor: (sensorId: string) => boolean;
};

/** Ids that a delivery carries. */
export function carriedBy(
  deliveries: ReadonlyMap<string, Kept>,
  deliveryId: string,
): readonly string[] {
  return [...deliveries.values()]
    .filter(({ foldedInto }) => foldedInto === deliveryId)
    .map((row) => row.deliveryId)
    .sort();
}
