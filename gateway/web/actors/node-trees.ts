// The statecharts of a node, drawn from the machines themselves.
import { engineMachine } from '../../../machines/sensor/engine.machine.ts';
import { heartbeatMachine } from '../../../machines/sensor/heartbeat.machine.ts';
import { nodeMachine } from '../../../machines/sensor/node.machine.ts';
import { renewalMachine } from '../../../machines/sensor/renewal.machine.ts';
import { spoolMachine } from '../../../machines/sensor/spool.machine.ts';
import { streamMachine } from '../../../machines/sensor/stream.machine.ts';
import { type StateTree, treeOf } from './state-tree.ts';

/** By the name under which the node reports it. */
export const NODE_TREES: Readonly<Record<string, StateTree>> = {
  node: treeOf(nodeMachine),
  stream: treeOf(streamMachine),
  heartbeat: treeOf(heartbeatMachine),
  engine: treeOf(engineMachine),
  spool: treeOf(spoolMachine),
  renewal: treeOf(renewalMachine),
};

/** Every state that a reported value is in: `open.resting` is in `open`, too. */
export function statesIn(value: string): readonly string[] {
  const paths = value.split(' ').filter((path) => path !== '');
  return [
    ...new Set(
      paths.flatMap((path) => {
        const parts = path.split('.');
        return parts.map((_, end) => parts.slice(0, end + 1).join('.'));
      }),
    ),
  ];
}
