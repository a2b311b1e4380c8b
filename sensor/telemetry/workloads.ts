// The workloads of this node's containers, kept up to date beside the events: an unknown container asks for a new look,
// but not more often than every few seconds, and nobody waits for it. A round that fails leaves what is known.
import {
  KUBERNETES_REFRESH_MIN_MS,
  KUBERNETES_REFRESH_MS,
} from '../../machines/pipeline-limits.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { containerKey } from '../pipeline/container-id.ts';
import type { NodeContext, Workload } from '../pipeline/node-context.ts';
import { type KubernetesAccess, readWorkloads, type Workloads } from './kubernetes-lists.ts';
import { lookAtProcess } from './process-look.ts';
import type { Listed } from './shortened.ts';

/** What the cluster says beside events. */
export type Cluster = {
  /** The pods of this node as they were told last; null outside of a cluster and before it has told any. */
  pods(): Listed<InventoryItem> | null;
};

/** What the running node and, inside a cluster, its Kubernetes API tell. */
export function createNodeContext(
  access: KubernetesAccess | null,
  options: {
    readonly read?: (access: KubernetesAccess) => Promise<Workloads>;
    readonly monotonicNow?: () => number;
    /** Hears why the workloads are not told, once a reason; null when they are again. */
    readonly tell?: (reason: string | null) => void;
  } = {},
): NodeContext & Cluster {
  const { read = readWorkloads, monotonicNow = () => performance.now(), tell } = options;
  let told: string | null = null;
  let known: Workloads | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;

  function ask(from: KubernetesAccess): void {
    isAsking = true;
    askedAtMs = monotonicNow();
    void read(from)
      .then(
        (found) => {
          known = found;
          tellOnce(null);
        },
        (error: unknown) => tellOnce(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        isAsking = false;
      });
  }

  function tellOnce(reason: string | null): void {
    if (reason === told) return;
    told = reason;
    tell?.(reason);
  }

  function askAfter(waitMs: number): void {
    if (access !== null && !isAsking && monotonicNow() - askedAtMs >= waitMs) ask(access);
  }

  // The first containers are there before their events are.
  if (access !== null) ask(access);
  return {
    look: (pid) => lookAtProcess(pid),
    workloadOf(containerId): Workload | undefined {
      const key = containerKey(containerId);
      if (access === null || key === undefined) return undefined;
      const found = known?.containers.get(key);
      askAfter(found === undefined ? KUBERNETES_REFRESH_MIN_MS : KUBERNETES_REFRESH_MS);
      return found;
    },
    pods() {
      askAfter(KUBERNETES_REFRESH_MS);
      return known?.pods ?? null;
    },
  };
}
