// The last processes an engine told of, by exec_id, so that an event can name its ancestors. Bounded: the one not heard
// of for longest goes first. A process that ended stays for its children.
import { LRUCache } from 'lru-cache';
import { ANCESTOR_TEXT_MAX_CHARS, PROCESS_CACHE_MAX } from '../../machines/pipeline-limits.ts';
import { ANCESTORS_MAX, type EventProcess, type RuntimeEvent } from '../../machines/wire/event.ts';
import { cutText } from './json-value.ts';

type Known = { readonly process: EventProcess; readonly parentExecId: string };

export type ProcessCache = {
  /** Remembers a process in short form; one without an exec_id is not remembered. */
  readonly remember: (process: EventProcess, parentExecId: string) => void;
  /** The chain above an exec_id, nearest first, at most `max`; it ends where the cache does. */
  readonly chainFrom: (execId: string, max: number) => EventProcess[];
  /** Adds parent and ancestors to an event whose line named neither, as far as they are known by now. */
  readonly withAncestry: (event: RuntimeEvent, parentExecId: string) => RuntimeEvent;
  readonly size: () => number;
};

export function createProcessCache(max: number = PROCESS_CACHE_MAX): ProcessCache {
  const known = new LRUCache<string, Known>({ maxSize: max, sizeCalculation: () => 1 });

  function remember(process: EventProcess, parentExecId: string): void {
    if (process.exec_id === '') return;
    known.set(process.exec_id, { process: inShort(process), parentExecId });
  }

  function chainFrom(execId: string, length: number): EventProcess[] {
    const chain: EventProcess[] = [];
    const seen = new Set<string>();
    let next = execId;
    while (chain.length < length && !seen.has(next)) {
      seen.add(next);
      const found = known.peek(next);
      if (found === undefined) break;
      chain.push(found.process);
      next = found.parentExecId;
    }
    return chain;
  }

  function withAncestry(event: RuntimeEvent, parentExecId: string): RuntimeEvent {
    if (event.parent !== undefined || parentExecId === '') return event;
    const [parent, ...ancestors] = chainFrom(parentExecId, ANCESTORS_MAX + 1);
    if (parent === undefined) return event;
    return { ...event, parent, ...(ancestors.length === 0 ? {} : { ancestors }) };
  }

  return { remember, chainFrom, withAncestry, size: () => known.size };
}

/** An ancestor is named, not described: its texts are cut and its directory is left out. */
export function inShort(process: EventProcess): EventProcess {
  const { cwd: _, arguments: args, ...rest } = process;
  const short = { ...rest, binary: cutText(process.binary, ANCESTOR_TEXT_MAX_CHARS) };
  return args === undefined
    ? short
    : { ...short, arguments: cutText(args, ANCESTOR_TEXT_MAX_CHARS) };
}
