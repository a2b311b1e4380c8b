// Connections and listening services: what the Console has stored of a node is what the node has, once nothing comes and
// goes any more, although most heartbeats leave both lists out. decision: D49
import { distinctItems, sectionText } from '../../../machines/wire/inventory-text.ts';
import type { NodeHost } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { TOLD_WITHIN_MS } from './loss-ledger.ts';
import { stateOf, statusOf } from './node-files.ts';

const SECTIONS = ['connections', 'listening_services'] as const;

export const nodeSockets: CheckerKind = {
  name: 'node-sockets',
  promise: 'What the Console has stored of the sockets of a node is what the node has (D49).',
  make(fleet, report) {
    function judge(node: NodeHost): void {
      const state = stateOf(node);
      if (state === null || state.trust_state === 'trust_revoked' || !node.isUp()) return;
      if (statusOf(node)?.state !== 'running') return;
      for (const name of SECTIONS) {
        const stored = fleet.stores.relational.section(state.sensor_id, name)?.items ?? [];
        const has = textOf(node.sockets.shown()[name]);
        if (textOf(stored) !== has) {
          report(`${node.name} has ${name} ${has}, and the Console has ${textOf(stored)}`);
        }
      }
    }

    return {
      finish() {
        // What PostgreSQL forgot is told again with the next repeat, which may be later than the end.
        const isRepeated = fleet.intervals.INVENTORY_REPEAT_MS < TOLD_WITHIN_MS;
        if (fleet.forgets && !isRepeated) return;
        for (const node of fleet.nodes) judge(node);
      },
    };
  },
};

function textOf(items: readonly Readonly<Record<string, unknown>>[]): string {
  return sectionText(distinctItems(items));
}
