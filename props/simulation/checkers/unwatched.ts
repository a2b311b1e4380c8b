// Programs that begin while no engine of their node watches: begun = stored + held + counted. None of these is stored or held,
// for nobody saw it; so all of them are counted in the node's ledger, and no more than these and what the disk refused. How
// many began the world says, which drew them; which lines tell of them, the engine that wrote those. Excuses: a line that was
// removed unread takes its count with it (it is one line among the skipped), and so does the unsynced end of a file that the
// power took; a ledger that lost what was not synced, or that was set up anew, begins anew. invariant: I19
import type { NodeHost } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';
import { TOLD_WITHIN_MS } from './loss-ledger.ts';
import { spoolOf, stateOf, statusOf } from './node-files.ts';

type Told = { readonly key: string; readonly count: number; readonly atMs: number };
type Own = {
  /** Programs that began unseen. */
  begun: number;
  /** Lines that tell of losses, and how many each. */
  told: Told[];
  gone: Set<string>;
  /** Its ledger began anew, or may have gone back. */
  isUnsure: boolean;
};

export const unwatched: CheckerKind = {
  name: 'unwatched',
  promise: 'What began while no engine watched is counted, all of it and no more (I19).',
  make(fleet, report) {
    const nodes = new Map<string, Own>();
    const ownOf = (name: string): Own =>
      ensure(nodes, name, () => ({ begun: 0, told: [], gone: new Set(), isUnsure: false }));

    function judge(node: NodeHost, atMs: number): void {
      const state = stateOf(node);
      const found = spoolOf(node);
      const own = ownOf(node.name);
      if (state === null || found === null || own.isUnsure || found.damaged > 0) return;
      if (state.trust_state === 'trust_revoked' || !node.isUp()) return;
      if (statusOf(node)?.state !== 'running') return;
      const sumOf = (lines: readonly Told[]): number =>
        lines.reduce((sum, { count }) => sum + count, 0);
      const counted = found.spool.ledger.total.engine_lost;
      const most = sumOf(own.told);
      const ripe = own.told.filter((one) => atMs - one.atMs >= TOLD_WITHIN_MS);
      const least = sumOf(ripe.filter(({ key }) => !own.gone.has(key)));
      if (most < own.begun) {
        report(`${node.name}: ${own.begun} programs began unseen, and its engine told ${most}`);
      }
      if (counted < least || counted > most) {
        const asked = `${own.begun} programs began unseen, of ${least} to ${most} lost`;
        report(`${node.name}: ${asked}, and it counted ${counted}`);
      }
    }

    return {
      observe(seen, atMs) {
        if (seen.kind === 'programs.unwatched') ownOf(seen.node).begun += seen.count;
        if (seen.kind === 'engine.counted') {
          ownOf(seen.node).told.push({ key: seen.key, count: seen.count, atMs });
        }
        if (seen.kind === 'engine.rotated') {
          for (const key of seen.removed) ownOf(seen.node).gone.add(key);
        }
        if (seen.kind === 'node.wiped') ownOf(seen.node).isUnsure = true;
        if (seen.kind === 'process.ended' && seen.how === 'power_lost') {
          ownOf(seen.host).isUnsure = true;
        }
      },
      finish(atMs) {
        for (const node of fleet.nodes) judge(node, atMs);
      },
    };
  },
};
