// The spool holds no more than its cap, drops only when it is full, and tells the same numbers everywhere. The cap is
// read from the options of the run, not from the Sensor. That only the oldest go and all are counted is judged where
// every event is followed (accounting.ts). Excuse: a journal of which a line is damaged shows drops that cannot be added
// up; those are left out. invariant: I5
import type { NodeHost } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';
import { dropsOf, spoolOf, statusOf } from './node-files.ts';

type Seen = { discarded: number; counted: number };

export const spoolBound: CheckerKind = {
  name: 'spool-bound',
  promise: 'The spool holds at most its cap and drops only when it is full (I5).',
  make(fleet, report) {
    const cap = fleet.spoolEventsMax;
    const nodes = new Map<string, Seen>();

    function lookAtDrops(node: NodeHost): void {
      const held = spoolOf(node);
      if (held === null || held.damaged > 0) return;
      const wrong = dropsOf(node).find(({ depthAfter }) => depthAfter !== cap);
      if (wrong === undefined) return;
      report(`${node.name} dropped ${wrong.count} and kept ${wrong.depthAfter} of ${cap}`);
    }

    function look(node: NodeHost): void {
      const status = statusOf(node);
      if (status === null) return;
      const { depth, discarded } = status.spool;
      const seen = ensure(nodes, node.name, () => ({ discarded: 0, counted: 0 }));
      if (depth > cap) report(`${node.name} holds ${depth} events of ${cap}`);
      if (discarded > seen.discarded) lookAtDrops(node);
      seen.discarded = discarded;
      const { spool_depth: told, discarded: counted } = status.pipeline;
      if (told !== depth || counted !== discarded) {
        report(
          `${node.name} tells ${told} held and ${counted} dropped, and has ${depth} and ${discarded}`,
        );
      }
    }

    function lookAtAll(): void {
      for (const node of fleet.nodes) look(node);
    }

    return {
      probe: lookAtAll,
      finish() {
        lookAtAll();
        for (const node of fleet.nodes) {
          const kept = spoolOf(node)?.keys.length ?? 0;
          if (kept > cap)
            report(`${node.name} has ${kept} events on its disk, and may have ${cap}`);
          lookAtDrops(node);
        }
      },
    };
  },
};
