// Reads what a process tree is made of: the events of the process, then level by level the events in which something that
// is known started something else. Each level is one question, so the questions are as many as the levels. decision: D141
import type { Condition } from '../../machines/detection/condition.ts';
import type { FieldName } from '../../machines/detection/fields.ts';
import {
  type ProcessTree,
  processTreeOf,
  startedBy,
} from '../../machines/detection/process-tree.rules.ts';
import {
  PROCESS_TREE_DEPTH_MAX,
  PROCESS_TREE_EVENTS_MAX,
  PROCESS_TREE_NODES_MAX,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';

export type ProcessAsked = {
  readonly sensorId: string;
  readonly execId: string;
  readonly fromMs: number;
  readonly toMs: number;
};
export type CountedTree = ProcessTree & {
  /** Events of each process; only those with the most of them, where there are many. */
  readonly events: ReadonlyMap<string, number>;
};

/** The tree; null when no event in the time tells of the process. Throws what the store throws. */
export async function readProcessTree(
  store: Pick<EventStore, 'search' | 'topValues'>,
  asked: ProcessAsked,
  signal: AbortSignal,
): Promise<CountedTree | null> {
  const { sensorId, execId, fromMs, toMs } = asked;
  const scope = { sensorId, fromMs, toMs, signal };
  const among = (field: FieldName, values: readonly string[]): Condition => ({
    ...{ is: 'among', field, values },
  });
  const read = (condition: Condition, kinds?: readonly StoredEvent['event_kind'][]) =>
    store.search({
      ...{ ...scope, condition, limit: PROCESS_TREE_EVENTS_MAX, order: 'ascending' },
      ...(kinds === undefined ? {} : { eventKinds: kinds }),
    });
  const events: StoredEvent[] = [];
  // Its own first and last events are enough: the others say the same of it.
  events.push(...(await read(among('process.exec_id', [execId]))));
  let isCut = false;
  const known = new Set([execId]);
  let level: readonly string[] = [execId];
  for (let depth = 0; depth <= PROCESS_TREE_DEPTH_MAX && level.length > 0; depth += 1) {
    const found = await read(among('parent.exec_id', level), ['process_exec', 'process_burst']);
    events.push(...found);
    isCut ||= found.length === PROCESS_TREE_EVENTS_MAX;
    level = startedBy(new Set(level), found).filter((one) => !known.has(one));
    const left = PROCESS_TREE_NODES_MAX - known.size;
    isCut ||= level.length > left;
    level = level.slice(0, Math.max(0, left));
    for (const one of level) known.add(one);
  }
  if (known.size > 1) {
    events.push(...(await read(among('process.exec_id', [...known]), ['process_exit'])));
  }
  const bounds = { nodesMax: PROCESS_TREE_NODES_MAX, depthMax: PROCESS_TREE_DEPTH_MAX };
  const tree = processTreeOf(execId, events, bounds);
  if (tree === null) return null;
  const counts = await store.topValues({
    ...{ ...scope, field: 'process.exec_id', limit: PROCESS_TREE_NODES_MAX },
    condition: among(
      'process.exec_id',
      tree.nodes.map((node) => node.execId),
    ),
  });
  return {
    ...{ nodes: tree.nodes, isCut: isCut || tree.isCut },
    events: new Map(counts.values.map(({ value, events: count }) => [value, count])),
  };
}
