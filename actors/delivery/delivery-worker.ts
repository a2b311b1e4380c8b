// Sends what is due: one Console for all, in short runs. A run writes what came of earlier attempts, takes what is due and
// begins to send it; the attempts go on after the run and wake the next one. So a receiver that hangs holds nobody else up,
// and many results are written together. decision: D60, D101, D102

import { nameOfOutcome, verdictOf } from '../../machines/console/delivery/delivery.rules.ts';
import type {
  BreakerState,
  DestinationEvent,
} from '../../machines/console/delivery/destination.machine.ts';
import {
  fullBucket,
  quotaOf,
  type RateBucket,
  refilled,
} from '../../machines/console/delivery/destination.rules.ts';
import {
  type DestinationStanding,
  deliveryAfter,
  destinationAfter,
} from '../../machines/console/delivery/standing.ts';
import { findingOf } from '../../machines/console/detection/finding.ts';
import {
  DELIVERIES_CLAIMED_MAX,
  DELIVERIES_RUNNING_MAX,
  DELIVERY_LEASE_MS,
  DELIVERY_LOOK_MS,
} from '../../machines/limits.ts';
import type {
  ClaimedDelivery,
  DeliveryStore,
  SettledAttempt,
} from '../../storage/ports/delivery/delivery-store.ts';
import type { WebhookRow, WebhookStore } from '../../storage/ports/delivery/webhook-store.ts';
import type { Alerts } from '../detection/alerts.ts';
import type { DesignatedLoop, LoopResult } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';
import type { DeadLetter, DeadLetters } from './dead-letters.ts';
import type { Attempted, WebhookSender } from './webhook-sender.ts';

export const DELIVERY_LOOP = 'alert-notification-delivery';

export type DeliveryWorkerDeps = {
  readonly webhooks: Pick<WebhookStore, 'list'>;
  readonly deliveries: Pick<DeliveryStore, 'reclaim' | 'claim' | 'settle'>;
  readonly sender: WebhookSender;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly dead: DeadLetters;
  readonly chance: Pick<Chance, 'randomBytes'>;
  readonly logger: Logger;
  readonly now: () => number;
  /** Something came back: the next run need not wait. */
  readonly onDone: () => void;
};
export type DeliveryWorker = {
  readonly loop: DesignatedLoop;
  /** Attempts since the start, by what came of them. */
  counts(): ReadonlyMap<string, number>;
  running(): number;
  /** The breakers of all webhooks, as they were last seen here. */
  breakers(): ReadonlyMap<string, BreakerState>;
  /** Ends every attempt that is under way; what it was about is due again later. */
  close(): void;
};

type Done = {
  readonly delivery: ClaimedDelivery;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly attempted: Attempted;
};
type Tenure = {
  readonly epoch: number;
  readonly abort: AbortController;
  readonly running: Map<string, string>;
  readonly buckets: Map<string, RateBucket>;
  done: Done[];
  reclaimedAtMs: number;
};

