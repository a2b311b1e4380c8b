// Every alert reaches every webhook whose route wants it: the receiver took it, or took a delivery that carries it and told
// the number, or it is dead and people were told so, or it still waits for its time. Truth is what was found and durable,
// how each webhook was set up, and what receivers read; of the product only where an alert stands that nobody took.
// Once all is well nothing that is due is left alone. Excuse: where a Console's clock was set, "within the hour before" is a
// distance. invariant: I1, I19; decision: D101, D103, D156
import type { DeliveryRow } from '../../../storage/ports/delivery/delivery-store.ts';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { CheckerKind, FleetView } from './checker.ts';
import { isMeantFor, receiverWordsOf, type ToldWebhook } from './receiver-words.ts';

const EVERYTHING = { limit: Number.MAX_SAFE_INTEGER, before: null } as const;
/** A run of the loop, and what it began. */
const SLACK_MS = 60_000;
/** How long one word about dead deliveries stands for all of a webhook. */
const HOUR_MS = 60 * 60_000;
/** Above any wait for a next try. */
const DUE_WITHIN_MS = 61 * 60_000;

export const alertsArrive: CheckerKind = {
  name: 'alerts-arrive',
  promise:
    'An alert that a route wants is taken, carried by one that is taken, dead and told, or waits.',
  make(fleet, report) {
    const words = receiverWordsOf(fleet);
    let wasSet = false;
    const nowMs = (): number => WORLD_BEGINS_MS + fleet.world.scheduler.now();

    /** Why a delivery accounts for nothing; null when it does. */
    function faultOf(webhook: ToldWebhook, row: DeliveryRow, rows: Rows): string | null {
      if (words.taken(webhook.receiver, row.deliveryId) !== undefined) return null;
      if (row.state === 'delivered') return 'is called delivered, and the receiver never took it';
      if (row.state === 'folded') return faultOfFolded(webhook, row, rows);
      if (row.state === 'dead')
        return isToldDead(fleet, row, wasSet) ? null : 'is dead, and nobody was told';
      return row.dueAtMs > nowMs() + DUE_WITHIN_MS ? 'waits for a time that never comes' : null;
    }

    function faultOfFolded(webhook: ToldWebhook, row: DeliveryRow, rows: Rows): string | null {
      const carrier = rows.get(row.foldedInto ?? '');
      if (carrier === undefined) return 'is carried by nothing';
      const carried = [...rows.values()].filter((one) => one.foldedInto === carrier.deliveryId);
      const taken = words.taken(webhook.receiver, carrier.deliveryId);
      if (taken === undefined) return faultOf(webhook, carrier, rows);
      if (webhook.type !== 'generic' || taken.count > carried.length) return null;
      return `is carried by one of ${carried.length + 1}, and the receiver read ${taken.count}`;
    }

    function judge(webhook: ToldWebhook): void {
      const { webhook: webhookId, receiver } = webhook;
      const all = fleet.stores.relational.deliveries.list({ webhookId, ...EVERYTHING });
      const rows: Rows = new Map(all.map((row) => [row.deliveryId, row]));
      const byAlert = Map.groupBy(all, ({ alert }) => alert.alertId);
      const sinceMs = words.toldAtMs.get(webhookId) ?? 0;
      for (const raised of words.raised) {
        const own = byAlert.get(raised.alert) ?? [];
        if (!isMeantFor(webhook, raised)) {
          if (own.length > 0) report(`${receiver} is sent ${raised.alert}, which it does not want`);
          continue;
        }
        if (raised.atMs < sinceMs) continue;
        const faults = own.map((row) => faultOf(webhook, row, rows));
        if (faults.includes(null) || isUntold(fleet, raised.alert)) continue;
        const why = faults[0] ?? 'was never meant to be sent';
        report(`${raised.alert} for ${receiver} ${why}`);
      }
    }

    return {
      observe(seen) {
        if (seen.kind === 'fault' && seen.fault.startsWith('console.clock')) wasSet = true;
      },
      finish() {
        for (const webhook of words.webhooks.values()) judge(webhook);
      },
    };
  },
};

type Rows = ReadonlyMap<string, DeliveryRow>;

function isUntold(fleet: FleetView, alertId: string): boolean {
  const waiting = fleet.stores.relational.inbox.untold(Number.MAX_SAFE_INTEGER);
  return waiting.some(({ alert }) => alert.alertId === alertId);
}

/** Somebody was told within the hour before it ended, or it is itself such an alert. */
function isToldDead(
  fleet: FleetView,
  { alert, webhookId, endedAtMs }: DeliveryRow,
  wasSet: boolean,
): boolean {
  if (alert.kind === 'destination_failing') return true;
  const told = fleet.stores.relational.inbox.list({ ruleId: webhookId, ...EVERYTHING });
  const laterMs = wasSet ? HOUR_MS : SLACK_MS;
  return told.some((one) => one.alert.occurredAtMs <= (endedAtMs ?? 0) + laterMs);
}

/** What is due and not tried, or being tried for ever. For the healed world. */
export function overdueDeliveries(fleet: FleetView): readonly string[] {
  if (fleet.receivers === 0) return [];
  const nowMs = WORLD_BEGINS_MS + fleet.world.scheduler.now();
  const { deliveries, webhooks } = fleet.stores.relational;
  const missing: string[] = [];
  for (const { webhookId, name, destination } of webhooks.list()) {
    const isLeftAlone = destination.openUntilMs + SLACK_MS > nowMs;
    const of = { webhookId, ...EVERYTHING };
    const sending = deliveries.list({ ...of, state: 'sending' });
    const due = deliveries
      .list({ ...of, state: 'waiting' })
      .filter(({ dueAtMs }) => dueAtMs + SLACK_MS < nowMs);
    if (sending.length > 0) missing.push(`${sending.length} are being sent to ${name}`);
    if (due.length > 0 && !isLeftAlone) missing.push(`${due.length} for ${name} are due`);
  }
  return missing;
}
