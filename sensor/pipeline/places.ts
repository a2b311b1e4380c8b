// Where a process runs (container, network namespace) and who stands above it, for lines that do not tell: asked of the
// running node once for each process. An exec_id names node, time and pid; a pid that was given away since is a stranger
// and is not believed. Bounded: the place that was learned longest ago goes first.
import { LRUCache } from 'lru-cache';
import { PROCESS_CACHE_MAX } from '../../machines/pipeline-limits.ts';
import { ANCESTORS_MAX, type RuntimeEvent } from '../../machines/wire/event.ts';
import type { NodeContext, SeenProcess } from './node-context.ts';
import type { ProcessCache } from './process-cache.ts';

type Place = Pick<SeenProcess, 'containerId' | 'networkNamespace'>;
/** How many looks are left; counted down by whoever looks. */
export type Looks = { left: number };
export type Places = {
  /** Asks about what the lines of these events left open. Never rejects. */
  fill(events: readonly Traced[], looks: Looks): Promise<void>;
  /** Adds what is known of the place of an event's process. */
  placed(event: RuntimeEvent): RuntimeEvent;
  size(): number;
};
export type Traced = { readonly event: RuntimeEvent; readonly parentExecId: string };

const NOWHERE: Place = { containerId: undefined, networkNamespace: undefined };
const TICK_MS = 10;
const EXEC_ID = /^(.*):(\d{1,20}):(\d{1,10})$/;

/** Makes an empty memory of places. */
export function createPlaces(
  context: NodeContext,
  cache: ProcessCache,
  max: number = PROCESS_CACHE_MAX,
): Places {
  const places = new LRUCache<string, Place>({ maxSize: max, sizeCalculation: () => 1 });

  async function look(execId: string, looks: Looks): Promise<SeenProcess | null> {
    const named = namedBy(execId);
    if (named === undefined || looks.left <= 0) return null;
    looks.left -= 1;
    const seen = await context.look(named.pid);
    return seen !== null && seen.startTicks * TICK_MS <= named.atMs + TICK_MS ? seen : null;
  }

  async function findPlace(execId: string, looks: Looks): Promise<void> {
    places.set(execId, NOWHERE);
    const seen = await look(execId, looks);
    if (seen !== null) places.set(execId, seen);
  }

  async function findAncestors(parentExecId: string, looks: Looks): Promise<void> {
    const node = namedBy(parentExecId)?.node ?? '';
    let execId = parentExecId;
    for (let depth = 0; depth <= ANCESTORS_MAX && cache.chainFrom(execId, 1).length === 0; ) {
      depth += 1;
      const seen = await look(execId, looks);
      if (seen === null) return;
      places.set(execId, seen);
      const isTop = seen.parentPid === 0 || looks.left <= 0;
      if (!isTop) looks.left -= 1;
      const above = isTop ? null : await context.look(seen.parentPid);
      const aboveId = above === null ? '' : execIdOf(node, above);
      cache.remember(
        {
          exec_id: execId,
          pid: seen.pid,
          binary: seen.binary,
          ...(seen.uid === undefined ? {} : { uid: seen.uid }),
          ...(seen.arguments === '' ? {} : { arguments: seen.arguments }),
        },
        aboveId,
      );
      execId = aboveId;
    }
  }

  return {
    async fill(events, looks) {
      const asked: Promise<void>[] = [];
      const parents = new Set<string>();
      for (const { event, parentExecId } of events) {
        if (looks.left <= 0) break;
        const execId = event.process?.exec_id ?? '';
        const isOpen = event.network_namespace === undefined && event.event_kind !== 'process_exit';
        if (isOpen && execId !== '' && !places.has(execId)) asked.push(findPlace(execId, looks));
        if (event.parent !== undefined || parentExecId === '' || parents.has(parentExecId))
          continue;
        parents.add(parentExecId);
        // One that is gone stays unknown; it is asked about once.
        if (!places.has(parentExecId)) {
          places.set(parentExecId, NOWHERE);
          asked.push(findAncestors(parentExecId, looks));
        }
      }
      await Promise.all(asked);
    },
    placed(event) {
      const known = places.peek(event.process?.exec_id ?? '');
      const named =
        known?.containerId !== undefined && event.workload?.container_id === undefined
          ? { ...event.workload, container_id: known.containerId }
          : event.workload;
      const workload = named?.container_id === undefined ? named : withWorkload(named);
      const netns = event.network_namespace ?? known?.networkNamespace;
      if (workload === event.workload && netns === event.network_namespace) return event;
      return {
        ...event,
        ...(workload === undefined ? {} : { workload }),
        ...(netns === undefined ? {} : { network_namespace: netns }),
      };
    },
    size: () => places.size,
  };

  // What the engine told stands; the cluster adds what it left open, and the whole id for the beginning of one.
  function withWorkload(told: NonNullable<RuntimeEvent['workload']>): typeof told {
    const found =
      told.pod_name === undefined ? context.workloadOf(told.container_id ?? '') : undefined;
    return found === undefined ? told : { ...found, ...told, ...idOf(found, told) };
  }
}

function idOf(
  found: NonNullable<RuntimeEvent['workload']>,
  told: NonNullable<RuntimeEvent['workload']>,
): { readonly container_id?: string } {
  const id = found.container_id ?? told.container_id;
  return id === undefined ? {} : { container_id: id };
}

function namedBy(execId: string) {
  const match = EXEC_ID.exec(Buffer.from(execId, 'base64').toString());
  if (match === null) return undefined;
  const [, node = '', ns = '', pid = ''] = match;
  return { node, atMs: Number(ns.slice(0, -6)), pid: Number(pid) };
}

function execIdOf(node: string, { startTicks, pid }: SeenProcess): string {
  return Buffer.from(`${node}:${startTicks}0000000:${pid}`).toString('base64');
}
