// What became durable, as the programs of the simulated nodes know it: which program was started, when, and when it was
// stored. Only the name of an event is the product's; what it stands for is asked from the node. decision: D165
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import { keyOfEvent } from '../world/engine.ts';
import type { FleetView } from './checker.ts';

export type DurableEvent = {
  readonly id: string;
  readonly sensor: string;
  /** Empty: no start of a program. */
  readonly started: string;
  readonly observedMs: number;
  /** By the Console's clock. */
  readonly receivedMs: number;
  /** True time. */
  readonly storedMs: number;
  /** The same by the clock of the Console that is most ahead. */
  readonly storedByFastestMs: number;
  /** In which order it was stored. */
  readonly place: number;
};
export type DurableEvents = {
  /** By id, each as it was stored first; what the store forgot later is among them. */
  readonly all: ReadonlyMap<string, DurableEvent>;
  /** In the order of arrival. */
  arrived(): readonly DurableEvent[];
  /** Every receipt of each: a node sends again what it does not know to be stored. */
  receipts(): readonly DurableEvent[];
  /** Whether the store confirmed something and forgot it. */
  hasForgotten(): boolean;
  /** True time. */
  nowMs(): number;
  /**
   * Whether a Console told a node that it has this. What a store wrote after it was given up, and a node with a full spool
   * then counted as lost, nobody knows to be stored.
   */
  wasAcknowledged(id: string): boolean;
  /** Whether a Console's clock was set: its times say nothing about order. */
  hasJumped(): boolean;
};

const known = new WeakMap<FleetView, DurableEvents>();

/** Follows a fleet; the same for all checkers of it. */
export function durableEventsOf(fleet: FleetView): DurableEvents {
  const before = known.get(fleet);
  if (before !== undefined) return before;
  const { world, nodes, consoles, copies, stores } = fleet;
  const all = new Map<string, DurableEvent>();
  const again: DurableEvent[] = [];
  /** As nodes name them. */
  const keys = new Map<string, string>();
  const acknowledged = new Set<string>();
  const state = { hasForgotten: false, hasJumped: false };

  function note(batches: number): void {
    const storedMs = world.scheduler.now();
    const aheadMs = Math.max(...consoles.map(({ clock }) => clock.errorMs()));
    const storedByFastestMs = storedMs + WORLD_BEGINS_MS + aheadMs;
    const byName = new Map([...nodes, ...copies.ever()].map((node) => [node.name, node]));
    for (const batch of stores.analytics.rows.batches().slice(-batches)) {
      for (const event of batch.events) {
        const first = all.get(event.event_id);
        const arrival = {
          ...{ receivedMs: batch.receivedAtMs, storedMs, storedByFastestMs },
          place: all.size,
        };
        if (first !== undefined) {
          again.push({ ...first, ...arrival });
          continue;
        }
        const key = keyOfEvent(event);
        keys.set(event.event_id, key);
        const node = byName.get(key.slice(0, key.lastIndexOf(':')));
        // What no program did, such as the word that events were lost, has its own time.
        const own = { binary: '', isStart: false, atMs: Date.parse(event.observed_at) };
        const deed = node?.engine.deedOf(key) ?? own;
        all.set(event.event_id, {
          ...{ id: event.event_id, sensor: batch.sensorId, observedMs: deed.atMs },
          started: deed.isStart ? deed.binary : '',
          ...arrival,
        });
      }
    }
  }

  if (fleet.keepers > 0) {
    world.subscribe((seen) => {
      if (seen.kind === 'events.stored') note(seen.batches.length);
      if (seen.kind === 'batch.acknowledged')
        for (const key of seen.batch.events) acknowledged.add(key);
      if (seen.kind === 'events.forgotten') state.hasForgotten = true;
      if (seen.kind === 'fault' && seen.fault.startsWith('console.clock')) state.hasJumped = true;
    });
  }
  const made: DurableEvents = {
    all,
    arrived: () => [...all.values()].sort(byArrival),
    receipts: () => [...all.values(), ...again].sort(byArrival),
    nowMs: () => world.scheduler.now(),
    wasAcknowledged: (id) => acknowledged.has(keys.get(id) ?? ''),
    hasForgotten: () => state.hasForgotten,
    hasJumped: () => state.hasJumped,
  };
  known.set(fleet, made);
  return made;
}

function byArrival(a: DurableEvent, b: DurableEvent): number {
  return a.receivedMs - b.receivedMs || a.observedMs - b.observedMs || a.place - b.place;
}

/**
 * How long after its receipt an event was stored, for whoever reads by a clock that is ahead of the one that it was
 * received by: clocks of Consoles that nobody sets right drift apart by seconds a day.
 */
export function storingMs({ storedByFastestMs, receivedMs }: DurableEvent): number {
  return storedByFastestMs - receivedMs;
}
