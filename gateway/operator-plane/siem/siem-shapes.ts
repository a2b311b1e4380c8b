// SIEM destinations as they are told. A token goes in and never comes out; a path that is a secret neither. invariant: I11
import Type from 'typebox';
import { kindOf, SIEM_KIND_NAMES } from '../../../machines/console/siem/kinds/kinds.ts';
import { CONDITION_MAX_CHARS } from '../../../machines/detection/limits.ts';
import {
  SIEM_LABEL_MAX_CHARS,
  SIEM_TOKEN_MAX_CHARS,
  WEBHOOK_CA_MAX_CHARS,
  WEBHOOK_NAME_MAX_CHARS,
  WEBHOOK_URL_MAX_CHARS,
} from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SiemOptions, SiemRow } from '../../../storage/ports/siem/siem-store.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { INSTANT_PATTERN, timeText, timeTextOrNull } from '../plumbing/time-range.ts';

const Label = Nullable(Type.String({ minLength: 1, maxLength: SIEM_LABEL_MAX_CHARS }));
const OPTIONS = {
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
  category: Label,
  source_name: Label,
} as const;
const Options = Type.Partial(Strict(OPTIONS), { additionalProperties: false });
const Name = Type.String({ minLength: 1, maxLength: WEBHOOK_NAME_MAX_CHARS });
const Url = Type.String({
  ...{ minLength: 1, maxLength: WEBHOOK_URL_MAX_CHARS },
  description: 'https://, and tls:// for syslog',
});
const Token = Type.String({
  ...{ minLength: 1, maxLength: SIEM_TOKEN_MAX_CHARS },
  description: 'what the receiver knows us by; for otlp and sumologic a whole Authorization header',
});
const Filter = Type.String({
  maxLength: CONDITION_MAX_CHARS,
  description: 'which events, in the language of searches; empty: all',
});
const Instant = Type.String({ maxLength: 64, pattern: INSTANT_PATTERN });

export const NewSiem = Strict({
  kind: Type.String({ maxLength: 32, description: SIEM_KIND_NAMES.join(', ') }),
  name: Name,
  target_url: Url,
  token: Type.Optional(Token),
  filter: Type.Optional(Filter),
  start_at: Type.Optional(Instant),
  options: Type.Optional(Options),
});
export const SiemChangeBody = Strict({
  revision: Type.Integer({ minimum: 1, description: 'The one that was seen' }),
  name: Type.Optional(Name),
  target_url: Type.Optional(Url),
  token: Type.Optional(Nullable(Token)),
  filter: Type.Optional(Filter),
  options: Type.Optional(Options),
});
export const SiemResume = Strict({
  start_at: Type.Optional(
    Type.String({
      ...{ maxLength: 64, pattern: INSTANT_PATTERN },
      description: 'send again what was received from then on; absent: go on where it stands',
    }),
  ),
});
export const SiemDestination = Type.Object({
  destination_id: Uuid,
  kind: Type.String(),
  name: Type.String(),
  target_url: Type.String({ description: 'without its path where that is a secret' }),
  has_token: Type.Boolean(),
  filter: Type.String(),
  options: Type.Object(OPTIONS),
  state: Type.String({ description: 'forwarding, holding, open, stopped or paused' }),
  sent_up_to: Time,
  lag_seconds: Type.Number({ description: 'how long ago that was' }),
  next_try_at: Nullable(Time),
  failures: Type.Integer({ description: 'in a row' }),
  last_failure: Nullable(Type.String()),
  last_failed_at: Nullable(Time),
  last_accepted_at: Nullable(Time),
  sent_events: Type.Integer(),
  refused_events: Type.Integer({ description: 'refused by themselves, and left out' }),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export const SiemTestResult = Type.Object({
  is_accepted: Type.Boolean(),
  status: Nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  detail: Type.String(),
});
export type SiemDestination = Type.Static<typeof SiemDestination>;
export type SiemTestResult = Type.Static<typeof SiemTestResult>;

/** A destination for somebody; the whole address only for who may change it. */
export function siemView(row: SiemRow, nowMs: number, isWhole: boolean): SiemDestination {
  const { options, standing } = row;
  const { state, cursor, untilMs } = standing;
  return {
    ...{ destination_id: row.destinationId, kind: row.kind, name: row.name },
    target_url: urlView(row, isWhole),
    ...{ has_token: row.hasToken, filter: row.filter },
    options: {
      ca_pem: options.caPem,
      proxy_url: options.proxyUrl,
      category: options.category,
      source_name: options.sourceName,
    },
    state,
    sent_up_to: timeText(cursor.receivedAtMs),
    lag_seconds: Math.max(0, Math.round((nowMs - cursor.receivedAtMs) / 1_000)),
    next_try_at: state === 'holding' || state === 'open' ? timeText(untilMs) : null,
    failures: standing.failures,
    last_failure: standing.lastFailure,
    last_failed_at: timeTextOrNull(standing.lastFailedAtMs),
    last_accepted_at: timeTextOrNull(standing.lastAcceptedAtMs),
    sent_events: standing.sentEvents,
    refused_events: standing.refusedEvents,
    created_at: timeText(row.createdAtMs),
    changed_at: timeText(row.changedAtMs),
    revision: row.revision,
  };
}

/** Options as they were given. */
export function siemOptionsIn(
  given: Type.Static<typeof Options> | undefined,
): Partial<SiemOptions> {
  if (given === undefined) return {};
  const { ca_pem, proxy_url, category, source_name } = given;
  return {
    ...(ca_pem === undefined ? {} : { caPem: ca_pem }),
    ...(proxy_url === undefined ? {} : { proxyUrl: proxy_url }),
    ...(category === undefined ? {} : { category }),
    ...(source_name === undefined ? {} : { sourceName: source_name }),
  };
}

function urlView({ kind, targetUrl }: SiemRow, isWhole: boolean): string {
  if (kindOf(kind).isPathSecret) return `${targetUrl}/...`;
  if (isWhole || kindOf(kind).transport === 'tls') return targetUrl;
  return `${new URL(targetUrl).origin}/...`;
}
