// What is known of webhooks from outside the product, for the checkers of deliveries: how each was set up, what was found,
// and what came to receivers, as they read it.
import { isAtLeast } from '../../../machines/console/delivery/alert.ts';
import type { ObservationOf } from '../world/observation.ts';
import type { WebhookSeen } from '../world/webhook-observation.ts';
import type { FleetView } from './checker.ts';
import { WORD_UNDER_WAY_MS } from './forgetful.ts';

export type ToldWebhook = ObservationOf<'webhook.told'>;
export type RaisedAlert = ObservationOf<'alert.raised'>;
export type Taken = {
  /** The largest number that any of its requests told: itself and what it carries. */
  readonly count: number;
  /** Null where the format has no place for it. */
  readonly alert: string | null;
};
export type ReceiverWords = {
  readonly webhooks: ReadonlyMap<string, ToldWebhook>;
  readonly raised: readonly (RaisedAlert & { readonly atMs: number })[];
  /** When each webhook was known to stand. */
  readonly toldAtMs: ReadonlyMap<string, number>;
  /** By the receiver and the delivery's name: what was read and answered with a yes. */
  taken(receiver: string, delivery: string): Taken | undefined;
};

const known = new WeakMap<FleetView, ReceiverWords>();

/** Follows a fleet; the same for all checkers of it. */
export function receiverWordsOf(fleet: FleetView): ReceiverWords {
  const before = known.get(fleet);
  if (before !== undefined) return before;
  const webhooks = new Map<string, ToldWebhook>();
  const toldAtMs = new Map<string, number>();
  let raised: readonly (RaisedAlert & { readonly atMs: number })[] = [];
  /** When PostgreSQL went back last, and to when. */
  let forgot = { atMs: Number.NEGATIVE_INFINITY, sinceMs: Number.NEGATIVE_INFINITY };
  const taken = new Map<string, Taken>();
  const words: ReceiverWords = {
    ...{ webhooks, toldAtMs },
    get raised() {
      return raised;
    },
    taken: (receiver, delivery) => taken.get(`${receiver} ${delivery}`),
  };
  if (fleet.receivers > 0) {
    fleet.world.subscribe((seen, atMs) => {
      if (seen.kind === 'relational.forgot' && seen.sinceMs < atMs) {
        forgot = { atMs, sinceMs: seen.sinceMs };
        raised = raised.filter((one) => one.atMs <= forgot.sinceMs);
      }
      // A word that was under way when PostgreSQL went back may be of something that is gone.
      const isInDoubt = atMs < forgot.atMs + WORD_UNDER_WAY_MS;
      if (seen.kind === 'alert.raised' && !isInDoubt) raised = [...raised, { ...seen, atMs }];
      if (seen.kind === 'webhook.told') {
        webhooks.set(seen.webhook, seen);
        const standsSinceMs = toldAtMs.get(seen.webhook) ?? Number.POSITIVE_INFINITY;
        if (standsSinceMs > forgot.sinceMs) toldAtMs.set(seen.webhook, atMs);
      }
      if (seen.kind !== 'webhook.received' || !isYes(seen.seen)) return;
      const key = `${seen.seen.receiver} ${seen.seen.delivery}`;
      const read = readingOf(seen.seen);
      taken.set(key, { ...read, count: Math.max(read.count, taken.get(key)?.count ?? 0) });
    });
  }
  known.set(fleet, words);
  return words;
}

/** Whether a route wants an alert, by the words of decision D103. */
export function isMeantFor(
  { route }: Pick<ToldWebhook, 'route'>,
  { what, severity, groupIds }: Pick<RaisedAlert, 'what' | 'severity' | 'groupIds'>,
): boolean {
  const isKind = route.kinds.length === 0 || route.kinds.includes(what);
  const isOfGroup =
    route.groupIds.length === 0 || groupIds.some((id) => route.groupIds.includes(id));
  return isKind && isOfGroup && isAtLeast(severity, route.minSeverity);
}

function isYes({ receiver, status }: WebhookSeen): boolean {
  return receiver !== null && status !== null && status >= 200 && status < 300;
}

/** What a receiver reads of the formats that tell an address of the alert or a number. */
function readingOf({ body }: WebhookSeen): Taken {
  const [, alert = null] = /\/alerts\/([0-9a-f-]{36})/.exec(body) ?? [];
  const [, count = '1'] = /"related_event_count":"?(\d+)/.exec(body) ?? [];
  return { alert, count: Number(count) };
}
