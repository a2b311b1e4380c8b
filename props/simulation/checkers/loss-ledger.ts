// No loss is unseen: what a node has settled in its ledger, the Console knows, and no more than that, also in the sums over
// the fleet and whatever identities the node had; and events that the
// engine's rotation removed before they were read are in the ledger. A change is asked for when it is old enough to have
// been told and written; the end of a run grants that time after the last accident, since before it a node may have been
// cut off for as long as accidents like. Excuse: a node whose ledger went back (its disk lost what was not synced, it was set up
// anew) begins anew here, and two nodes under one identity tell two
// ledgers under one name, of which the Console keeps the higher counts. That all the ledger's losses are real, and all real ones of the spool in it, is judged where
// every event is followed (accounting.ts). invariant: I19
import { LOSS_PLACES } from '../../../machines/wire/loss.ts';
import type { NodeHost } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';
import { spoolOf, stateOf, statusOf } from './node-files.ts';

const NAMES = ['seen', ...LOSS_PLACES] as const;
/** Two heartbeats, and the write of what they told, in a fleet that is well. */
export const TOLD_WITHIN_MS = 120_000;

type Counts = Readonly<Record<string, number>>;
type Own = {
  /** Settled so long ago that the Console must know. */
  ripe: Counts | null;
  young: { readonly atMs: number; readonly counts: Counts }[];
  wentBack: boolean;
  /** Removed by rotation, with the time. */
  removed: { readonly key: string; readonly atMs: number }[];
};

type Noise = {
  /** Lines that are no events. */
  lines: number;
  /** Lines of events in a file that no head counts any more. */
  late: number;
  /** Events removed before the node was first looked at. */
  early: number;
};

