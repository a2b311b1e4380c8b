// Everything of an investigation in the order of time: what was collected, and who moved it. Events are read where they
// are; one that is kept no more is told as gone. invariant: I15; decision: D143
import type {
  InvestigationItem,
  InvestigationMove,
} from '../../machines/console/hunting/investigation.ts';
import { INVESTIGATION_EVENTS_PER_ADD_MAX } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { InvestigationDocument, ItemDocument } from './investigations.ts';

export type TimelineEntry = { readonly atMs: number } & (
  | { readonly is: 'item'; readonly id: string; readonly item: InvestigationItem }
  | { readonly is: 'move'; readonly id: null; readonly move: InvestigationMove }
);

/** Both merged, oldest first. */
export function timelineOf(
  { body }: InvestigationDocument,
  items: readonly ItemDocument[],
): readonly TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...items.map(({ id, body: item }) => ({ is: 'item', atMs: item.atMs, id, item }) as const),
    ...body.moves.map((move) => ({ is: 'move', atMs: move.atMs, id: null, move }) as const),
  ];
  return entries.sort((a, b) => a.atMs - b.atMs);
}

/** The events that entries name, by id. Each sensor's are one question over a narrow time. */
export async function eventsIn(
  events: Pick<EventStore, 'search'>,
  entries: readonly TimelineEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StoredEvent>> {
  const wanted = new Map<string, { readonly eventId: string; readonly atMs: number }[]>();
  for (const entry of entries) {
    if (entry.is !== 'item' || entry.item.what !== 'event') continue;
    const { sensorId, eventId, atMs } = entry.item;
    wanted.set(sensorId, [...(wanted.get(sensorId) ?? []), { eventId, atMs }]);
  }
  const found = new Map<string, StoredEvent>();
  for (const [sensorId, all] of wanted) {
    for (let at = 0; at < all.length; at += INVESTIGATION_EVENTS_PER_ADD_MAX) {
      const part = all.slice(at, at + INVESTIGATION_EVENTS_PER_ADD_MAX);
      const times = part.map(({ atMs }) => atMs);
      const page = await events.search({
        ...{ sensorId, signal, limit: part.length },
        ...{ fromMs: Math.min(...times), toMs: Math.max(...times) + 1 },
        condition: {
          ...{ is: 'among', field: 'event_id', values: part.map(({ eventId }) => eventId) },
        },
      });
      for (const event of page) found.set(event.event_id, event);
    }
  }
  return found;
}
