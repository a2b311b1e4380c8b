// One process, what started it and what it started, from the events of its sensor. Attackers choose names and numbers of
// processes, so the tree is bounded in nodes and depth, and a node has one place in it, whatever its events say.
// decision: D141; invariant: I8, I10
import type { EventProcess, StoredEvent } from '../wire/event.ts';

export type TreeNode = {
  readonly execId: string;
  /** Null: nothing that is known started it. */
  readonly parentExecId: string | null;
  /** 0 is the process that was asked for; what is above it is below zero. */
  readonly depth: number;
  readonly process: EventProcess;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
};
export type ProcessTree = {
  /** In the order of a walk: who started before whom. */
  readonly nodes: readonly TreeNode[];
  /** There is more than may be shown. */
  readonly isCut: boolean;
};
export type TreeBounds = { readonly nodesMax: number; readonly depthMax: number };

/** The tree around a process; null when no event tells of it. */
export function processTreeOf(
  execId: string,
  events: readonly StoredEvent[],
  bounds: TreeBounds,
): ProcessTree | null {
  const facts = factsOf(events);
  if (!facts.processes.has(execId)) return null;
  const above = lineAbove(execId, facts);
  const nodes: TreeNode[] = above.map((one, at) =>
    nodeOf(facts, { execId: one, parentExecId: above[at - 1] ?? null, depth: at - above.length }),
  );
  const seen = new Set(above);
  let isCut = false;
  const walk = [{ execId, parentExecId: above.at(-1) ?? null, depth: 0 }];
  for (let place = walk.pop(); place !== undefined; place = walk.pop()) {
    if (seen.has(place.execId)) continue;
    if (nodes.length >= bounds.nodesMax) return { nodes, isCut: true };
    seen.add(place.execId);
    nodes.push(nodeOf(facts, place));
    const started = facts.startedBy.get(place.execId) ?? [];
    if (started.length > 0 && place.depth >= bounds.depthMax) {
      isCut = true;
      continue;
    }
    // The last that is pushed is the next that is walked.
    for (const child of started.toReversed()) {
      walk.push({ execId: child, parentExecId: place.execId, depth: place.depth + 1 });
    }
  }
  return { nodes, isCut };
}

/** What the events tell of processes that some of these started. */
export function startedBy(
  execIds: ReadonlySet<string>,
  events: readonly StoredEvent[],
): readonly string[] {
  const found = new Set<string>();
  for (const { process, parent } of events) {
    if (process === undefined || parent === undefined) continue;
    if (execIds.has(parent.exec_id)) found.add(process.exec_id);
  }
  return [...found];
}

type Facts = {
  readonly processes: ReadonlyMap<string, EventProcess>;
  readonly parents: ReadonlyMap<string, string>;
  readonly startedBy: ReadonlyMap<string, readonly string[]>;
  readonly started: ReadonlyMap<string, string>;
  readonly ended: ReadonlyMap<string, string>;
};

function factsOf(events: readonly StoredEvent[]): Facts {
  const processes = new Map<string, EventProcess>();
  const parents = new Map<string, string>();
  const children = new Map<string, string[]>();
  const started = new Map<string, string>();
  const ended = new Map<string, string>();
  const inOrder = events.toSorted((a, b) => (a.observed_at < b.observed_at ? -1 : 1));
  for (const event of inOrder) {
    const { process, parent, ancestors = [] } = event;
    // From the process upwards: each was started by the next.
    const line = [process, parent, ...ancestors].filter((one) => one !== undefined);
    for (const [at, one] of line.entries()) {
      processes.set(one.exec_id, { ...one, ...processes.get(one.exec_id) });
      const upper = line[at + 1];
      if (upper === undefined || upper.exec_id === one.exec_id || parents.has(one.exec_id))
        continue;
      parents.set(one.exec_id, upper.exec_id);
      children.set(upper.exec_id, [...(children.get(upper.exec_id) ?? []), one.exec_id]);
    }
    if (process === undefined) continue;
    const first = started.get(process.exec_id);
    if (first === undefined) started.set(process.exec_id, event.observed_at);
    if (event.event_kind === 'process_exit') ended.set(process.exec_id, event.observed_at);
  }
  return { processes, parents, startedBy: children, started, ended };
}

/** Who started it, the eldest first. A circle ends where it closes. */
function lineAbove(execId: string, { parents }: Facts): readonly string[] {
  const line: string[] = [];
  const seen = new Set([execId]);
  for (let up = parents.get(execId); up !== undefined; up = parents.get(up)) {
    if (seen.has(up)) break;
    seen.add(up);
    line.unshift(up);
  }
  return line;
}

function nodeOf(
  facts: Facts,
  place: Pick<TreeNode, 'execId' | 'parentExecId' | 'depth'>,
): TreeNode {
  const process = facts.processes.get(place.execId) ?? {
    exec_id: place.execId,
    pid: 0,
    binary: '',
  };
  const told = process.start_time ?? facts.started.get(place.execId) ?? null;
  return { ...place, process, startedAt: told, endedAt: facts.ended.get(place.execId) ?? null };
}
