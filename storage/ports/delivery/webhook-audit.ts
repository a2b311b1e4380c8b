// What is written into the audit log about webhooks, the same in every store. A secret is in none of it, sealed or not, and
// of an address only where it leads: some receivers put their secret into its path. decision: D35; invariant: I11
import { auditEntryOf } from '../audit/audit-entry.ts';
import type { AuditEntry, AuditFacts } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { WebhookRow, WebhookStore } from './webhook-store.ts';

type Kept = Pick<WebhookRow, 'type' | 'name' | 'targetUrl' | 'options' | 'secretSealed'> & {
  readonly pausedAtMs?: number | null;
};

export function auditOfWebhookCreate(
  input: Parameters<WebhookStore['create']>[0],
  result: 'ok' | 'full',
): AuditEntry {
  const { webhook } = input;
  const entry = auditEntryOf(input, 'webhook.create', webhook.webhookId, result);
  return result === 'ok' ? { ...entry, after: factsOf(webhook) } : entry;
}

export function auditOfWebhookChange(
  input: Parameters<WebhookStore['change']>[0],
  before: WebhookRow,
  after: WebhookRow,
): AuditEntry {
  const isSecretNew =
    before.secretSealed !== after.secretSealed ||
    before.nextSecretSealed !== after.nextSecretSealed;
  return {
    ...auditEntryOf(input, input.action ?? 'webhook.change', input.webhookId, 'ok'),
    before: factsOf(before),
    after: factsOf(after),
    detail: { is_secret_new: isSecretNew, is_address_new: before.targetUrl !== after.targetUrl },
  };
}

export function auditOfWebhookRemoval(
  input: Parameters<WebhookStore['remove']>[0],
  before: WebhookRow,
): AuditEntry {
  const entry = auditEntryOf(input, 'webhook.remove', input.webhookId, 'ok');
  return { ...entry, before: factsOf(before) };
}

/** Many that were dead; how many. */
export function auditOfReplayDead(
  input: AuditContext & { readonly webhookId: string },
  count: number,
): AuditEntry {
  const entry = auditEntryOf(input, 'delivery.replay', input.webhookId, 'ok');
  return { ...entry, detail: { dead_replayed: count } };
}

function factsOf(webhook: Kept): AuditFacts {
  const { type, name, targetUrl, options, secretSealed, pausedAtMs } = webhook;
  return {
    webhook_type: type,
    name,
    target: originOf(targetUrl),
    kinds: options.kinds,
    min_severity: options.minSeverity,
    group_ids: options.groupIds,
    rule_ids: options.ruleIds ?? [],
    rate_per_minute: options.ratePerMinute,
    has_own_ca: options.caPem !== null,
    proxy: options.proxyUrl === null ? null : originOf(options.proxyUrl),
    quiet_hours: options.quietHours === null ? null : { ...options.quietHours },
    has_secret: secretSealed !== null,
    is_paused: (pausedAtMs ?? null) !== null,
  };
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : '';
}
