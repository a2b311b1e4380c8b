// Where every event went. When the fleet is well again, each event an engine wrote is stored, or its loss has a reason:
//   pruned    the engine's own rotation removed it before the Sensor had it in its journal
//   lost      the power took the unsynced end of the export, and the journal did not hold it
//   wiped     its node was set up anew, or its identity was revoked and the node says so
//   unread    it stands in the export behind the Sensor's cursor: written while the fleet was judged
//   held      it stands in the journal: on its way while the fleet was judged by a status file that is seconds old. Whether
//             it ever leaves the journal is a question of liveness, not of accounting
//   dropped   the spool was full; the Sensor counted at least as many as are missing, and only older ones are missing
//             than what it kept (told while no loss of power made it read its export again)
// What was pruned just before the power went counts as lost when the journal does not hold it after all: the disk owed
// nothing for what was not synced yet. Damage that a disk did to the journal is counted there. A copy of a node is judged before it is
// thrown away. invariant: I1, I5
import { type ExportCursor, parseExportCursor } from '../../../sensor/engine/export-cursor.ts';
import type { NodeHost } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { createKeyColumn, ensure } from './columns.ts';
import { exportedKeysOf, spoolOf, stateOf, statusOf } from './node-files.ts';

const STORED = 1;
const EXCUSED = 2;
const WRITTEN = 4;
/** A disk writes what is not synced within half of this. */
const UNSYNCED_MAX_MS = 60_000;

type Own = {
  /** Pruned while the journal held it, and when. */
  readonly prunedHeld: Map<string, number>;
  /** Drops and damaged lines, of the streams before this one and of this one so far. */
  before: number;
  now: number;
  /** Place of the oldest event that was held after the newest drop; null once the order cannot be told. */
  oldestHeld: number | null;
};

export const accounting: CheckerKind = {
  name: 'accounting',
  promise: 'Every event is stored, or its loss is counted and has a reason (I1, I5).',
  make(fleet, report) {
    const keys = createKeyColumn();
    /** The order in which the engine of a node wrote. */
    const places = createKeyColumn();
    /** What a suspended host does not write back meanwhile is not written. */
    const awake = (ms: number): number => ms - fleet.world.scheduler.sleptMs();
    let written = 0;
    const nodes = new Map<string, Own>();
    /** What the journal of a copy says about the export of its original. */
    const inherited = new Map<string, string>();
    const add = (key: string, flag: number): void => keys.set(key, keys.get(key) | flag);
    const isOpen = (key: string): boolean => (keys.get(key) & (STORED | EXCUSED)) === 0;
    const ownOf = (node: string): Own =>
      ensure(nodes, node, () => ({ prunedHeld: new Map(), before: 0, now: 0, oldestHeld: 0 }));

    function hostNamed(name: string): NodeHost | undefined {
      return [...fleet.nodes, ...fleet.copies.ever()].find((one) => one.name === name);
    }

    function heldBy(name: string): ReadonlySet<string> {
      const node = hostNamed(name);
      return new Set(node === undefined ? [] : spoolOf(node)?.keys);
    }

    /** Excuses those of the events that nobody has any more. */
    function excuse(name: string, events: readonly string[], atMs: number): void {
      const open = events.filter(isOpen);
      if (open.length === 0) return;
      const held = heldBy(name);
      for (const key of open) {
        if (held.has(key)) ownOf(name).prunedHeld.set(key, awake(atMs));
        else add(key, EXCUSED);
      }
    }

    function losePower(name: string, atMs: number): void {
      ownOf(name).oldestHeld = null;
      const { prunedHeld } = ownOf(name);
      const young = [...prunedHeld].filter(([, at]) => awake(atMs) - at < UNSYNCED_MAX_MS);
      prunedHeld.clear();
      if (young.length > 0)
        excuse(
          name,
          young.map(([key]) => key),
          atMs,
        );
    }

    function count(node: NodeHost): void {
      const status = statusOf(node);
      if (status === null) return;
      const own = ownOf(node.name);
      const { discarded } = status.spool;
      if (discarded < own.now) own.before += own.now;
      else if (discarded > own.now) noteOldest(node, own);
      own.now = discarded;
    }

    function noteOldest(node: NodeHost, own: Own): void {
      if (own.oldestHeld === null) return;
      const oldest = spoolOf(node)?.keys[0];
      own.oldestHeld = oldest === undefined ? written + 1 : places.get(oldest);
    }

    function judge(node: NodeHost): void {
      if (stateOf(node)?.trust_state === 'trust_revoked' || !node.isUp()) return;
      if (statusOf(node)?.state !== 'running') return;
      const missing = [...keys.keysOf(node.name)].map(([key]) => key).filter(isOpen);
      if (missing.length === 0) return;
      const spool = spoolOf(node);
      const cursor = parseExportCursor(spool?.cursor);
      const isOfAnother = JSON.stringify(cursor) === inherited.get(node.name);
      const unread = unreadOf(node, isOfAnother ? undefined : cursor);
      const held = new Set(spool?.keys);
      const gone = missing.filter((key) => !unread.has(key) && !held.has(key));
      const own = ownOf(node.name);
      const now = Math.max(own.now, spool?.spool.discarded ?? 0);
      const counted = own.before + now + (spool?.damaged ?? 0);
      const [first, last] = [gone[0], gone.at(-1)];
      if (gone.length <= counted) {
        if (now > own.now) noteOldest(node, own);
        const { oldestHeld } = own;
        const young = gone.find((key) => oldestHeld !== null && places.get(key) > oldestHeld);
        if (young !== undefined) report(`${node.name} dropped ${young} and kept what is older`);
        return;
      }
      report(
        `${node.name} misses ${gone.length} events and counted ${counted}: ${first} to ${last}`,
      );
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'engine.wrote':
            for (const key of seen.events) {
              written += 1;
              places.set(key, written);
              add(key, WRITTEN);
            }
            break;
          case 'events.stored':
            for (const { events } of seen.batches) for (const key of events) add(key, STORED);
            break;
          case 'engine.rotated':
            excuse(seen.node, seen.removed, atMs);
            break;
          case 'export.lost':
            excuse(seen.node, seen.events, atMs);
            break;
          case 'process.ended':
            if (seen.how === 'power_lost') losePower(seen.host, atMs);
            break;
          case 'node.copied': {
            const copy = hostNamed(seen.copy);
            const cursor = copy && parseExportCursor(spoolOf(copy)?.cursor);
            inherited.set(seen.copy, JSON.stringify(cursor));
            break;
          }
          case 'copy.leaves': {
            const copy = hostNamed(seen.copy);
            if (copy !== undefined) judge(copy);
            break;
          }
          case 'node.wiped':
            for (const [key] of keys.keysOf(seen.node)) add(key, EXCUSED);
            nodes.delete(seen.node);
            break;
        }
      },
      probe() {
        for (const node of [...fleet.nodes, ...fleet.copies.all()]) count(node);
      },
      finish() {
        for (const node of fleet.nodes) judge(node);
      },
    };
  },
};

/** Keys that stand in the export behind the cursor. */
function unreadOf(node: NodeHost, cursor: ExportCursor | undefined): ReadonlySet<string> {
  const unread = new Set<string>();
  let isBehind = cursor === undefined;
  for (const { inode, keys } of exportedKeysOf(node)) {
    const isThere = inode === cursor?.inode;
    for (const [key, end] of keys) {
      if (isBehind || (isThere && end > (cursor?.offset ?? 0))) unread.add(key);
    }
    isBehind ||= isThere;
  }
  return unread;
}
