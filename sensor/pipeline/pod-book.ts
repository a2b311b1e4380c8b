// The pods of this node as the cluster lists them, kept by the changes it tells afterwards. Nothing of a change is trusted:
// texts are cut, what has another shape changes nothing, and what is kept of a pod is only what somebody asks for.
// decision: D120
import { KUBERNETES_GONE_PODS_MAX, WORKLOADS_MAX } from '../../machines/pipeline-limits.ts';
import { NAME_MAX_CHARS } from '../../machines/wire/event.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { isObject, type JsonObject, objectAt, textAt } from './json-value.ts';
import { indexPods, type Owner, openOwnerOf, type PodIndex } from './pod-index.ts';
import { podItems } from './pod-items.ts';

/** What the cluster says of this node, of one moment. */
export type Workloads = {
  readonly containers: PodIndex;
  readonly pods: { readonly items: readonly InventoryItem[]; readonly total?: number };
};
/** What a list said. */
export type ListedPods = {
  readonly pods: readonly unknown[];
  readonly above: ReadonlyMap<string, Owner>;
  /** What a watch begins after; '' where the peer has no changes to tell. */
  readonly version: string;
};
/** What became of one line of a watch. */
export type Applied =
  | 'changed'
  /** Nothing here changed, and the place from which to go on may have. */
  | 'passed'
  /** The version is too old to go on from: the list has to be read anew. */
  | 'expired'
  /** The peer tells an error of its own, or no change at all. */
  | 'refused';

export type PodBook = {
  apply(line: string): Applied;
  /** What a watch goes on after. */
  version(): string;
  /** An owner is not known whose own owner only a list tells. */
  wantsOwners(): boolean;
  workloads(): Workloads;
};

type Held = {
  readonly uid: string;
  readonly items: readonly InventoryItem[];
  readonly containers: PodIndex;
  readonly openOwner: string | null;
};

const VERSION_MAX_CHARS = 128;
const GONE = 410;

/** Keeps what a list told. */
export function createPodBook({ pods, above, version: listedAt }: ListedPods): PodBook {
  const held = new Map<string, Held>();
  /** Their last events may be read after they went. */
  const gone = new Map<string, PodIndex>();
  // A list may not be read for an owner that the list before did not tell either.
  const asked = new Set<string>();
  let version = listedAt;
  let beyond = 0;
  let view: Workloads | null = null;
  for (const pod of pods) {
    if (isObject(pod)) put(pod);
  }
  for (const { openOwner } of held.values()) {
    if (openOwner !== null) asked.add(openOwner);
  }

  function put(pod: JsonObject): void {
    const key = keyOf(pod);
    if (key === null) return;
    if (!held.has(key) && held.size >= WORKLOADS_MAX) {
      beyond += 1;
      return;
    }
    held.set(key, heldOf(pod, above));
  }

  function remove(pod: JsonObject): void {
    const key = keyOf(pod);
    const found = key === null ? undefined : held.get(key);
    if (key === null || found === undefined || found.uid !== uidOf(pod)) return;
    held.delete(key);
    gone.delete(key);
    gone.set(key, found.containers);
    const [oldest] = gone.keys();
    if (gone.size > KUBERNETES_GONE_PODS_MAX && oldest !== undefined) gone.delete(oldest);
  }

  function pass(object: JsonObject): void {
    version = versionOf(object) || version;
  }

  return {
    apply(line) {
      const parsed = parseJson(line);
      if (!parsed.ok || !isObject(parsed.value)) return 'refused';
      const object = objectAt(parsed.value, 'object');
      const type = textAt(parsed.value, 'type', NAME_MAX_CHARS);
      if (type === 'ERROR') return object['code'] === GONE ? 'expired' : 'refused';
      if (type === 'BOOKMARK') {
        pass(object);
        return 'passed';
      }
      if (type === 'DELETED') remove(object);
      else if (type === 'ADDED' || type === 'MODIFIED') put(object);
      else return 'refused';
      pass(object);
      view = null;
      return 'changed';
    },
    version: () => version,
    wantsOwners: () =>
      [...held.values()].some(({ openOwner }) => openOwner !== null && !asked.has(openOwner)),
    workloads() {
      view ??= viewOf(held, gone, beyond);
      return view;
    },
  };
}

function heldOf(pod: JsonObject, above: ReadonlyMap<string, Owner>): Held {
  const { items } = podItems([pod], above);
  const openOwner = openOwnerOf(pod, above);
  return { uid: uidOf(pod), items, containers: indexPods([pod], above), openOwner };
}

function viewOf(
  held: ReadonlyMap<string, Held>,
  gone: ReadonlyMap<string, PodIndex>,
  beyond: number,
): Workloads {
  const containers = new Map<string, NonNullable<ReturnType<PodIndex['get']>>>();
  // What is there comes last, so that it counts; and first those who went, as far as there is room.
  const present = [...held.values()].flatMap((one) => [...one.containers]).slice(0, WORKLOADS_MAX);
  const room = WORKLOADS_MAX - present.length;
  const past = [...gone.values()].flatMap((one) => [...one]).slice(0, room);
  for (const [key, workload] of [...past, ...present]) containers.set(key, workload);
  const items = [...held.values()].flatMap((one) => one.items);
  const pods = beyond === 0 ? { items } : { items, total: items.length + beyond };
  return { containers, pods };
}

/** The version that a list or an object tells; '' when there is none, or none that could be one. */
export function versionOf(object: JsonObject): string {
  const version = objectAt(object, 'metadata')['resourceVersion'];
  if (typeof version !== 'string' || version.length > VERSION_MAX_CHARS) return '';
  return /^[\x21-\x7e]*$/.test(version) ? version : '';
}

function keyOf(pod: JsonObject): string | null {
  const metadata = objectAt(pod, 'metadata');
  const name = textAt(metadata, 'name', NAME_MAX_CHARS);
  return name === '' ? null : `${textAt(metadata, 'namespace', NAME_MAX_CHARS)}/${name}`;
}

const uidOf = (pod: JsonObject): string => textAt(objectAt(pod, 'metadata'), 'uid', NAME_MAX_CHARS);
