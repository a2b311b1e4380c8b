// The body of POST /sensors/inventory.
import { INVENTORY_SECTIONS, InventoryRequest } from '../../../machines/wire/inventory.ts';
import { bodyTarget } from '../body-target.ts';
import { inventoryRequest } from '../samples.ts';
import { demand } from '../target.ts';

const NAME_MAX_CHARS = 128;
const hash = 'b'.repeat(64);

export default bodyTarget({
  name: 'inventory-body',
  schema: InventoryRequest,
  samples: [
    inventoryRequest,
    { is_full_snapshot: true, sections: {} },
    { is_full_snapshot: true, sections: { kubernetes: { hash, items: [{ 'a\nb': 1 }] } } },
    { is_full_snapshot: true, sections: { telecom: { hash, items: [{ ['x'.repeat(129)]: 1 }] } } },
    { is_full_snapshot: true, sections: { unknown: { hash, items: [] } } },
  ],
  check({ sections }) {
    for (const name of INVENTORY_SECTIONS) {
      const section = sections[name];
      if (section === undefined) continue;
      const items = section.items ?? [...section.added, ...section.removed];
      for (const key of items.flatMap((item) => Object.keys(item))) {
        demand([...key].length <= NAME_MAX_CHARS, 'a name of an item is too long');
      }
    }
  },
});
