// Webhooks and deliveries as they are told. An address may hold a secret in its path, so only who may change a webhook sees
// it whole; what a receiver answered is for them, too. invariant: I11
import Type from 'typebox';
import { AlertKindName, AlertSeverityName } from '../../../machines/console/delivery/alert.ts';
import {
  WEBHOOK_CA_MAX_CHARS,
  WEBHOOK_GROUPS_MAX,
  WEBHOOK_RATE_MAX_PER_MINUTE,
  WEBHOOK_RULE_ID_MAX_CHARS,
  WEBHOOK_RULES_MAX,
  WEBHOOK_URL_MAX_CHARS,
} from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { AttemptRow, DeliveryRow } from '../../../storage/ports/delivery/delivery-store.ts';
import type { WebhookOptions, WebhookRow } from '../../../storage/ports/delivery/webhook-store.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

const QuietHoursShape = Strict({
  time_zone: Type.String({ minLength: 1, maxLength: 64, description: 'Europe/Berlin' }),
  from: Type.String({ maxLength: 5, description: 'local time, HH:MM' }),
  to: Type.String({ maxLength: 5, description: 'local time, HH:MM; past midnight when earlier' }),
  days: Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), {
    maxItems: 7,
    description: 'the days on which they begin, 0 is Sunday; empty: every day',
  }),
  passes: AlertSeverityName,
});
const OPTIONS = {
  alert_kinds: Type.Array(AlertKindName, {
    maxItems: 32,
    description: 'only these; empty: all',
  }),
  min_severity: AlertSeverityName,
  group_ids: Type.Array(Uuid, {
    maxItems: WEBHOOK_GROUPS_MAX,
    description: 'only sensors of one of these groups; empty: all',
  }),
  rule_ids: Type.Array(Type.String({ minLength: 1, maxLength: WEBHOOK_RULE_ID_MAX_CHARS }), {
    maxItems: WEBHOOK_RULES_MAX,
    description: 'only alerts of one of these rules or saved searches; empty: all',
  }),
  rate_per_minute: Type.Integer({ minimum: 1, maximum: WEBHOOK_RATE_MAX_PER_MINUTE }),
  ca_pem: Nullable(
    Type.String({
      maxLength: WEBHOOK_CA_MAX_CHARS,
      description: 'the only CA that is trusted; null: the public ones',
    }),
  ),
  proxy_url: Nullable(
    Type.String({
      maxLength: WEBHOOK_URL_MAX_CHARS,
      description: 'an HTTP proxy that stands between, by CONNECT; null: none',
    }),
  ),
  quiet_hours: Nullable(QuietHoursShape),
} as const;
export const Options = Type.Partial(Strict(OPTIONS), { additionalProperties: false });

