// What people are told of deliveries that are dead: which webhook, why, and how to send them again. Once an hour for each
// webhook, for one that refuses everything would bury the rest; and never of such an alert itself. decision: D156
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { DEAD_LETTERS_TELL_MS } from '../../machines/limits.ts';
import type { WebhookRow } from '../../storage/ports/delivery/webhook-store.ts';
import type { Chance } from '../trust/chance.ts';

export type DeadLetter = {
  readonly webhook: Pick<WebhookRow, 'webhookId' | 'name'>;
  readonly alert: Pick<Alert, 'kind' | 'headline'>;
  readonly reason: string;
};
export type DeadLetters = {
  /** The alerts that these mean now. Told again until `told` is called. */
  alertsOf(dead: readonly DeadLetter[], nowMs: number): readonly Alert[];
  told(alerts: readonly Alert[], nowMs: number): void;
};

/** Makes the memory of one Console; a new one tells anew. */
export function createDeadLetters(chance: Pick<Chance, 'newId'>): DeadLetters {
  const toldAtMs = new Map<string, number>();
  return {
    alertsOf(dead, nowMs) {
      const news = new Map<string, DeadLetter>();
      for (const one of dead) {
        const { webhookId } = one.webhook;
        const isFresh =
          Math.abs(nowMs - (toldAtMs.get(webhookId) ?? -Infinity)) < DEAD_LETTERS_TELL_MS;
        if (isFresh || one.alert.kind === 'destination_failing') continue;
        news.set(webhookId, one);
      }
      return [...news.values()].map((one) => alertOf(one, chance.newId(), nowMs));
    },
    told(alerts, nowMs) {
      for (const { ruleId } of alerts) toldAtMs.set(ruleId, nowMs);
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  refused: 'The receiver refused it for good.',
  tried_too_long: 'It was tried for 24 hours.',
  queue_full: 'Too many others waited.',
};

function alertOf({ webhook, alert, reason }: DeadLetter, alertId: string, nowMs: number): Alert {
  const { webhookId, name } = webhook;
  return {
    ...OF_FLEET,
    ...{ alertId, kind: 'destination_failing', severity: 'high', ruleId: webhookId },
    headline: `Deliveries to ${name} are dead`,
    detail: `"${alert.headline}" was not delivered. ${REASONS[reason] ?? reason} Mend the receiver, then send the dead ones again.`,
    ...{ occurredAtMs: nowMs, source: 'system', dedupKey: `webhook/${webhookId}` },
  };
}
