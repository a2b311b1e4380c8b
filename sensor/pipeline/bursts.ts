// Many starts of one program by one parent become one event that says how many, and so do their ends. A burst is looked
// for among the lines that are read together and enter the spool together, so a crash can neither lose nor split what
// was already counted. What differs in more than its numbers is another deed and stays an event of its own: nobody hides
// one command in a storm of others.
import { hash } from 'node:crypto';
import { BURST_MEMBERS_MIN } from '../../machines/pipeline-limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { messageOf } from './event-message.ts';

export type Folded = {
  readonly events: readonly RuntimeEvent[];
  /** How many events stand inside others now. */
  readonly aggregated: number;
};
type Burst = { readonly first: RuntimeEvent; last: RuntimeEvent; count: number };

const NUMBERS = /0x[0-9a-f]+|\d+/gi;
const ENDING = / ended(.*)$/;

/** Folds what repeats at least `min` times. The order of the rest stays; a burst stands where it began. */
export function foldBursts(
  events: readonly RuntimeEvent[],
  min: number = BURST_MEMBERS_MIN,
): Folded {
  if (events.length < min) return { events, aggregated: 0 };
  const bursts = new Map<string, Burst>();
  const keys = events.map(keyOf);
  for (const [at, event] of events.entries()) {
    const key = keys[at];
    if (key === undefined) continue;
    const burst = bursts.get(key);
    if (burst === undefined) bursts.set(key, { first: event, last: event, count: 1 });
    else {
      burst.last = event;
      burst.count += 1;
    }
  }
  const kept: RuntimeEvent[] = [];
  for (const [at, event] of events.entries()) {
    const burst = bursts.get(keys[at] ?? '');
    if (burst === undefined || burst.count < min) kept.push(event);
    else if (burst.first === event) kept.push(fold(burst));
  }
  return { events: kept, aggregated: events.length - kept.length };
}

/** What members of one burst have in common; undefined for what always stands alone. */
function keyOf(event: RuntimeEvent): string | undefined {
  const { event_kind: kind, process, parent, workload, policy } = event;
  if (kind !== 'process_exec' && kind !== 'process_exit') return undefined;
  if (policy !== undefined || process === undefined || !parent?.exec_id) return undefined;
  return JSON.stringify([
    kind,
    parent.exec_id,
    process.binary,
    process.uid,
    process.cwd,
    (process.arguments ?? '').replace(NUMBERS, '#'),
    workload?.container_id,
    event.network_namespace,
    endingOf(event),
  ]);
}

function endingOf(event: RuntimeEvent): string {
  return event.event_kind === 'process_exit' ? (ENDING.exec(event.message)?.[1] ?? '') : '';
}

function fold({ first, last, count }: Burst): RuntimeEvent {
  const isStart = first.event_kind === 'process_exec';
  const event: RuntimeEvent = {
    ...first,
    event_id: hash('sha256', `burst ${first.event_id}`).slice(0, 32),
    observed_at: last.observed_at,
    event_kind: isStart ? 'process_burst' : 'process_exit',
    first_observed_at: first.observed_at,
    occurrences: count,
  };
  const detail = `${endingOf(first)} and ${count - 1} like it`;
  return { ...event, message: messageOf(event, { detail }) };
}
