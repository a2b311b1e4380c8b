// The moves of deliveries in the reference store, fenced as the real ones are. decision: D60, D101
import { DELIVERY_ATTEMPTS_KEPT_MAX } from '../../../machines/limits.ts';
import type {
  AttemptRow,
  DeliveryRow,
  DeliveryStore,
} from '../../ports/delivery/delivery-store.ts';
import { after, takenOf } from '../../ports/delivery/fold.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import { carriedBy, type DeliveryDeps, type DeliveryState, type Lease } from './delivery-state.ts';

type Moves = Calls<DeliveryStore>;

/** The calls on a state. */
export function moveCalls(
  state: DeliveryState,
  { fence }: DeliveryDeps,
): Pick<Moves, 'reclaim' | 'claim' | 'settle' | 'sweep'> {
  return {
    reclaim(input) {
      fence(input.epoch);
      return reclaim(state, input);
    },
    claim(input) {
      fence(input.epoch);
      return claim(state, input);
    },
    settle(input) {
      fence(input.epoch);
      settle(state, input);
    },
    sweep(input) {
      fence(input.epoch);
      return sweep(state, input);
    },
  };
}

function put({ deliveries }: DeliveryState, row: DeliveryRow, lease: Lease | null = null): void {
  deliveries.set(row.deliveryId, { ...row, lease: row.state === 'sending' ? lease : null });
}

function note({ attempts: log }: DeliveryState, deliveryId: string, attempt: AttemptRow): void {
  const own = log.get(deliveryId) ?? [];
  if (own.some(({ number }) => number === attempt.number)) return;
  const kept = [...own, attempt].sort((a, b) => a.number - b.number);
  const newest = Math.max(...kept.map(({ number }) => number));
  log.set(
    deliveryId,
    kept.filter(({ number }) => number > newest - DELIVERY_ATTEMPTS_KEPT_MAX),
  );
}

function reclaim(
  state: DeliveryState,
  { epoch, nowMs: atMs }: Parameters<Moves['reclaim']>[0],
): number {
  const lost = [...state.deliveries.values()].filter(
    ({ state: at, lease }) => at === 'sending' && (lease?.epoch !== epoch || lease.untilMs <= atMs),
  );
  for (const { lease: _lease, ...row } of lost) {
    note(state, row.deliveryId, {
      ...{ number: row.attempts, atMs, durationMs: 0, outcome: 'interrupted', status: null },
      ...{ detail: 'the Console that tried is gone', request: '', response: '' },
    });
    put(state, after(row, { type: 'attempt.lost', atMs }));
  }
  return lost.length;
}

function claim(
  state: DeliveryState,
  { epoch, nowMs, leaseUntilMs, quotas, limit }: Parameters<Moves['claim']>[0],
): ReturnType<Moves['claim']> {
  const { deliveries } = state;
  const waiting = [...deliveries.values()]
    .filter(({ state: at }) => at === 'waiting')
    .map(({ lease: _lease, ...row }): DeliveryRow => row);
  const due = [...quotas]
    .flatMap(([id, quota]) =>
      waiting
        .filter(({ webhookId, dueAtMs }) => webhookId === id && dueAtMs <= nowMs)
        .sort((a, b) => a.dueAtMs - b.dueAtMs || (a.deliveryId < b.deliveryId ? -1 : 1))
        .slice(0, quota)
        .map((row, place) => ({ row, place })),
    )
    .sort((a, b) => a.place - b.place || a.row.dueAtMs - b.row.dueAtMs)
    .slice(0, limit)
    .map(({ row }) => row);
  const keyOf = (row: DeliveryRow): string =>
    `${row.webhookId} ${storableText(row.alert.dedupKey)}`;
  const keys = new Set(due.map(keyOf));
  const taken = takenOf(
    waiting.filter((row) => keys.has(keyOf(row))),
    nowMs,
  );
  for (const { carrier, folded } of taken) {
    put(state, carrier, { epoch, untilMs: leaseUntilMs });
    const gone = new Set(folded.map(({ deliveryId }) => deliveryId));
    for (const row of folded) put(state, row);
    for (const row of deliveries.values()) {
      if (row.foldedInto === null || !gone.has(row.foldedInto)) continue;
      put(state, { ...row, foldedInto: carrier.deliveryId });
    }
  }
  return taken.map(({ carrier }) => ({
    ...carrier,
    folded: carriedBy(deliveries, carrier.deliveryId).length,
  }));
}

function settle(
  state: DeliveryState,
  { epoch, nowMs, attempts, destinations, recovered }: Parameters<Moves['settle']>[0],
): void {
  const { deliveries, webhooks } = state;
  for (const { deliveryId, standing, attempt } of attempts) {
    const row = deliveries.get(deliveryId);
    if (row?.state !== 'sending' || row.lease?.epoch !== epoch) continue;
    if (row.attempts !== standing.attempts) continue;
    put(state, { ...row, ...standing });
    const { detail, request, response } = attempt;
    note(state, deliveryId, {
      ...attempt,
      detail: storableText(detail),
      request: storableText(request),
      response: storableText(response),
    });
  }
  for (const { webhookId, destination } of destinations) {
    const row = webhooks.get(webhookId);
    if (row !== undefined) webhooks.set(webhookId, { ...row, destination });
  }
  for (const { lease: _lease, ...row } of deliveries.values()) {
    if (row.state !== 'waiting' || !recovered.includes(row.webhookId)) continue;
    put(state, after(row, { type: 'destination.recovered', atMs: nowMs }));
  }
}

function sweep(
  state: DeliveryState,
  { nowMs: atMs, waitingMax, endedBeforeMs, limit }: Parameters<Moves['sweep']>[0],
): ReturnType<Moves['sweep']> {
  const { webhooks, deliveries, attempts } = state;
  const byId = (a: DeliveryRow, b: DeliveryRow) => (a.deliveryId < b.deliveryId ? -1 : 1);
  const dropped = [...webhooks.keys()]
    .flatMap((id) =>
      [...deliveries.values()]
        .filter(({ webhookId, state: at }) => webhookId === id && at === 'waiting')
        .sort((a, b) => byId(b, a))
        .slice(waitingMax),
    )
    .sort(byId)
    .slice(0, limit);
  for (const { lease: _lease, ...row } of dropped) {
    put(state, after(row, { type: 'delivery.dropped', atMs }));
  }
  const old = [...deliveries.values()]
    .filter(({ endedAtMs }) => endedAtMs !== null && endedAtMs < endedBeforeMs)
    .slice(0, limit);
  for (const { deliveryId } of old) {
    deliveries.delete(deliveryId);
    attempts.delete(deliveryId);
  }
  return { dropped: dropped.length, removed: old.length };
}
