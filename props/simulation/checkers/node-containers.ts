// Container images and pods: what the Console has stored of a node is what the node's runtimes and its cluster told, once
// nothing comes and goes any more, although they travel as changes on what was told before. Only where inventories are told
// every few seconds is the calm at the end long enough. decision: D76
import type { InventoryItem } from '../../../machines/wire/inventory.ts';
import { distinctItems, sectionText } from '../../../machines/wire/inventory-text.ts';
import type { NodeHost } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { TOLD_WITHIN_MS } from './loss-ledger.ts';
import { stateOf, statusOf } from './node-files.ts';

const SECTIONS = ['container_images', 'kubernetes'] as const;

export const nodeContainers: CheckerKind = {
  name: 'node-containers',
  promise: 'What the Console has of the images and pods of a node is what the node was told (D76).',
  make(fleet, report) {
    const { INVENTORY_INTERVAL_MS, INVENTORY_REPEAT_MS } = fleet.intervals;

    function judge(node: NodeHost): void {
      const state = stateOf(node);
      if (state === null || state.trust_state === 'trust_revoked' || !node.isUp()) return;
      if (statusOf(node)?.state !== 'running') return;
      const shown = node.containers.shown();
      for (const name of SECTIONS) {
        const has = shown[name];
        const stored = fleet.stores.relational.section(state.sensor_id, name)?.items ?? null;
        if (textOf(stored) !== textOf(has)) {
          report(`${node.name} has ${name} ${textOf(has)}, and the Console has ${textOf(stored)}`);
        }
      }
    }

    return {
      finish() {
        if (INVENTORY_INTERVAL_MS + INVENTORY_REPEAT_MS >= TOLD_WITHIN_MS) return;
        for (const node of fleet.nodes) judge(node);
      },
    };
  },
};

/** None stored and none to have are one. */
function textOf(items: readonly InventoryItem[] | null): string {
  return sectionText(distinctItems(items ?? []));
}
