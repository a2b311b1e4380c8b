// The live view of the fleet: one @xstate/store, fed by the actors, that holds the latest states of every sensor, which of
// them time alone may change, and the counts by state. Lists, the overview, the live channel and the metrics read it; nobody scans the actors. Health also moves by time
// alone (a trust error ages out), so a sweep looks again at those sensors whose health is not settled.
import { createStore } from '@xstate/store';
import type { SensorSnapshot } from '../../machines/console/fleet/sensor.machine.ts';
import { type HealthReason, isSameBecause } from '../../machines/trust/health.rules.ts';
import type { TrustHealth, WireTrustState } from '../../machines/wire/heartbeat.ts';
import { isSameValue } from '../runtime/state-value.ts';
import { healthOf, regionsOfSensor, wireTrustStateOf } from './sensor.actor.ts';

export type FleetEntry = {
  readonly sensor_id: string;
  readonly trust_state: WireTrustState;
  readonly trust_health: TrustHealth;
  readonly because: readonly HealthReason[];
  readonly freshness: string;
  readonly stream: string;
  readonly engine: string;
  /** When the engine's state was first seen here. */
  readonly engine_since_ms: number;
  readonly policy: string;
  readonly containment: string;
  /** Cut off by the node's own word. */
  readonly is_contained: boolean;
  readonly last_heartbeat_at_ms: number | null;
};

export type FleetCounts = Readonly<Record<TrustHealth, number>> & {
  readonly total: number;
  readonly streams: number;
};

export type FleetLiveView = {
  observe(id: string, snapshot: SensorSnapshot): void;
  get(id: string): FleetEntry | undefined;
  counts(): FleetCounts;
  /** Called for every changed entry, at once. */
  subscribe(listener: (entry: FleetEntry) => void): () => void;
  /** Looks again at sensors whose health ages by time; call it every second or so. */
  sweep(): void;
};

const NO_COUNTS: FleetCounts = {
  healthy: 0,
  renewal_recommended: 0,
  renewal_due: 0,
  degraded: 0,
  revoked: 0,
  total: 0,
  streams: 0,
};

/** What the store holds. Its maps are changed in place: a copy of 100,000 entries for each heartbeat would take milliseconds. */
type Fleet = {
  readonly entries: Map<string, FleetEntry>;
  /** What each entry was made of. */
  readonly snapshots: Map<string, SensorSnapshot>;
  /** Whose health ages by time. */
  readonly unsettled: Set<string>;
  readonly counts: FleetCounts;
};
type Observed = { readonly id: string; readonly snapshot: SensorSnapshot; readonly atMs: number };
type Changed = { readonly entry: FleetEntry };

/** Makes an empty view. `snapshotOf` lets the sweep look at an actor again. */
export function createFleetLiveView(options: {
  readonly now: () => number;
  readonly snapshotOf: (id: string) => SensorSnapshot | undefined;
}): FleetLiveView {
  const store = createStore<Fleet, { observed: Observed }, { changed: Changed }>({
    context: { entries: new Map(), snapshots: new Map(), unsettled: new Set(), counts: NO_COUNTS },
    on: {
      observed(fleet, seen, { emit }) {
        const before = fleet.entries.get(seen.id);
        const entry = keep(fleet, seen);
        if (before !== undefined && isSame(before, entry)) return fleet;
        emit.changed({ entry });
        return { ...fleet, counts: recount(fleet.counts, before, entry) };
      },
    },
  });
  const fleet = () => store.getSnapshot().context;
  const observe = (id: string, snapshot: SensorSnapshot): void =>
    store.trigger.observed({ id, snapshot, atMs: options.now() });

  return {
    observe,
    get: (id) => fleet().entries.get(id),
    counts: () => fleet().counts,
    subscribe(listener) {
      const { unsubscribe } = store.on('changed', ({ entry }) => listener(entry));
      return unsubscribe;
    },
    sweep() {
      for (const id of fleet().unsettled) {
        const snapshot = options.snapshotOf(id);
        if (snapshot !== undefined) observe(id, snapshot);
      }
    },
  };
}

