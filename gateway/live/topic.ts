// What waits to be sent on one subscription: coalesced, bounded, and honest about what did not fit. decision: D16;
// invariant: I10
import type { FleetEntry } from '../../actors/fleet/fleet-live-view.ts';
import type { FeedMove } from '../../actors/runtime/inspection-feed.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { predicateOf } from '../../machines/detection/predicate.ts';
import { LIVE_ITEMS_PER_PATCH_MAX } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { conditionOfQuery } from '../../storage/ports/telemetry/query-condition.ts';
import { reasonsOf } from '../operator-plane/fleet/health-reasons.ts';
import type { FleetView } from '../operator-plane/plumbing/deps.ts';
import type { LiveEventQuery, TopicSpec } from './subscription.ts';

export type Topic = {
  readonly spec: TopicSpec;
  onFleet(entry: FleetEntry): void;
  onMove(move: FeedMove): void;
  onEvent(event: StoredEvent): void;
  /** What to send now, null when nothing moved; taking it empties it. */
  take(): Readonly<Record<string, unknown>> | null;
};

function entryView({ engine_since_ms: _since, ...entry }: FleetEntry) {
  return { ...entry, because: reasonsOf({ ...entry, engine_since_ms: _since }) };
}

const nothing = (): void => {};

/** Makes the waiting room of one subscription; the first take always gives the present state. */
export function createTopic(spec: TopicSpec, fleet: Pick<FleetView, 'get' | 'counts'>): Topic {
  if (spec.topic === 'fleet') return fleetTopic(spec, fleet);
  if (spec.topic === 'sensor') return sensorTopic(spec, fleet);
  if (spec.topic === 'events') return eventsTopic(spec);
  // What moves a rollout is for everybody who may see policies.
  return movesTopic(spec, (move) => spec.topic === 'actors' || move.kind === 'rollout');
}

function fleetTopic(spec: TopicSpec, fleet: Pick<FleetView, 'counts'>): Topic {
  const changed = new Map<string, FleetEntry>();
  let isDirty = true;
  let isTruncated = false;
  return {
    spec,
    onFleet(entry) {
      isDirty = true;
      if (changed.size < LIVE_ITEMS_PER_PATCH_MAX || changed.has(entry.sensor_id)) {
        changed.set(entry.sensor_id, entry);
      } else isTruncated = true;
    },
    onMove: nothing,
    onEvent: nothing,
    take() {
      if (!isDirty) return null;
      // More sensors changed than fit: the reader should ask for the list again.
      const patch = {
        counts: fleet.counts(),
        sensors: [...changed.values()].map(entryView),
        truncated: isTruncated,
      };
      changed.clear();
      isDirty = false;
      isTruncated = false;
      return patch;
    },
  };
}

function sensorTopic(
  spec: Extract<TopicSpec, { topic: 'sensor' }>,
  fleet: Pick<FleetView, 'get'>,
): Topic {
  const moves = boundedList<FeedMove>();
  let isDirty = true;
  return {
    spec,
    onFleet(entry) {
      if (entry.sensor_id === spec.id) isDirty = true;
    },
    onMove(move) {
      if (move.kind !== 'sensor' || move.id !== spec.id) return;
      isDirty = true;
      moves.add(move);
    },
    onEvent: nothing,
    take() {
      if (!isDirty) return null;
      isDirty = false;
      const { items, dropped } = moves.take();
      const entry = fleet.get(spec.id);
      const sensor = entry === undefined ? null : entryView(entry);
      return { sensor, moves: items.map(moveView), dropped };
    },
  };
}

function movesTopic(spec: TopicSpec, isOf: (move: FeedMove) => boolean): Topic {
  const moves = boundedList<FeedMove>();
  return {
    spec,
    onFleet: nothing,
    onMove(move) {
      if (isOf(move)) moves.add(move);
    },
    onEvent: nothing,
    take() {
      if (!moves.isDirty()) return null;
      const { items, dropped } = moves.take();
      return { moves: items.map(moveView), dropped };
    },
  };
}

function eventsTopic(spec: Extract<TopicSpec, { topic: 'events' }>): Topic {
  const events = boundedList<StoredEvent>();
  const matches = matcherOf(spec.query ?? {});
  return {
    spec,
    onFleet: nothing,
    onMove: nothing,
    onEvent(event) {
      if (matches(event)) events.add(event);
    },
    take() {
      if (!events.isDirty()) return null;
      return events.take();
    },
  };
}

/** A test whether a stored event is what a subscriber asked for, as a search would judge it. decision: D97 */
export function matcherOf(query: LiveEventQuery): (event: StoredEvent) => boolean {
  const { sensor_id, event_kind, severity, binary, text, q } = query;
  const read = q === undefined ? null : parseCondition(q);
  // Whoever subscribes was refused before with a condition that cannot be read.
  if (read?.ok === false) return () => false;
  const condition = conditionOfQuery({
    ...(binary === undefined ? {} : { binaryContains: binary }),
    ...(text === undefined ? {} : { text }),
    ...(read === null ? {} : { condition: read.condition }),
  });
  const holds = condition === null ? () => true : predicateOf(condition);
  return (event) =>
    (sensor_id === undefined || sensor_id === event.sensor_id) &&
    (event_kind?.includes(event.event_kind) ?? true) &&
    (severity?.includes(event.severity) ?? true) &&
    holds(event);
}

// What the actor was after a move is asked for where it is wanted: it would make every patch many times larger.
function moveView({ atMs, after: _after, ...move }: FeedMove) {
  return { ...move, at: new Date(atMs).toISOString() };
}

function boundedList<T>() {
  let items: T[] = [];
  let dropped = 0;
  let isDirty = true;
  return {
    isDirty: () => isDirty,
    add(item: T) {
      isDirty = true;
      items.push(item);
      if (items.length <= LIVE_ITEMS_PER_PATCH_MAX) return;
      items.shift();
      dropped += 1;
    },
    take() {
      const taken = { items, dropped };
      items = [];
      dropped = 0;
      isDirty = false;
      return taken;
    },
  };
}
