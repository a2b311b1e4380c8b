// Digests as the API tells and takes them. A secret goes in and never comes out; the path of a webhook is shown to those alone
// who may change it. invariant: I11
import Type from 'typebox';
import type {
  DigestPlan,
  DigestWay,
  MailWay,
} from '../../../machines/console/digest/destination.rules.ts';
import {
  DIGEST_ADDRESS_MAX_CHARS,
  DIGEST_HOST_MAX_CHARS,
  DIGEST_NAME_MAX_CHARS,
  DIGEST_RECIPIENTS_MAX,
  DIGEST_SECRET_MAX_CHARS,
  DIGEST_USER_MAX_CHARS,
  WEBHOOK_CA_MAX_CHARS,
  WEBHOOK_URL_MAX_CHARS,
} from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { DigestRow, DigestRun } from '../../../storage/ports/digest/digest-store.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

const Address = Type.String({ minLength: 3, maxLength: DIGEST_ADDRESS_MAX_CHARS });
const MAIL = {
  host: Type.String({ minLength: 1, maxLength: DIGEST_HOST_MAX_CHARS }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  security: Type.Enum(['tls', 'starttls'], {
    description: 'TLS from the first byte, or asked for before anything is said',
  }),
  username: Nullable(Type.String({ minLength: 1, maxLength: DIGEST_USER_MAX_CHARS })),
  sender: Address,
  recipients: Type.Array(Address, { minItems: 1, maxItems: DIGEST_RECIPIENTS_MAX }),
};
const WEBHOOK = {
  target_url: Type.String({ minLength: 1, maxLength: WEBHOOK_URL_MAX_CHARS }),
};
const PLAN = {
  name: Type.String({ minLength: 1, maxLength: DIGEST_NAME_MAX_CHARS }),
  group_id: Type.Optional(Nullable(Uuid)),
  time_zone: Type.String({ minLength: 1, maxLength: 64, description: 'as Europe/Berlin' }),
  at: Type.String({ minLength: 5, maxLength: 5, description: 'local time, HH:MM' }),
  is_on: Type.Optional(Type.Boolean()),
  mail: Type.Optional(Strict(MAIL)),
  webhook: Type.Optional(Strict(WEBHOOK)),
  secret: Type.Optional(
    Nullable(
      Type.String({
        ...{ minLength: 1, maxLength: DIGEST_SECRET_MAX_CHARS },
        description: 'password of the mail server, or what a webhook is signed with; absent: stays',
      }),
    ),
  ),
  ca_pem: Type.Optional(Nullable(Type.String({ maxLength: WEBHOOK_CA_MAX_CHARS }))),
  proxy_url: Type.Optional(Nullable(Type.String({ maxLength: WEBHOOK_URL_MAX_CHARS }))),
};
export const NewDigest = Strict(PLAN);
export const DigestChange = Strict({
  ...PLAN,
  revision: Type.Integer({ minimum: 1, description: 'The one that was seen' }),
});
export type NewDigest = Type.Static<typeof NewDigest>;

const Run = Type.Object({
  day: Type.String({ description: 'where the zone is' }),
  state: Type.String({ description: 'sending, waiting, sent, failed, unsure or missed' }),
  attempts: Type.Integer(),
  from: Time,
  to: Time,
  next_try_at: Nullable(Time),
  ended_at: Nullable(Time),
  reason: Nullable(Type.String()),
});
export const DigestOut = Type.Object({
  digest_id: Uuid,
  name: Type.String(),
  group_id: Nullable(Type.String()),
  time_zone: Type.String(),
  at: Type.String(),
  is_on: Type.Boolean(),
  mail: Nullable(Type.Object(MAIL)),
  webhook: Nullable(
    Type.Object({ target_url: Type.String({ description: 'whole for those who may change it' }) }),
  ),
  has_secret: Type.Boolean(),
  ca_pem: Nullable(Type.String()),
  proxy_url: Nullable(Type.String()),
  last: Nullable(Run),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export const DigestRunOut = Run;
export const DigestPreview = Type.Object({
  subject: Type.String(),
  text: Type.String(),
  html: Type.String({ description: 'needs nothing from anywhere' }),
  payload: Type.Record(Type.String(), Type.Unknown(), { description: 'as a webhook gets it' }),
});
export const DigestTestResult = Type.Object({
  is_taken: Type.Boolean(),
  detail: Type.String(),
});
export type DigestOut = Type.Static<typeof DigestOut>;
export type DigestRunOut = Type.Static<typeof DigestRunOut>;
export type DigestPreview = Type.Static<typeof DigestPreview>;
export type DigestTestResult = Type.Static<typeof DigestTestResult>;

/** What was sent in, as a plan; null when it names not exactly one way. */
export function planIn(body: NewDigest): DigestPlan | null {
  const { name, group_id: groupId = null, time_zone: timeZone, at, is_on: isOn = true } = body;
  const { ca_pem: caPem = null, proxy_url: proxyUrl = null } = body;
  const way = wayIn(body);
  return way === null ? null : { name, groupId, timeZone, at, isOn, way, caPem, proxyUrl };
}

function wayIn({ mail, webhook }: NewDigest): DigestWay | null {
  if (mail !== undefined && webhook === undefined) return { kind: 'mail', ...mail };
  if (mail !== undefined || webhook === undefined) return null;
  return { kind: 'webhook', targetUrl: webhook.target_url };
}

/** A digest for somebody. */
export function digestView(
  row: DigestRow,
  last: DigestRun | undefined,
  isWhole: boolean,
): DigestOut {
  const { way } = row;
  return {
    ...{ digest_id: row.digestId, name: row.name, group_id: row.groupId },
    ...{ time_zone: row.timeZone, at: row.at, is_on: row.isOn },
    mail: way.kind === 'mail' ? mailView(way) : null,
    webhook: way.kind === 'webhook' ? { target_url: urlView(way.targetUrl, isWhole) } : null,
    ...{ has_secret: row.secretSealed !== null, ca_pem: row.caPem, proxy_url: row.proxyUrl },
    last: last === undefined ? null : digestRunView(last),
    ...{ created_at: timeText(row.createdAtMs), changed_at: timeText(row.changedAtMs) },
    revision: row.revision,
  };
}

export function digestRunView(run: DigestRun): DigestRunOut {
  const { day, state, attempts, dueAtMs, endedAtMs, reason } = run;
  return {
    ...{ day, state, attempts, from: timeText(run.fromMs), to: timeText(run.toMs) },
    next_try_at: state === 'waiting' ? timeText(dueAtMs) : null,
    ...{ ended_at: timeTextOrNull(endedAtMs), reason },
  };
}

function mailView(way: MailWay) {
  const { host, port, security, username, sender } = way;
  return { host, port, security, username, sender, recipients: [...way.recipients] };
}

function urlView(targetUrl: string, isWhole: boolean): string {
  return isWhole ? targetUrl : new URL(targetUrl).origin;
}
