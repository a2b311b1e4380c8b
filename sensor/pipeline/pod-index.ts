// From the lists of a Kubernetes API to the workload of each container of this node. A pod names its owner; what owns the
// owner (the Deployment of a ReplicaSet, the CronJob of a Job) stands in the owner's name, which its controller made of the
// upper name and a hash or a time. Only where the name does not tell is the owner's own list asked for.
import { KUBERNETES_OWNER_LISTS_MAX, WORKLOADS_MAX } from '../../machines/pipeline-limits.ts';
import { NAME_MAX_CHARS } from '../../machines/wire/event.ts';
import { containerKey } from './container-id.ts';
import { isObject, type JsonObject, listAt, objectAt, textAt } from './json-value.ts';
import type { Workload } from './node-context.ts';

export type Owner = { readonly kind: string; readonly name: string };
export type PodIndex = ReadonlyMap<string, Workload>;

const IMAGE_MAX_CHARS = 1_024;
const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];

/** The owners of a list of ReplicaSets or Jobs, by `namespace/name`. */
export function ownersOf(items: readonly unknown[]): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const item of items) {
    const metadata = isObject(item) ? objectAt(item, 'metadata') : {};
    const owner = controllerOf(metadata);
    if (owner !== undefined) {
      owners.set(`${nameAt(metadata, 'namespace')}/${nameAt(metadata, 'name')}`, owner);
    }
  }
  return owners;
}

/** The lists in which owners stand whose own owner their name does not tell; at most KUBERNETES_OWNER_LISTS_MAX. */
export function openOwnerLists(pods: readonly unknown[]): readonly string[] {
  const paths = new Set<string>();
  for (const pod of pods) {
    const metadata = isObject(pod) ? objectAt(pod, 'metadata') : {};
    const namespace = encodeURIComponent(nameAt(metadata, 'namespace'));
    const { kind } = workloadOf(metadata, nameAt(metadata, 'namespace'), new Map()) ?? {};
    if (kind === 'ReplicaSet') paths.add(`/apis/apps/v1/namespaces/${namespace}/replicasets`);
    if (kind === 'Job') paths.add(`/apis/batch/v1/namespaces/${namespace}/jobs`);
  }
  return [...paths].slice(0, KUBERNETES_OWNER_LISTS_MAX);
}

/** The owner of a pod whose own owner neither its name nor a list tells; null when it is known. */
export function openOwnerOf(pod: JsonObject, above: ReadonlyMap<string, Owner>): string | null {
  const metadata = objectAt(pod, 'metadata');
  const namespace = nameAt(metadata, 'namespace');
  const owner = workloadOf(metadata, namespace, above);
  return owner?.kind === 'ReplicaSet' || owner?.kind === 'Job'
    ? `${namespace}/${owner.kind}/${owner.name}`
    : null;
}

/** Every container of these pods, by the beginning of its id; at most WORKLOADS_MAX of them. */
export function indexPods(pods: readonly unknown[], above: ReadonlyMap<string, Owner>): PodIndex {
  const index = new Map<string, Workload>();
  for (const pod of pods) {
    if (!isObject(pod)) continue;
    const metadata = objectAt(pod, 'metadata');
    const namespace = nameAt(metadata, 'namespace');
    const workload = workloadOf(metadata, namespace, above);
    for (const status of STATUSES.flatMap((key) => listAt(objectAt(pod, 'status'), key))) {
      const id = isObject(status) ? nameAt(status, 'containerID') : '';
      const key = containerKey(id);
      if (!isObject(status) || key === undefined || index.size >= WORKLOADS_MAX) continue;
      const image = textAt(status, 'image', IMAGE_MAX_CHARS);
      index.set(key, {
        container_id: id,
        k8s_namespace: namespace,
        pod_name: nameAt(metadata, 'name'),
        ...(workload === undefined
          ? {}
          : { workload_type: workload.kind, workload_name: workload.name }),
        ...(image === '' ? {} : { image }),
      });
    }
  }
  return index;
}

/** A pod nobody owns is its own workload. */
export function workloadOf(
  metadata: JsonObject,
  namespace: string,
  above: ReadonlyMap<string, Owner>,
): Owner | undefined {
  const owner = controllerOf(metadata) ?? { kind: 'Pod', name: nameAt(metadata, 'name') };
  if (owner.name === '') return undefined;
  const known = above.get(`${namespace}/${owner.name}`);
  if (known !== undefined && (owner.kind === 'ReplicaSet' || owner.kind === 'Job')) return known;
  const hash = nameAt(objectAt(metadata, 'labels'), 'pod-template-hash');
  if (owner.kind === 'ReplicaSet' && hash !== '' && owner.name.endsWith(`-${hash}`)) {
    return { kind: 'Deployment', name: owner.name.slice(0, -hash.length - 1) };
  }
  const timed = /^(.+)-\d{8,11}$/.exec(owner.name)?.[1];
  if (owner.kind === 'Job' && timed !== undefined) return { kind: 'CronJob', name: timed };
  return owner;
}

function controllerOf(metadata: JsonObject): Owner | undefined {
  const owners = listAt(metadata, 'ownerReferences').filter(isObject);
  const owner = owners.find((one) => one['controller'] === true) ?? owners[0];
  if (owner === undefined) return undefined;
  return { kind: nameAt(owner, 'kind'), name: nameAt(owner, 'name') };
}

function nameAt(value: JsonObject, key: string): string {
  return textAt(value, key, NAME_MAX_CHARS);
}
