// Containers: the images that the node's runtimes hold, and the pods that the cluster runs here. Each is a section of its own
// in the inventory; one that nobody has told yet is left out, so that nothing looks empty that is only unknown. decision: D76
import type { InventoryItem, InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { SensorCapability } from '../../capability.ts';
import type { Listed } from '../../telemetry/shortened.ts';
import type { InventoryGroup } from '../inventory/inventory-group.ts';
import { containersSection } from '../telemetry/section.ts';

export const containers: SensorCapability<null> = {
  name: 'containers',
  open: ({ ports }) => ({
    service: null,
    inventory: [
      groupOf('container_images', () => ports.telemetry.images()),
      groupOf('kubernetes', async () => ports.cluster.pods()),
    ],
  }),
};

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
