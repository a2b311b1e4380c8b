// Forwards stored events: one Console for all, in short runs. A run writes what came of batches that ended, then begins the
// next batch of every destination that may have one; batches go on after the run and wake the next one. A page is read only
// before the horizon, so nothing that a destination is past appears behind it. decision: D60, D152, D153; invariant: I10
import { findingOf } from '../../machines/console/detection/finding.ts';
import type { SiemEvent } from '../../machines/console/siem/siem-destination.machine.ts';
import type { SiemCursor } from '../../machines/console/siem/siem-destination.rules.ts';
import {
  eventsAllowed,
  type SiemStanding,
  siemAfter,
} from '../../machines/console/siem/siem-standing.ts';
import type { Condition } from '../../machines/detection/condition.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { SIEM_LOOK_MS, SIEM_WINDOW_MS } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { SiemMove, SiemRow, SiemStore } from '../../storage/ports/siem/siem-store.ts';
import type { SinkFloors } from '../../storage/ports/siem/sink-floors.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { Alerts } from '../detection/alerts.ts';
import type { DesignatedLoop, LoopResult } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';
import { alertOfSiem, siemAlertKey } from './siem-alerts.ts';
import type { SiemSender, SiemSent } from './siem-sender.ts';

export const SIEM_LOOP = 'siem-forwarding';

export type SiemForwarderDeps = {
  readonly siem: Pick<SiemStore, 'list' | 'move'>;
  readonly floors: Pick<SinkFloors, 'horizon'>;
  readonly events: Pick<EventStore, 'receivedAfter'>;
  readonly sender: SiemSender;
  readonly alerts: Pick<Alerts, 'raise' | 'pass'>;
  readonly chance: Pick<Chance, 'randomBytes' | 'newId'>;
  readonly logger: Logger;
  readonly now: () => number;
  /** A batch ended: the next run need not wait. */
  readonly onDone: () => void;
};
export type SiemSeen = Pick<SiemRow, 'destinationId' | 'standing'>;
export type SiemForwarder = {
  readonly loop: DesignatedLoop;
  /** The destinations as they were last seen here. */
  seen(): readonly SiemSeen[];
  /** Ends every batch that is under way; it is sent again later. */
  close(): void;
};
type Done = { readonly destinationId: string; readonly event: SiemEvent };
type Tenure = {
  readonly epoch: number;
  readonly abort: AbortController;
  readonly underWay: Set<string>;
  /** Destinations that took a batch since they last failed: what was told of them is over. */
  readonly well: Set<string>;
  done: Done[];
};

/** Makes the forwarder; it sends nothing before its loop runs. */
export function createSiemForwarder(deps: SiemForwarderDeps): SiemForwarder {
  let tenure: Tenure | null = null;
  let seen: readonly SiemSeen[] = [];

  function tenureOf(epoch: number): Tenure {
    if (tenure?.epoch === epoch) return tenure;
    tenure?.abort.abort();
    tenure = {
      epoch,
      abort: new AbortController(),
      underWay: new Set(),
      well: new Set(),
      done: [],
    };
    return tenure;
  }

  async function run({ epoch }: { readonly epoch: number }): Promise<LoopResult> {
    const own = tenureOf(epoch);
    await settle(deps, own);
    const rows = await deps.siem.list();
    seen = rows;
    const nowMs = deps.now();
    const ready = rows.filter(
      ({ destinationId, standing }) =>
        !own.underWay.has(destinationId) && eventsAllowed(standing, nowMs) > 0,
    );
    if (ready.length === 0) return { hasMore: own.done.length > 0 };
    const horizonMs = await deps.floors.horizon({ epoch, nowMs });
    for (const row of ready) {
      if (!isDone(row.standing.cursor, horizonMs)) begin(own, row, horizonMs);
    }
    return { hasMore: own.done.length > 0 };
  }

  function begin(own: Tenure, row: SiemRow, horizonMs: number): void {
    const { destinationId } = row;
    own.underWay.add(destinationId);
    void forward(deps, row, horizonMs, own.abort.signal)
      .catch((error: unknown) => failedOf(deps, error))
      .then((event) => {
        // Told to end: whoever comes next sends it again.
        if (own.abort.signal.aborted) return;
        own.done.push({ destinationId, event });
        deps.onDone();
      });
  }

  return {
    loop: { name: SIEM_LOOP, runsOn: 'designated', everyMs: SIEM_LOOK_MS, run },
    seen: () => seen,
    close() {
      tenure?.abort.abort();
      tenure = null;
    },
  };
}

/** Reads a page, sends as much of it as fits, and says what that means. */
async function forward(
  deps: SiemForwarderDeps,
  row: SiemRow,
  horizonMs: number,
  signal: AbortSignal,
): Promise<SiemEvent> {
  const from = row.standing.cursor;
  const limit = eventsAllowed(row.standing, deps.now());
  // A window bounds what a filter that matches little has to read at once.
  const beforeMs = Math.min(horizonMs, from.receivedAtMs + SIEM_WINDOW_MS);
  const condition = conditionOf(row.filter);
  const events = await deps.events.receivedAfter({
    after: from,
    beforeMs,
    condition,
    limit,
    signal,
  });
  if (events.length === 0) {
    return { type: 'events.none', from, to: { receivedAtMs: beforeMs - 1, eventId: LAST_ID } };
  }
  const sent = await deps.sender.send({ row, events, signal });
  return eventOf(deps, sent, { from, events, isWhole: events.length < limit, beforeMs });
}

