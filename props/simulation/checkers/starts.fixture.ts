// A fleet for stories of checkers: one node whose programs only start, and a store that has what the story stores.
import { createEventRows } from '../../../storage/memory/telemetry/event-rows.ts';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { Observation } from '../world/observation.ts';
import type { CheckerKind, FleetView } from './checker.ts';

const NODE = 'n';
/** One start, and when it was received: by true time. */
export type Start = {
  readonly id: string;
  readonly receivedMs: number;
  /** The store has it, and the Console gave up before. */
  readonly isUnheard?: boolean;
};
/** What happens at an instant; a start is stored. */
export type Step = readonly [atMs: number, happens: Observation | Start];

/** What a checker reports once a story is over, and so much time has passed since. */
export function reportedOf(
  kind: CheckerKind,
  of: {
    readonly program: string;
    /** What the checker reads of the product's database. */
    readonly relational: object;
    readonly story: readonly Step[];
    readonly afterwardsMs: number;
    /** The clock of a second Console, against true time. */
    readonly aheadMs?: number;
  },
): readonly string[] {
  const { program, relational, story, afterwardsMs, aheadMs = 0 } = of;
  const details: string[] = [];
  const listeners: ((seen: Observation, atMs: number) => void)[] = [];
  const rows = createEventRows();
  const sequences = new Map<string, number>();
  let nowMs = 0;
  const errors = aheadMs === 0 ? [0] : [0, aheadMs];
  const deed = { binary: program, isStart: true, atMs: 0 };
  const fleet = {
    ...{ keepers: 1, forgets: true, copies: { ever: () => [] }, isDisturbed: () => false },
    consoles: errors.map((errorMs) => ({ clock: { errorMs: () => errorMs } })),
    nodes: [{ name: NODE, engine: { deedOf: () => deed } }],
    world: {
      scheduler: { now: () => nowMs },
      subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener),
    },
    stores: { analytics: { rows }, relational },
  } as unknown as FleetView;
  const checker = kind.make(fleet, (detail) => details.push(detail));

  function store({ id, receivedMs }: Start): Observation {
    const sequence = sequences.get(id) ?? sequences.size + 1;
    sequences.set(id, sequence);
    const receivedAtMs = WORLD_BEGINS_MS + receivedMs;
    const batch = { channel: 'stream', sequence, receivedAtMs } as const;
    const process = { exec_id: `${NODE}:${sequence}`, pid: sequence, binary: program };
    rows.add({
      ...{ ...batch, sensorId: 's', nodeName: NODE, streamId: 'x', digest: id },
      events: [
        {
          ...{ event_id: id, schema_version: 1, severity: 'info', message: '', process },
          ...{ observed_at: new Date(receivedAtMs).toISOString(), event_kind: 'process_exec' },
        },
      ],
    });
    const batches = [{ ...batch, sensor: 's', stream: 'x', events: [id] }];
    return { kind: 'events.stored', console: 'c', batches };
  }

  function acknowledgment({ id, receivedMs }: Start): Observation {
    const sequence = sequences.get(id) ?? 0;
    const events = [`${NODE}:${sequence}`];
    return {
      ...{ kind: 'batch.acknowledged', console: 'c', askedAtMs: receivedMs, fingerprint: 'f' },
      batch: { stream: 'x', channel: 'stream', sequence, events },
    };
  }

  function hear(seen: Observation, atMs: number): void {
    for (const listener of listeners) listener(seen, atMs);
    checker.observe?.(seen, atMs);
  }

  for (const [atMs, happens] of story) {
    nowMs = atMs;
    hear('kind' in happens ? happens : store(happens), atMs);
    if ('kind' in happens || happens.isUnheard === true) continue;
    hear(acknowledgment(happens), atMs);
  }
  nowMs += afterwardsMs;
  checker.finish?.(nowMs);
  return details;
}
