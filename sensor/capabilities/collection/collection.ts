// Collection: the export becomes events in the spool; on the way habits are learned and flows are counted. decision: D13
import type { Baseline } from '../../../machines/wire/baseline.ts';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability } from '../../capability.ts';
import { createFlowTable } from '../../telemetry/flows.ts';
import type { HeldSection, InventoryGroup } from '../inventory/inventory-group.ts';
import { wholeSection } from '../telemetry/section.ts';
import { startCollector } from './collector.ts';
import { type Habits, openHabits } from './habits.ts';

export const collection: SensorCapability<null> = {
  name: 'collection',
  async open(context) {
    const habits = await openHabits(context, context.config.stateDir);
    const flows = createFlowTable();
    const { exportFile, sensorId, spooled } = context;
    return {
      service: null,
      collect() {
        const collector = startCollector(
          { ...context, habits, flows },
          exportFile,
          sensorId,
          spooled,
        );
        return collector.stop;
      },
      forward: () => ({
        heartbeat() {
          const told = flows.report();
          return { text: membersText({ flows: told.flows }), heard: told.confirm };
        },
      }),
      inventory: [habitsGroup(habits)],
      status: () => ({ monitored: context.facts.monitored }),
      close: habits.close,
    };
  },
};

/**
 * Told whenever they are drawn up anew, also when they are as they were. A request that came once more or late may have put
 * earlier habits in the place of the last ones, and nothing else would tell: a change of nothing asks whether the Console
 * holds what it is put on. None are told, too: a node that was set up anew under its identity knows nothing of what it told
 * before.
 */
export function habitsGroup(habits: Pick<Habits, 'items'>): InventoryGroup {
  /** What was told last, as it was drawn up then. */
  let told: readonly Baseline[] | null = null;
  let last: { readonly held: HeldSection; readonly items: readonly Baseline[] } | null = null;
  return {
    async read() {
      const items = habits.items();
      last = { held: { ...wholeSection(items), isDue: items !== told }, items };
      return new Map([['baselines', last.held]]);
    },
    stored(_, held) {
      if (last?.held === held) told = last.items;
    },
  };
}