export const Webhook = Type.Object({
  webhook_id: Uuid,
  webhook_type: Type.String(),
  name: Type.String(),
  target_url: Type.String({ description: 'without its path for who may not change it' }),
  has_signing_secret: Type.Boolean(),
  is_rotating: Type.Boolean(),
  rotates_at: Nullable(Time),
  options: Type.Object(OPTIONS),
  is_paused: Type.Boolean(),
  paused_at: Nullable(Time),
  breaker: Type.String({ description: 'closed, open or probing' }),
  open_until: Nullable(Time),
  failures: Type.Integer({ description: 'in a row' }),
  last_failure: Nullable(Type.String()),
  last_failed_at: Nullable(Time),
  last_delivered_at: Nullable(Time),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export const MadeWebhook = Type.Object({
  webhook: Webhook,
  signing_secret: Nullable(
    Type.String({ description: 'the one that the Console made, shown this once' }),
  ),
});
export const Delivery = Type.Object({
  delivery_id: Uuid,
  webhook_id: Uuid,
  alert_id: Uuid,
  alert_kind: Type.String(),
  severity: Type.String(),
  sensor_id: Type.String(),
  node_name: Type.String(),
  headline: Type.String(),
  state: Type.String({ description: 'waiting, sending, delivered, folded or dead' }),
  reason: Nullable(Type.String({ description: 'why it is dead' })),
  folded_into: Nullable(Uuid),
  attempts: Type.Integer(),
  due_at: Nullable(Time),
  created_at: Time,
  ended_at: Nullable(Time),
});
export const Attempt = Type.Object({
  number: Type.Integer(),
  at: Time,
  duration_ms: Type.Integer(),
  outcome: Type.String(),
  status: Nullable(Type.Integer()),
  detail: Type.String(),
  request: Type.String({ description: 'as it was sent, without secrets' }),
  response: Nullable(Type.String({ description: 'its beginning, for who may change webhooks' })),
});
export const DeliveryWithAttempts = Type.Object({
  delivery: Delivery,
  tried: Type.Array(Attempt),
  folded: Type.Array(Uuid, { description: 'deliveries that this one carries' }),
});
export const TestResult = Type.Object({
  is_delivered: Type.Boolean(),
  outcome: Type.String(),
  status: Nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  detail: Type.String(),
});
export type Webhook = Type.Static<typeof Webhook>;
export type MadeWebhook = Type.Static<typeof MadeWebhook>;
export type TestResult = Type.Static<typeof TestResult>;
export type DeliveryWithAttempts = Type.Static<typeof DeliveryWithAttempts>;
export type Delivery = Type.Static<typeof Delivery>;

/** A webhook for somebody. */
export function webhookView(row: WebhookRow, nowMs: number, isWhole: boolean): Webhook {
  const { destination, options } = row;
  const isRotating = row.rotatesAtMs !== null && row.rotatesAtMs > nowMs;
  return {
    webhook_id: row.webhookId,
    webhook_type: row.type,
    name: row.name,
    target_url: isWhole ? row.targetUrl : `${new URL(row.targetUrl).origin}/...`,
    has_signing_secret: row.secretSealed !== null,
    is_rotating: isRotating,
    rotates_at: isRotating ? timeTextOrNull(row.rotatesAtMs) : null,
    options: {
      alert_kinds: [...options.kinds],
      min_severity: options.minSeverity,
      group_ids: [...options.groupIds],
      rule_ids: [...(options.ruleIds ?? [])],
      rate_per_minute: options.ratePerMinute,
      ca_pem: options.caPem,
      proxy_url: options.proxyUrl,
      quiet_hours: quietHoursView(options.quietHours),
    },
    is_paused: row.pausedAtMs !== null,
    paused_at: timeTextOrNull(row.pausedAtMs),
    breaker: destination.state,
    open_until: destination.state === 'open' ? timeText(destination.openUntilMs) : null,
    failures: destination.failures,
    last_failure: destination.lastFailure,
    last_failed_at: timeTextOrNull(destination.lastFailedAtMs),
    last_delivered_at: timeTextOrNull(destination.lastAcceptedAtMs),
    created_at: timeText(row.createdAtMs),
    changed_at: timeText(row.changedAtMs),
    revision: row.revision,
  };
}

export function deliveryView(row: DeliveryRow): Delivery {
  const { alert } = row;
  return {
    delivery_id: row.deliveryId,
    webhook_id: row.webhookId,
    alert_id: alert.alertId,
    alert_kind: alert.kind,
    severity: alert.severity,
    sensor_id: alert.sensorId,
    node_name: alert.nodeName,
    headline: alert.headline,
    state: row.state,
    reason: row.reason,
    folded_into: row.foldedInto,
    attempts: row.attempts,
    due_at: row.state === 'waiting' ? timeText(row.dueAtMs) : null,
    created_at: timeText(row.createdAtMs),
    ended_at: timeTextOrNull(row.endedAtMs),
  };
}

export function attemptView(row: AttemptRow, isWhole: boolean): Type.Static<typeof Attempt> {
  return {
    number: row.number,
    at: timeText(row.atMs),
    duration_ms: row.durationMs,
    outcome: row.outcome,
    status: row.status,
    detail: row.detail,
    request: row.request,
    response: isWhole ? row.response : null,
  };
}

/** Options as they were given. */
export function optionsIn(given: Type.Static<typeof Options> | undefined): Partial<WebhookOptions> {
  if (given === undefined) return {};
  const { alert_kinds, min_severity, group_ids, rate_per_minute, ca_pem } = given;
  const { proxy_url, quiet_hours, rule_ids } = given;
  return {
    ...(alert_kinds === undefined ? {} : { kinds: alert_kinds }),
    ...(min_severity === undefined ? {} : { minSeverity: min_severity }),
    ...(group_ids === undefined ? {} : { groupIds: group_ids }),
    ...(rule_ids === undefined ? {} : { ruleIds: rule_ids }),
    ...(rate_per_minute === undefined ? {} : { ratePerMinute: rate_per_minute }),
    ...(ca_pem === undefined ? {} : { caPem: ca_pem }),
    ...(proxy_url === undefined ? {} : { proxyUrl: proxy_url }),
    ...(quiet_hours === undefined ? {} : { quietHours: quietHoursIn(quiet_hours) }),
  };
}

function quietHoursView(
  hours: WebhookOptions['quietHours'],
): Type.Static<typeof QuietHoursShape> | null {
  if (hours === null) return null;
  const { timeZone, days, ...rest } = hours;
  return { ...rest, time_zone: timeZone, days: [...days] };
}

function quietHoursIn(
  given: Type.Static<typeof QuietHoursShape> | null,
): WebhookOptions['quietHours'] {
  if (given === null) return null;
  const { time_zone: timeZone, ...rest } = given;
  return { ...rest, timeZone };
}
