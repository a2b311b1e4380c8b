// The tables of webhooks and deliveries as the database holds them.
import type { Alert } from '../../../machines/console/delivery/alert.ts';
import type { WebhookType } from '../../../machines/console/delivery/formats/formats.ts';
import type { SensorMark } from '../../../machines/console/delivery/sensor-alerts.rules.ts';
import type {
  DeliveryStanding,
  DestinationStanding,
} from '../../../machines/console/delivery/standing.ts';
import type { WebhookOptions } from '../../ports/delivery/webhook-store.ts';
import type { Json } from '../plumbing/json-column.ts';

export type WebhooksTable = {
  webhook_id: string;
  webhook_type: WebhookType;
  name: string;
  target_url: string;
  secret_sealed: string | null;
  next_secret_sealed: string | null;
  rotates_at_ms: number | null;
  options: Json<WebhookOptions>;
  paused_at_ms: number | null;
  destination: Json<DestinationStanding>;
  created_at_ms: number;
  changed_at_ms: number;
  revision: number;
};

export type DeliveriesTable = {
  delivery_id: string;
  webhook_id: string;
  alert_id: string;
  dedup_key: string;
  state: DeliveryStanding['state'];
  due_at_ms: number;
  attempts: number;
  give_up_at_ms: number;
  ended_at_ms: number | null;
  reason: string | null;
  folded_into: string | null;
  lease_epoch: number | null;
  lease_until_ms: number | null;
  created_at_ms: number;
};

export type DeliveryTables = {
  webhooks: WebhooksTable;
  delivery_alerts: { alert_id: string; alert: Json<Alert>; posted_at_ms: number };
  deliveries: DeliveriesTable;
  delivery_attempts: {
    delivery_id: string;
    number: number;
    at_ms: number;
    duration_ms: number;
    outcome: string;
    status: number | null;
    detail: string;
    request: string;
    response: string;
  };
  alert_marks: { sensor_id: string; mark: Json<SensorMark> };
};
