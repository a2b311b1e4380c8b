// Who talked to whom: a flow in a heartbeat that was answered is stored, and stored flows count no connection that the
// engine did not tell, under whatever interleaving of lost answers, repeats and writes that fail. Excuse: a Console keeps
// what it took for a few seconds before it is written, and these are samples, so what a Console took and had not written
// when it ended is not asked for; and a node whose power failed reads lines again whose place was lost with it, which are
// told apart as events by their ids and as flows by nothing; and a copy of a node has flows of its own. decision: D48
import type { ObservationOf } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

export const flows: CheckerKind = {
  name: 'flows',
  promise: 'A flow that a Console took is stored once, no connection is counted twice (D48).',
  make(fleet, report) {
    const { analytics, relational } = fleet.stores;
    /** By Console, what it took and has not written: sensor and name of the flow, and its connections. */
    const taken = new Map<string, Map<string, readonly [string, string, number]>>();

    /** Nodes whose power failed, and those that were copied. */
    const failed = new Set<string>();

    function take({ console, fingerprint, flows: told }: ObservationOf<'flows.taken'>): void {
      const sensorId = relational.sensorOf(fingerprint ?? '');
      if (sensorId === undefined) return;
      const own = ensure(
        taken,
        console,
        () => new Map<string, readonly [string, string, number]>(),
      );
      for (const { name, connections } of told) {
        own.set(`${sensorId} ${name}`, [sensorId, name, connections]);
      }
    }

    function forgetStored(): void {
      for (const own of taken.values()) {
        for (const [key, [sensorId, name, connections]] of own) {
          const row = analytics.flow(sensorId, name);
          if (row !== undefined && row.connections >= connections) own.delete(key);
        }
      }
    }

    function judgeTaken(): void {
      forgetStored();
      for (const [console, own] of taken) {
        for (const [sensorId, name, connections] of own.values()) {
          const known = analytics.flow(sensorId, name)?.connections ?? 0;
          report(`${console} took ${connections} in ${name} of ${sensorId}, stored are ${known}`);
        }
      }
    }

    function judgeSums(): void {
      const sums = new Map<string, Map<string, number>>();
      for (const { sensorId, direction, binary, connections } of analytics.flows()) {
        const own = ensure(sums, sensorId, () => new Map<string, number>());
        const key = `${direction} ${binary}`;
        own.set(key, (own.get(key) ?? 0) + connections);
      }
      for (const [sensorId, own] of sums) {
        const name = relational.nodeOf(sensorId);
        if (name === undefined || failed.has(name)) continue;
        const made = fleet.nodes.find((node) => node.name === name)?.engine.connections();
        for (const [key, sum] of own) {
          const most = made?.get(key) ?? 0;
          if (sum > most) report(`${sensorId} has ${sum} connections ${key}, and made ${most}`);
        }
      }
    }

    return {
      observe(seen) {
        if (seen.kind === 'flows.taken') take(seen);
        if (seen.kind === 'node.copied') failed.add(seen.node);
        if (seen.kind !== 'process.ended') return;
        taken.delete(seen.host);
        if (seen.how === 'power_lost') failed.add(seen.host);
      },
      probe: forgetStored,
      finish() {
        judgeTaken();
        judgeSums();
      },
    };
  },
};
