// The reference store of webhooks and of deliveries, in one place as the real ones share a database. decision: D101, D104
import { newDestination } from '../../../machines/console/delivery/standing.ts';
import { WEBHOOKS_MAX } from '../../../machines/limits.ts';
import type { DeliveryStore } from '../../ports/delivery/delivery-store.ts';
import {
  auditOfWebhookChange,
  auditOfWebhookCreate,
  auditOfWebhookRemoval,
} from '../../ports/delivery/webhook-audit.ts';
import type { WebhookRow, WebhookStore } from '../../ports/delivery/webhook-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { DeliveryDeps, DeliveryState } from './delivery-state.ts';
import { deliveryCalls } from './delivery-store.ts';

/** The calls on empty stores. */
export function memoryDeliveryCalls(deps: DeliveryDeps): {
  readonly webhooks: Calls<WebhookStore>;
  readonly deliveries: Calls<DeliveryStore>;
} {
  const state: DeliveryState = {
    webhooks: new Map(),
    deliveries: new Map(),
    attempts: new Map(),
    marks: new Map(),
  };
  return { webhooks: webhookCalls(state, deps.record), deliveries: deliveryCalls(state, deps) };
}

function webhookCalls(
  { webhooks, deliveries }: DeliveryState,
  record: DeliveryDeps['record'],
): Calls<WebhookStore> {
  return {
    list: () => [...webhooks.values()].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1)),
    get: (webhookId) => webhooks.get(webhookId) ?? null,
    create(input) {
      const isFull = webhooks.size >= WEBHOOKS_MAX;
      record(auditOfWebhookCreate(input, isFull ? 'full' : 'ok'));
      if (isFull) return 'full';
      const { webhook, nowMs } = input;
      const row: WebhookRow = {
        ...webhook,
        name: storableText(webhook.name),
        targetUrl: storableText(webhook.targetUrl),
        pausedAtMs: null,
        destination: newDestination,
        createdAtMs: nowMs,
        changedAtMs: nowMs,
        revision: 1,
      };
      webhooks.set(row.webhookId, row);
      return row;
    },
    change(input) {
      const before = webhooks.get(input.webhookId);
      if (before === undefined) return 'not_found';
      if (before.revision !== input.revision) return 'conflict';
      const { nowMs: changedAtMs, patch } = input;
      const next = { ...before, ...patch, changedAtMs, revision: before.revision + 1 };
      const after: WebhookRow = {
        ...next,
        name: storableText(next.name),
        targetUrl: storableText(next.targetUrl),
      };
      webhooks.set(after.webhookId, after);
      record(auditOfWebhookChange(input, before, after));
      return after;
    },
    remove(input) {
      const before = webhooks.get(input.webhookId);
      if (before === undefined) return false;
      webhooks.delete(input.webhookId);
      for (const [id, row] of deliveries) {
        if (row.webhookId === input.webhookId) deliveries.delete(id);
      }
      record(auditOfWebhookRemoval(input, before));
      return true;
    },
    reseal({ webhookId, was, sealed }) {
      const row = webhooks.get(webhookId);
      if (row === undefined || row.secretSealed !== was.secretSealed) return false;
      if (row.nextSecretSealed !== was.nextSecretSealed) return false;
      webhooks.set(webhookId, { ...row, ...sealed });
      return true;
    },
  };
}
