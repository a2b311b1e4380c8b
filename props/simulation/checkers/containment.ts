// A node that was cut off stays so until somebody lets it go or the end comes that its order named, whatever ends on the way;
// after its power was lost the rules are back before it asks a Console for anything; and once all is well each node is as
// the last order has it, also where that was over by a wrong clock when it came. What was asked and never answered may have
// been ordered or not. A free node that hears two old orders at once, after a disk that hung, is free as before: rules that
// lay in force for no time are none. decision: D85, D86, D168
import type { ContainmentObservation } from '../world/containment-observation.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';
import { stateOf } from './node-files.ts';

type Asked = Extract<ContainmentObservation, { readonly kind: 'containment.asked' }>;
type Order = {
  readonly asked: Asked;
  outcome: 'unknown' | 'placed' | 'refused';
  /** When it was certain; never is later than everything. */
  placedAtMs: number;
  /** By the clock of its node, which may have been ahead, it was over once while rules lay in force: that is for good. */
  wasOver: boolean;
};
type Rules = {
  /** Put in force by the Sensor, and not lifted by it since. */
  isMeant: boolean;
  appliedAtMs: number;
  /** The life with whose power they went; null once they are back. */
  lostWith: number | null;
};
/** Clocks of hosts are set right when all is healed; an end so near may have come or not. */
const NEAR_MS = 300_000;

export const containment: CheckerKind = {
  name: 'containment',
  promise: 'A contained node stays so until it is released or its order ends, whatever dies.',
  make(fleet, report) {
    const { sensors } = fleet.stores.relational.state;
    const orders = new Map<string, Order[]>();
    const byAct = new Map<number, Order>();
    const nodes = new Map<string, Rules>();
    const rulesOf = (node: string) =>
      ensure(nodes, node, () => ({ isMeant: false, appliedAtMs: 0, lostWith: null }));
    const nodeNamed = (name: string) => fleet.nodes.find((one) => one.name === name);

    function note(seen: Asked): void {
      const order: Order = {
        asked: seen,
        outcome: 'unknown',
        placedAtMs: Number.POSITIVE_INFINITY,
        wasOver: false,
      };
      byAct.set(seen.act, order);
      ensure(orders, seen.sensor, (): Order[] => []).push(order);
    }

    /** Whether some order that may stand allows a node to be free, beside the newest that certainly stands. */
    function mayBeFree(sensor: string, nowMs: number, appliedAtMs: number): boolean {
      const all = (orders.get(sensor) ?? []).filter(({ outcome }) => outcome !== 'refused');
      const isFreeing = ({ asked: { wanted, untilMs } }: Order): boolean =>
        wanted === 'released' || (untilMs !== null && untilMs <= nowMs);
      const last = all.findLastIndex(({ outcome }) => outcome === 'placed');
      const newest = all[last];
      if (newest === undefined || isFreeing(newest)) return true;
      // What came into force before that order was known may still be lifted by the one before.
      if (appliedAtMs < newest.placedAtMs) return true;
      return all.slice(last + 1).some(isFreeing);
    }

    /** Looks at the clocks of cut off nodes whose newest order names an end. */
    function lookAtClocks(): void {
      for (const node of fleet.nodes) {
        const last = (orders.get(stateOf(node)?.sensor_id ?? '') ?? []).at(-1);
        const untilMs = last?.asked.untilMs ?? null;
        if (last === undefined || untilMs === null) continue;
        if (rulesOf(node.name).isMeant && node.clock.wallNow() >= untilMs) last.wasOver = true;
      }
    }

    return {
      probe: lookAtClocks,
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'containment.asked':
            note(seen);
            break;
          case 'containment.placed':
          case 'containment.refused': {
            const order = byAct.get(seen.act);
            if (order === undefined) break;
            order.outcome = seen.kind === 'containment.placed' ? 'placed' : 'refused';
            order.placedAtMs = atMs;
            lookAtClocks();
            break;
          }
          case 'relational.forgot':
            for (const order of [...orders.values()].flat()) {
              const isDoubtful = order.outcome === 'placed' && order.placedAtMs > seen.sinceMs;
              if (isDoubtful) order.outcome = 'unknown';
            }
            break;
          case 'process.ended':
            if (seen.how === 'power_lost') rulesOf(seen.host).lostWith = seen.incarnation;
            break;
          case 'node.wiped':
            nodes.delete(seen.node);
            break;
          case 'filter.applied': {
            const rules = rulesOf(seen.node);
            if (!rules.isMeant) rules.appliedAtMs = atMs;
            rules.isMeant = true;
            rules.lostWith = null;
            break;
          }
          case 'filter.lifted': {
            const rules = rulesOf(seen.node);
            const node = nodeNamed(seen.node);
            const sensor = node === undefined ? undefined : stateOf(node)?.sensor_id;
            rules.isMeant = false;
            if (rules.appliedAtMs === atMs) break;
            if (node === undefined || sensor === undefined) break;
            if (mayBeFree(sensor, node.clock.wallNow(), rules.appliedAtMs)) break;
            report(`${seen.node} lifted its rules, and nobody let it go`);
            break;
          }
          case 'request.accepted': {
            // A copy shows the same certificate, and what an earlier life asked may arrive late: who asks is told by the asker.
            if (seen.from === null) break;
            const { host, incarnation } = seen.from;
            const { isMeant, lostWith } = rulesOf(host);
            if (!isMeant || lostWith === null || incarnation <= lostWith) break;
            report(`${host} asked for ${seen.path} before its rules were back`);
            break;
          }
        }
      },
      finish() {
        for (const node of fleet.nodes) {
          const sensor = stateOf(node)?.sensor_id ?? '';
          if (sensors.get(sensor)?.revokedAtMs !== null || !node.isUp()) continue;
          const last = (orders.get(sensor) ?? []).findLast(({ outcome }) => outcome !== 'refused');
          if (last === undefined || last.outcome === 'unknown') continue;
          const { wanted, untilMs } = last.asked;
          const leftMs = untilMs === null ? NEAR_MS : untilMs - node.clock.wallNow();
          if (Math.abs(leftMs) < NEAR_MS || (leftMs > 0 && last.wasOver)) continue;
          const isWanted = wanted === 'contained' && leftMs > 0;
          if (node.isCutOff() === isWanted) continue;
          report(
            `${node.name} is ${isWanted ? 'not ' : ''}cut off, and the last order says ${wanted}`,
          );
        }
      },
    };
  },
};