/** Above every id: the millisecond is done with. */
const LAST_ID = 'g';

/** Nothing is left before the horizon: asking again would only wake the next run, which would ask again. */
function isDone({ receivedAtMs, eventId }: SiemCursor, horizonMs: number): boolean {
  return receivedAtMs >= horizonMs || (receivedAtMs === horizonMs - 1 && eventId === LAST_ID);
}

function eventOf(
  deps: SiemForwarderDeps,
  sent: SiemSent,
  page: {
    readonly from: SiemCursor;
    readonly events: readonly StoredEvent[];
    readonly isWhole: boolean;
    readonly beforeMs: number;
  },
): SiemEvent {
  const atMs = deps.now();
  const { outcome, events, detail: failure } = sent;
  const isAll = page.isWhole && events === page.events.length;
  const to = isAll
    ? { receivedAtMs: page.beforeMs - 1, eventId: LAST_ID }
    : placeOf(page.events[events - 1]);
  switch (outcome.kind) {
    case 'accepted':
      return {
        type: 'batch.accepted',
        atMs,
        events,
        refused: outcome.refused,
        from: page.from,
        to,
      };
    case 'refused': {
      const one = events <= 1 ? placeOf(page.events[0]) : page.from;
      return { type: 'batch.refused', atMs, events, failure, from: page.from, to: one };
    }
    case 'unauthorized':
      return { type: 'credentials.refused', atMs, failure };
    case 'again':
      return { type: 'batch.failed', atMs, failure, ...outcome, chance: chanceOf(deps.chance) };
    default:
      return outcome satisfies never;
  }
}

function placeOf(event: StoredEvent | undefined): SiemCursor {
  if (event === undefined) throw new Error('a batch without events');
  return { receivedAtMs: Date.parse(event.received_at), eventId: event.event_id };
}

// The event store is away, or a filter is too much for it: tried again like a receiver that fails.
function failedOf(deps: SiemForwarderDeps, error: unknown): SiemEvent {
  const failure = error instanceof Error ? error.message : String(error);
  const chance = chanceOf(deps.chance);
  return { type: 'batch.failed', atMs: deps.now(), failure, retryAfterMs: null, chance };
}

/** Writes what came of batches, and tells people of a destination that needs them; what fails is kept for the next run. */
async function settle(deps: SiemForwarderDeps, own: Tenure): Promise<void> {
  // More may come back while these are written.
  const done = [...own.done];
  if (done.length === 0) return;
  const rows = new Map((await deps.siem.list()).map((row) => [row.destinationId, row]));
  const over: string[] = [];
  const findings = done.flatMap(({ destinationId, event }) => {
    const row = rows.get(destinationId);
    if (row === undefined) return [];
    const after = siemAfter(row.standing, event);
    tellLog(deps.logger, row, after);
    if (after.state !== 'forwarding') own.well.delete(destinationId);
    else if (event.type === 'batch.accepted' && !own.well.has(destinationId))
      over.push(destinationId);
    const nowMs = deps.now();
    const alert = alertOfSiem({ row, after, alertId: deps.chance.newId(), nowMs });
    if (alert === null) return [];
    return [findingOf(alert, `${destinationId}/${nowMs}`, { isToldAgain: true })];
  });
  if (findings.length > 0) await deps.alerts.raise(findings, own.epoch);
  const moves: readonly SiemMove[] = done;
  await deps.siem.move({ epoch: own.epoch, moves });
  own.done = own.done.filter((one) => !done.includes(one));
  // Not before: a row that was read meanwhile still stands where the batch began.
  for (const { destinationId } of done) own.underWay.delete(destinationId);
  // Last: should it fail, the next batch that is taken does it.
  await deps.alerts.pass(over.map(siemAlertKey), own.epoch);
  for (const destinationId of over) own.well.add(destinationId);
}

function tellLog(logger: Logger, { destinationId, standing }: SiemRow, after: SiemStanding): void {
  if (after.state === standing.state) return;
  const facts = { destinationId, state: after.state, failure: after.lastFailure };
  if (after.state === 'forwarding') logger.info(facts, 'a SIEM takes events again');
  else logger.warn(facts, 'a SIEM does not take events');
}

function conditionOf(filter: string): Condition | null {
  if (filter === '') return null;
  const parsed = parseCondition(filter);
  if (!parsed.ok) throw new Error(`its filter cannot be read: ${parsed.detail}`);
  return parsed.condition;
}

function chanceOf(chance: Pick<Chance, 'randomBytes'>): number {
  return chance.randomBytes(2).readUInt16BE(0) / 65_536;
}
