// The container images and the pods of a simulated node: they come and go, and sometimes the runtime or the cluster does not
// answer. What it tells is the text that a Docker and an API server send, read by the Sensor's own parsers.
import type { InventoryItem } from '../../../machines/wire/inventory.ts';
import { podItems } from '../../../sensor/pipeline/pod-items.ts';
import { parseDockerImages } from '../../../sensor/telemetry/images/docker-images.ts';
import { imageItems } from '../../../sensor/telemetry/images/image-item.ts';
import type { Listed } from '../../../sensor/telemetry/shortened.ts';
import type { Random } from './random.ts';

type Told = Listed<InventoryItem> | null;
export type NodeContainers = {
  /** What the runtimes say now; some time has passed since the last look. */
  images(): Told;
  pods(): Told;
  /** What the last looks have shown; null: nothing was told yet. */
  shown(): Readonly<Record<'container_images' | 'kubernetes', readonly InventoryItem[] | null>>;
  /** Nothing comes and goes from now on, and everybody answers. */
  settle(): void;
};

const CHANGE_CHANCE = 0.8;
const SILENT_CHANCE = 0.1;
const KINDS = 6;

/** Makes what containers a node has; one that is not lively has neither a runtime nor a cluster. */
export function createNodeContainers(random: Random, isLively: boolean): NodeContainers {
  const pulled = new Set<number>([0, 1, 2]);
  const running = new Set<number>([3]);
  let changes = isLively;
  let images: Told = null;
  let pods: Told = null;

  function pass(among: Set<number>): boolean {
    if (changes && random.chance(CHANGE_CHANCE)) {
      const one = random.between(0, KINDS - 1);
      if (!among.delete(one)) among.add(one);
    }
    return changes && random.chance(SILENT_CHANCE);
  }

  return {
    images() {
      const isSilent = pass(pulled);
      if (!isLively || isSilent) return images;
      images = imageItems(parseDockerImages(JSON.stringify([...pulled].map(imageOf))) ?? []);
      return images;
    },
    pods() {
      const isSilent = pass(running);
      if (!isLively || isSilent) return pods;
      pods = podItems([...running].map(podOf), new Map());
      return pods;
    },
    shown: () => ({ container_images: images?.items ?? null, kubernetes: pods?.items ?? null }),
    settle() {
      changes = false;
    },
  };
}

function imageOf(n: number): object {
  const RepoTags = n === 0 ? null : [`r.test/app${n}:1`, `r.test/app${n}:latest`];
  return { Id: `sha256:${`${n}`.repeat(64)}`, RepoTags, Size: 1_000 * n, Created: 1_790_000_000 };
}

function podOf(n: number): object {
  const ownerReferences = [{ controller: true, kind: 'DaemonSet', name: `agent${n}` }];
  return {
    metadata: { namespace: 'shop', name: `agent${n}-x`, uid: `u${n}`, ownerReferences },
    spec: { containers: [{ image: `r.test/app${n}:1` }], hostNetwork: n === 1 },
    status: { phase: 'Running' },
  };
}
