// The inventory: what every capability says of the node, told when it changed and when the Console asks. decision: D49
import type { SensorCapability } from '../../capability.ts';
import { startInventory } from './inventory-sender.ts';

export const inventory: SensorCapability<null> = {
  name: 'inventory',
  open: (context) => ({
    service: null,
    announces: ['inventory.delta'],
    forward() {
      const groups = context.contributions().flatMap((one) => one.inventory ?? []);
      const sender = startInventory(context, groups);
      return {
        heartbeat: () => ({
          text: '',
          heard(answer) {
            if (answer?.report_full_state === true) sender.send(true);
          },
        }),
        frames: {
          refresh: ({ what }) => {
            if (what.includes('inventory')) sender.send(false);
          },
        },
        stop: sender.stop,
      };
    },
  }),
};
