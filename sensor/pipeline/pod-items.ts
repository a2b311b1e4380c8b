// The pods of this node as items of the inventory. Everything comes from a list of the API server or of a kubelet, of which
// nothing is trusted: texts are cut, lists bounded, what has another shape is left out. decision: D76
import { WORKLOADS_MAX } from '../../machines/pipeline-limits.ts';
import { NAME_MAX_CHARS } from '../../machines/wire/event.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { isObject, type JsonObject, listAt, objectAt, textAt } from './json-value.ts';
import { type Owner, workloadOf } from './pod-index.ts';

const IMAGE_MAX_CHARS = 512;
const IMAGES_MAX = 32;
const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];

/** One item for each pod that has a name; `total` when there are more than are told. */
export function podItems(
  pods: readonly unknown[],
  above: ReadonlyMap<string, Owner>,
): { readonly items: readonly InventoryItem[]; readonly total?: number } {
  const named = pods
    .filter(isObject)
    .filter((pod) => nameAt(objectAt(pod, 'metadata'), 'name') !== '');
  const items = named.slice(0, WORKLOADS_MAX).map((pod) => itemOf(pod, above));
  return items.length === named.length ? { items } : { items, total: named.length };
}

function itemOf(pod: JsonObject, above: ReadonlyMap<string, Owner>): InventoryItem {
  const metadata = objectAt(pod, 'metadata');
  const spec = objectAt(pod, 'spec');
  const namespace = nameAt(metadata, 'namespace');
  const workload = workloadOf(metadata, namespace, above);
  const containers = CONTAINERS.flatMap((key) => listAt(spec, key)).filter(isObject);
  const images = new Set(containers.map((one) => textAt(one, 'image', IMAGE_MAX_CHARS)));
  images.delete('');
  return {
    kind: 'Pod',
    namespace,
    name: nameAt(metadata, 'name'),
    ...told('uid', nameAt(metadata, 'uid')),
    ...told('phase', nameAt(objectAt(pod, 'status'), 'phase')),
    ...told('workload_type', workload?.kind ?? ''),
    ...told('workload_name', workload?.name ?? ''),
    ...told('service_account', nameAt(spec, 'serviceAccountName')),
    images: [...images].sort().slice(0, IMAGES_MAX),
    ...(spec['hostNetwork'] === true ? { host_network: true } : {}),
    ...(spec['hostPID'] === true ? { host_pid: true } : {}),
    ...(containers.some(isPrivileged) ? { privileged: true } : {}),
  };
}

function isPrivileged(container: JsonObject): boolean {
  return objectAt(container, 'securityContext')['privileged'] === true;
}

function told(key: string, text: string): Readonly<Record<string, string>> {
  return text === '' ? {} : { [key]: text };
}

function nameAt(value: JsonObject, key: string): string {
  return textAt(value, key, NAME_MAX_CHARS);
}
