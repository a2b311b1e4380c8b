// The workloads of this node's containers, kept up to date beside the events: listed once, then kept by the changes that
// the cluster tells. Where it tells none, an unknown container asks for a new list, but not more often than every few
// seconds. Nobody waits for any of it, and a round that fails leaves what is known. decision: D120
import {
  KUBERNETES_REFRESH_MIN_MS,
  KUBERNETES_REFRESH_MS,
} from '../../machines/pipeline-limits.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { containerKey } from '../pipeline/container-id.ts';
import type { NodeContext, Workload } from '../pipeline/node-context.ts';
import { createPodBook, type PodBook, type Workloads } from '../pipeline/pod-book.ts';
import { apiPeer, type KubernetesAccess, podsPath, readPods } from './kubernetes-lists.ts';
import { type WatchEnd, watch } from './kubernetes-watch.ts';
import { lookAtProcess } from './process-look.ts';
import type { Listed } from './shortened.ts';

/** What the cluster says beside events. */
export type Cluster = {
  /** The pods of this node as they were told last; null outside of a cluster and before it has told any. */
  pods(): Listed<InventoryItem> | null;
};

type ContextOptions = {
  readonly monotonicNow?: () => number;
  /** Hears why the workloads are not told as they should be, once a reason; null when they are again. */
  readonly tell?: (reason: string | null) => void;
};

/** What the running node and, inside a cluster, its Kubernetes API tell. */
export function createNodeContext(
  access: KubernetesAccess | null,
  options: ContextOptions = {},
): NodeContext & Cluster {
  const cluster = access === null ? null : followCluster(access, options);
  return {
    look: (pid) => lookAtProcess(pid),
    workloadOf(containerId): Workload | undefined {
      const key = containerKey(containerId);
      if (cluster === null || key === undefined) return undefined;
      const found = cluster.workloads()?.containers.get(key);
      cluster.askAfter(found === undefined ? KUBERNETES_REFRESH_MIN_MS : KUBERNETES_REFRESH_MS);
      return found;
    },
    pods() {
      cluster?.askAfter(KUBERNETES_REFRESH_MS);
      return cluster?.workloads()?.pods ?? null;
    },
  };
}

type Following = {
  workloads(): Workloads | null;
  /** Lists anew when nobody tells changes and the last list is so old. */
  askAfter(waitMs: number): void;
};

function followCluster(
  access: KubernetesAccess,
  { monotonicNow = () => performance.now(), tell }: ContextOptions,
): Following {
  let told: string | null = null;
  let book: PodBook | null = null;
  let listedAtMs = Number.NEGATIVE_INFINITY;
  let isFollowing = false;
  const mayList = (): boolean => monotonicNow() - listedAtMs >= KUBERNETES_REFRESH_MIN_MS;

  async function follow(): Promise<void> {
    let end: WatchEnd;
    do {
      listedAtMs = monotonicNow();
      const listed = createPodBook(await readPods(access));
      book = listed;
      // A kubelet tells no changes.
      if (listed.version() === '') return tellOnce(null);
      end = await watchOn(listed);
    } while (end.kind === 'expired' && mayList());
    if (end.kind === 'failed') throw new Error(end.reason);
  }

  /** Watches again and again, until the list is wanted anew. One that ends at once is not begun again. */
  async function watchOn(listed: PodBook): Promise<WatchEnd> {
    for (;;) {
      const beganAtMs = monotonicNow();
      const end = await watchOnce(access, listed, { opened: () => tellOnce(null), mayList });
      if (end.kind !== 'over') return end;
      if (listed.wantsOwners()) return { kind: 'expired' };
      if (monotonicNow() - beganAtMs < KUBERNETES_REFRESH_MIN_MS) return end;
    }
  }

  function start(): void {
    isFollowing = true;
    void follow()
      .catch((error: unknown) => tellOnce(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        isFollowing = false;
      });
  }

  function tellOnce(reason: string | null): void {
    if (reason === told) return;
    told = reason;
    tell?.(reason);
  }

  // The first containers are there before their events are.
  start();
  return {
    workloads: () => book?.workloads() ?? null,
    askAfter(waitMs) {
      if (!isFollowing && monotonicNow() - listedAtMs >= waitMs) start();
    },
  };
}

/** Keeps the list by one watch; ended early when the list is wanted anew, for a pod of an unknown owner. */
async function watchOnce(
  access: KubernetesAccess,
  listed: PodBook,
  { opened, mayList }: { readonly opened: () => void; readonly mayList: () => boolean },
): Promise<WatchEnd> {
  const peer = await apiPeer(access);
  const url = new URL(podsPath(access), access.apiUrl);
  return await watch({ ...peer, url }, listed.version(), {
    opened,
    line(text) {
      const applied = listed.apply(text);
      if (applied === 'expired') return { kind: 'expired' };
      if (applied === 'refused') {
        return { kind: 'failed', reason: `${url.host}: what it tells is no change` };
      }
      return mayList() && listed.wantsOwners() ? { kind: 'expired' } : null;
    },
  });
}