/** Makes the worker; it sends nothing before its loop runs. */
export function createDeliveryWorker(deps: DeliveryWorkerDeps): DeliveryWorker {
  const counts = new Map<string, number>();
  let breakers: ReadonlyMap<string, BreakerState> = new Map();
  let tenure: Tenure | null = null;

  function tenureOf(epoch: number): Tenure {
    if (tenure?.epoch === epoch) return tenure;
    tenure?.abort.abort();
    const begun: Tenure = {
      ...{ epoch, abort: new AbortController(), running: new Map(), buckets: new Map() },
      ...{ done: [], reclaimedAtMs: Number.NEGATIVE_INFINITY },
    };
    tenure = begun;
    return begun;
  }

  async function run({ epoch }: { readonly epoch: number }): Promise<LoopResult> {
    const own = tenureOf(epoch);
    const webhooks = await settle(deps, own, await deps.webhooks.list());
    breakers = new Map([...webhooks].map(([id, row]) => [id, row.destination.state]));
    const nowMs = deps.now();
    if (Math.abs(nowMs - own.reclaimedAtMs) >= DELIVERY_LEASE_MS) {
      await deps.deliveries.reclaim({ epoch, nowMs });
      own.reclaimedAtMs = nowMs;
    }
    const quotas = quotasOf(own, webhooks, nowMs);
    const limit = Math.min(DELIVERIES_CLAIMED_MAX, DELIVERIES_RUNNING_MAX - own.running.size);
    if (quotas.size > 0 && limit > 0) {
      const leaseUntilMs = nowMs + DELIVERY_LEASE_MS;
      const claimed = await deps.deliveries.claim({ epoch, nowMs, leaseUntilMs, quotas, limit });
      for (const delivery of claimed) begin(own, delivery, webhooks.get(delivery.webhookId));
    }
    return { hasMore: own.done.length > 0 };
  }

  function begin(own: Tenure, delivery: ClaimedDelivery, webhook: WebhookRow | undefined): void {
    if (webhook === undefined) return;
    const { deliveryId, webhookId, alert, folded } = delivery;
    own.running.set(deliveryId, webhookId);
    const bucket = own.buckets.get(webhookId);
    if (bucket !== undefined) {
      own.buckets.set(webhookId, { ...bucket, tokens: Math.max(0, bucket.tokens - 1) });
    }
    const startedAtMs = deps.now();
    const { signal } = own.abort;
    void deps.sender.send({ webhook, deliveryId, alert, folded, signal }).then((attempted) => {
      own.running.delete(deliveryId);
      // Told to end: whoever comes next tries again.
      if (signal.aborted) return;
      const name = nameOfOutcome(attempted.outcome);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      own.done.push({ delivery, startedAtMs, endedAtMs: deps.now(), attempted });
      deps.onDone();
    });
  }

  return {
    loop: { name: DELIVERY_LOOP, runsOn: 'designated', everyMs: DELIVERY_LOOK_MS, run },
    counts: () => counts,
    running: () => tenure?.running.size ?? 0,
    breakers: () => breakers,
    close() {
      tenure?.abort.abort();
      tenure = null;
    },
  };
}

/** Writes what came back; the webhooks as they are then, by id. What could not be written is kept for the next run. */
async function settle(
  deps: DeliveryWorkerDeps,
  own: Tenure,
  rows: readonly WebhookRow[],
): Promise<Map<string, WebhookRow>> {
  const webhooks = new Map(rows.map((row) => [row.webhookId, row]));
  // More may come back while these are written.
  const done = [...own.done];
  if (done.length === 0) return webhooks;
  const nowMs = deps.now();
  const moved = new Map<string, DestinationStanding>();
  const attempts: SettledAttempt[] = [];
  for (const one of done) {
    const { delivery, attempted, endedAtMs: atMs } = one;
    const { outcome } = attempted;
    const standing = deliveryAfter(standingOf(delivery), {
      ...{ type: 'attempt.ended', atMs, outcome },
      chance: chanceOf(deps.chance),
    });
    attempts.push({ deliveryId: delivery.deliveryId, standing, attempt: attemptOf(one) });
    const webhook = webhooks.get(delivery.webhookId);
    if (webhook === undefined) continue;
    const before = moved.get(webhook.webhookId) ?? webhook.destination;
    // It was tried because it was due to be.
    const tried = destinationAfter(before, { type: 'probe.due', atMs });
    moved.set(webhook.webhookId, destinationAfter(tried, eventOf(attempted, atMs)));
  }
  const destinations = [...moved].map(([webhookId, destination]) => ({ webhookId, destination }));
  const recovered = destinations
    .filter(({ webhookId, destination }) => {
      const before = webhooks.get(webhookId)?.destination.state;
      return destination.state === 'closed' && before !== 'closed';
    })
    .map(({ webhookId }) => webhookId);
  await tellPeople(deps, own.epoch, deadOf(attempts, done, webhooks));
  await deps.deliveries.settle({ epoch: own.epoch, nowMs, attempts, destinations, recovered });
  own.done = own.done.filter((one) => !done.includes(one));
  tellLog(deps.logger, attempts, done, webhooks, moved);
  for (const [webhookId, destination] of moved) {
    const row = webhooks.get(webhookId);
    if (row !== undefined) webhooks.set(webhookId, { ...row, destination });
  }
  return webhooks;
}

function eventOf(attempted: Attempted, atMs: number): DestinationEvent {
  const verdict = verdictOf(attempted.outcome);
  if (verdict === 'accepted') return { type: 'attempt.accepted', atMs };
  const failure = nameOfFailure(attempted);
  return { type: verdict === 'again' ? 'attempt.failed' : 'attempt.refused', atMs, failure };
}

