// Containers: the images that the node's runtimes hold, and the pods that the cluster runs here. Each is a section of its own
// in the inventory; one that nobody has told yet is left out, so that nothing looks empty that is only unknown. decision: D76
import type { InventoryItem, InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { SensorCapability } from '../../capability.ts';
import type { Listed } from '../../telemetry/shortened.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Cluster } from '../../telemetry/workloads.ts';
import type { InventoryGroup } from '../inventory/inventory-group.ts';
import { containersSection } from '../telemetry/section.ts';

export const containers: SensorCapability<null> = {
  name: 'containers',
  open: ({ ports }) => ({
    service: null,
    inventory: containerGroups({
      images: () => ports.telemetry.images(),
      pods: () => ports.cluster.pods(),
    }),
  }),
};

/** Each travels alone, so that neither is too long for the other's sake. */
export function containerGroups(
  node: Pick<Telemetry, 'images'> & Cluster,
): readonly InventoryGroup[] {
  return [
    groupOf('container_images', () => node.images()),
    groupOf('kubernetes', async () => node.pods()),
  ];
}

function groupOf(
  name: InventorySectionName,
  read: () => Promise<Listed<InventoryItem> | null>,
): InventoryGroup {
  return {
    async read() {
      const listed = await read();
      return new Map(listed === null ? [] : [[name, containersSection(listed)]]);
    },
  };
}