export const lossLedger: CheckerKind = {
  name: 'loss-ledger',
  promise: 'What a node lost the Console knows, all of it and no more (I19).',
  make(fleet, report) {
    const nodes = new Map<string, Own>();
    const noises = new Map<string, Noise>();
    const stored = new Set<string>();
    /** Set up anew once: what its sums held before stands in no file any more. */
    const wiped = new Set<string>();
    /** Confirmations are not synced: what was told of them may be ahead of the disk, also when no look saw it go back. */
    const lostPower = new Set<string>();
    /** Other nodes told losses in their name. */
    const copied = new Set<string>();
    const ownOf = (name: string): Own =>
      ensure(nodes, name, () => ({ ripe: null, young: [], wentBack: false, removed: [] }));

    const noiseOf = (name: string): Noise =>
      ensure(noises, name, () => ({ lines: 0, late: 0, early: 0 }));

    function follow(node: NodeHost, atMs: number): void {
      const counts = statusOf(node)?.spool.settled;
      if (counts === undefined) return;
      const own = ownOf(node.name);
      const last = own.young.at(-1)?.counts ?? own.ripe;
      if (last !== null && NAMES.some((name) => (counts[name] ?? 0) < (last[name] ?? 0))) {
        own.ripe = null;
        own.young = [];
        own.wentBack = true;
      }
      own.young.push({ atMs, counts });
      while (own.young[0] !== undefined && atMs - own.young[0].atMs >= TOLD_WITHIN_MS) {
        own.ripe = own.young.shift()?.counts ?? null;
      }
    }

    /**
     * All that is known of the node. One that got a new identity goes on with its journal, and what was confirmed to the
     * earlier identity is not told again, or is told once more as a part of a higher count of that hour.
     */
    function knownOf(node: NodeHost, sensorId: string): Counts {
      const streamId = spoolOf(node)?.streamId;
      const hours = new Map<string, Counts>();
      for (const row of fleet.stores.analytics.coverage()) {
        if (row.sensorId !== sensorId && row.streamId !== streamId) continue;
        const hour = `${row.streamId} ${row.hourMs}`;
        const old = hours.get(hour);
        const most = NAMES.map((name) => [name, Math.max(old?.[name] ?? 0, row[name])] as const);
        hours.set(hour, Object.fromEntries(most));
      }
      const known: Record<string, number> = {};
      for (const counts of hours.values()) {
        for (const name of NAMES) known[name] = (known[name] ?? 0) + (counts[name] ?? 0);
      }
      return known;
    }

    /** Of one state directory of the sensor, or of every one. */
    function toldOf(sensorId: string, streamId: string | null): Counts {
      const told: Record<string, number> = {};
      for (const row of fleet.stores.analytics.coverage()) {
        if (row.sensorId !== sensorId) continue;
        if (streamId !== null && row.streamId !== streamId) continue;
        for (const name of NAMES) told[name] = (told[name] ?? 0) + row[name];
      }
      return told;
    }

    function judge(node: NodeHost, atMs: number): void {
      const state = stateOf(node);
      if (state === null || state.trust_state === 'trust_revoked' || !node.isUp()) return;
      if (statusOf(node)?.state !== 'running') return;
      const own = ownOf(node.name);
      const told = knownOf(node, state.sensor_id);
      for (const name of NAMES) {
        const [known, settled] = [told[name] ?? 0, own.ripe?.[name] ?? 0];
        if (known < settled) {
          report(`${node.name} settled ${settled} as ${name}, and the Console knows of ${known}`);
        }
      }
      judgeExcess(node, own, state.sensor_id);
      judgeSums(node, own);
      judgePruned(node, own, { told, atMs });
    }

    function judgeExcess(node: NodeHost, own: Own, sensorId: string): void {
      const held = spoolOf(node);
      if (own.wentBack || lostPower.has(node.name) || held === null || held.damaged > 0) return;
      if (copied.has(node.name)) return;
      const told = toldOf(sensorId, held.streamId);
      const now: Counts = held.spool.ledger.total;
      for (const name of NAMES) {
        const [known, settled] = [told[name] ?? 0, now[name] ?? 0];
        if (known > settled) {
          report(`${node.name} settled ${settled} as ${name}, and the Console has ${known}`);
        }
      }
    }

    /** What the fleet's sums hold of a node, under whatever identities, is no more than it settled. */
    function judgeSums(node: NodeHost, own: Own): void {
      const held = spoolOf(node);
      const isUnsure = own.wentBack || wiped.has(node.name) || lostPower.has(node.name);
      if (isUnsure || copied.has(node.name) || held === null || held.damaged > 0) return;
      const { nodeOf } = fleet.stores.relational;
      const sums = fleet.stores.analytics
        .coverageOfFleet()
        .filter(({ sensorId }) => nodeOf(sensorId) === node.name);
      const now: Counts = held.spool.ledger.total;
      for (const name of NAMES) {
        const [known, settled] = [sums.reduce((sum, row) => sum + row[name], 0), now[name] ?? 0];
        if (known > settled) {
          report(`${node.name} settled ${settled} as ${name}, and the fleet's sums have ${known}`);
        }
      }
    }

    /** Lines that nobody read count as skipped, each once; lines that are no events may count as well. */
    function judgePruned(
      node: NodeHost,
      own: Own,
      { told, atMs }: { readonly told: Counts; readonly atMs: number },
    ): void {
      const found = spoolOf(node);
      if (own.wentBack || found === null || found.damaged > 0) return;
      const held = new Set(found.keys);
      const gone = own.removed.filter(({ key }) => !stored.has(key) && !held.has(key));
      const ripe = gone.filter((one) => atMs - one.atMs >= TOLD_WITHIN_MS);
      const noise = noiseOf(node.name);
      // What the spool dropped after it was read is in another place of the ledger.
      const dropped = (told['spool_discarded'] ?? 0) + (told['console_refused'] ?? 0);
      const skipped = told['reader_skipped'] ?? 0;
      if (ripe.length - dropped - noise.late > skipped) {
        const what = `${ripe.length} events unread, from ${ripe[0]?.key}, dropped ${dropped}`;
        report(`${node.name} lost ${what}, and told ${skipped}`);
      }
      if (lostPower.has(node.name) || wiped.has(node.name)) return;
      const settled = found.spool.ledger.total.reader_skipped;
      if (settled > gone.length + noise.early + noise.lines) {
        const what = `${gone.length} events unread and wrote ${noise.lines} other lines`;
        report(`${node.name} lost ${what}, and counted ${settled}`);
      }
    }

    return {
      observe(seen, atMs) {
        if (seen.kind === 'events.stored') {
          for (const { events } of seen.batches) for (const key of events) stored.add(key);
        }
        if (seen.kind === 'engine.rotated') {
          const removed = seen.removed.map((key) => ({ key, atMs }));
          if (nodes.has(seen.node)) ownOf(seen.node).removed.push(...removed);
          else noiseOf(seen.node).early += removed.length;
        }
        if (seen.kind === 'engine.noise') {
          const noise = noiseOf(seen.node);
          noise.lines += seen.lines;
          noise.late += seen.late;
        }
        if (seen.kind === 'process.ended' && seen.how === 'power_lost') lostPower.add(seen.host);
        if (seen.kind === 'node.copied') copied.add(seen.node);
        if (seen.kind === 'node.wiped') {
          nodes.delete(seen.node);
          wiped.add(seen.node);
        }
      },
      probe(atMs) {
        for (const node of fleet.nodes) follow(node, atMs);
      },
      finish(atMs) {
        for (const node of fleet.nodes) judge(node, atMs);
      },
    };
  },
};