function deadOf(
  attempts: readonly SettledAttempt[],
  done: readonly Done[],
  webhooks: ReadonlyMap<string, WebhookRow>,
): readonly DeadLetter[] {
  const delivered = new Map(done.map(({ delivery }) => [delivery.deliveryId, delivery]));
  return attempts.flatMap(({ deliveryId, standing: { state, reason } }) => {
    const delivery = delivered.get(deliveryId);
    const webhook = webhooks.get(delivery?.webhookId ?? '');
    if (state !== 'dead' || delivery === undefined || webhook === undefined) return [];
    return [{ webhook, alert: delivery.alert, reason: reason ?? '' }];
  });
}

// Before the row says dead: a crash in between tells it again.
async function tellPeople(
  { dead, alerts, now }: Pick<DeliveryWorkerDeps, 'dead' | 'alerts' | 'now'>,
  epoch: number,
  letters: readonly DeadLetter[],
): Promise<void> {
  const news = dead.alertsOf(letters, now());
  if (news.length === 0) return;
  const findings = news.map((alert) =>
    findingOf(alert, `${alert.ruleId}/${alert.occurredAtMs}`, { isToldAgain: true }),
  );
  await alerts.raise(findings, epoch);
  dead.told(news, now());
}

function quotasOf(
  own: Tenure,
  webhooks: ReadonlyMap<string, WebhookRow>,
  nowMs: number,
): ReadonlyMap<string, number> {
  const running = new Map<string, number>();
  for (const id of own.running.values()) running.set(id, (running.get(id) ?? 0) + 1);
  const quotas = new Map<string, number>();
  for (const { webhookId, pausedAtMs, destination, options } of webhooks.values()) {
    const { ratePerMinute } = options;
    const known = own.buckets.get(webhookId) ?? fullBucket(ratePerMinute, nowMs);
    const bucket = refilled(known, ratePerMinute, nowMs);
    own.buckets.set(webhookId, bucket);
    const standing = destinationAfter(destination, { type: 'probe.due', atMs: nowMs });
    const quota = quotaOf({
      isPaused: pausedAtMs !== null,
      breaker: standing.state,
      running: running.get(webhookId) ?? 0,
      tokens: bucket.tokens,
    });
    if (quota > 0) quotas.set(webhookId, quota);
  }
  return quotas;
}

function standingOf(delivery: ClaimedDelivery) {
  const { state, dueAtMs, attempts, giveUpAtMs, endedAtMs, reason, foldedInto } = delivery;
  return { state, dueAtMs, attempts, giveUpAtMs, endedAtMs, reason, foldedInto };
}

function attemptOf({ delivery, startedAtMs, attempted }: Done) {
  const { outcome, status, detail, durationMs, request, response } = attempted;
  return {
    ...{ number: delivery.attempts, atMs: startedAtMs, durationMs },
    ...{ outcome: nameOfOutcome(outcome), status, detail, request, response },
  };
}

function nameOfFailure({ outcome, status }: Attempted): string {
  return outcome.kind === 'failed' ? outcome.failure : `answered ${status}`;
}

function chanceOf(chance: Pick<Chance, 'randomBytes'>): number {
  return chance.randomBytes(2).readUInt16BE(0) / 65_536;
}

function tellLog(
  logger: Logger,
  attempts: readonly SettledAttempt[],
  done: readonly Done[],
  webhooks: ReadonlyMap<string, WebhookRow>,
  moved: ReadonlyMap<string, DestinationStanding>,
): void {
  const webhookOf = new Map(done.map(({ delivery }) => [delivery.deliveryId, delivery.webhookId]));
  for (const { deliveryId, standing } of attempts) {
    if (standing.state !== 'dead') continue;
    const webhookId = webhookOf.get(deliveryId);
    logger.error({ deliveryId, webhookId, reason: standing.reason }, 'a delivery is dead');
  }
  for (const [webhookId, { state, lastFailure }] of moved) {
    const before = webhooks.get(webhookId)?.destination.state;
    if (state === before) continue;
    if (state === 'closed') logger.info({ webhookId }, 'a webhook takes deliveries again');
    else logger.warn({ webhookId, failure: lastFailure }, 'a webhook fails; it is left alone');
  }
}