/** Takes what was seen of a sensor into its entry, which is answered. */
function keep({ entries, snapshots, unsettled }: Fleet, { id, snapshot, atMs }: Observed) {
  const [before, last] = [entries.get(id), snapshots.get(id)];
  // What is not settled is looked at again whatever came: its health moves though nothing else does.
  const isSettled = before !== undefined && last !== undefined && !unsettled.has(id);
  const isBeat = isSettled && onlyBeat(before, last, snapshot);
  const entry = isBeat
    ? { ...before, last_heartbeat_at_ms: snapshot.context.lastHeartbeatAtMs }
    : fleetEntryAt(snapshot, atMs, before);
  entries.set(id, entry);
  snapshots.set(id, snapshot);
  if (isBeat) return entry;
  if (hasAgingFacts(snapshot, entry)) unsettled.add(id);
  else unsettled.delete(id);
  return entry;
}

/** A sensor as lists show it at an instant; `before` is how they showed it until then. */
export function fleetEntryAt(
  snapshot: SensorSnapshot,
  nowMs: number,
  before: FleetEntry | undefined,
): FleetEntry {
  const { health, because } = healthOf(snapshot, nowMs);
  const regions = regionsOfSensor(snapshot);
  return {
    sensor_id: snapshot.context.sensorId,
    trust_state: wireTrustStateOf(snapshot),
    trust_health: health,
    because,
    freshness: regions.freshness,
    stream: regions.stream,
    engine: regions.engine,
    engine_since_ms: before?.engine === regions.engine ? before.engine_since_ms : nowMs,
    policy: regions.policy,
    containment: regions.containment,
    is_contained: snapshot.context.containment.isContained,
    last_heartbeat_at_ms: snapshot.context.lastHeartbeatAtMs,
  };
}

/**
 * Whether a settled sensor only gave one more sign of life: nothing that health or the regions are made of moved. This
 * is every ordinary heartbeat, so it compares and computes nothing.
 */
function onlyBeat(before: FleetEntry, last: SensorSnapshot, next: SensorSnapshot): boolean {
  const [a, b] = [last.context, next.context];
  return (
    isSameValue(last.value, next.value) &&
    before.because.length === 0 &&
    before.freshness !== 'stale' &&
    b.lastTrustErrorAtMs === null &&
    b.lastConnectionErrorAtMs === null &&
    a.lastTrustErrorAtMs === null &&
    a.lastConnectionErrorAtMs === null &&
    a.reportedTrustState === b.reportedTrustState &&
    a.notAfterMs === b.notAfterMs &&
    a.revokedAtMs === b.revokedAtMs
  );
}

// Expiry moves the machine itself; reported errors age without a timer, and the timers of staleness and of the renewal
// windows may be a tick ahead of the wall clock that health is judged by.
function hasAgingFacts(snapshot: SensorSnapshot, shown: FleetEntry): boolean {
  const { lastTrustErrorAtMs, lastConnectionErrorAtMs } = snapshot.context;
  const { trust } = regionsOfSensor(snapshot);
  return (
    (trust === 'renewal_recommended' && shown.trust_health !== 'renewal_recommended') ||
    lastTrustErrorAtMs !== null ||
    lastConnectionErrorAtMs !== null ||
    trust === 'renewal_due' ||
    regionsOfSensor(snapshot).freshness === 'stale'
  );
}

// A heartbeat alone moves only the time of the last one; listeners hear of states.
function isSame(a: FleetEntry, b: FleetEntry): boolean {
  return (
    a.trust_health === b.trust_health &&
    a.trust_state === b.trust_state &&
    a.freshness === b.freshness &&
    a.stream === b.stream &&
    a.engine === b.engine &&
    a.policy === b.policy &&
    a.containment === b.containment &&
    a.is_contained === b.is_contained &&
    isSameBecause(a.because, b.because)
  );
}

function recount(counts: FleetCounts, from: FleetEntry | undefined, to: FleetEntry): FleetCounts {
  const next = { ...counts };
  if (from === undefined) next.total += 1;
  else {
    next[from.trust_health] -= 1;
    if (from.stream === 'open') next.streams -= 1;
  }
  next[to.trust_health] += 1;
  if (to.stream === 'open') next.streams += 1;
  return next;
}
