// The packet filter of a simulated node: rules live in its kernel, so they outlive every process, and go with the power.
import type { PacketFilter } from '../../../sensor/capabilities/containment/packet-filter.ts';
import type { Life } from './life.ts';

export type SimulatedFilter = {
  /** The ruleset in force; null: none. */
  ruleset(): string | null;
  /** What somebody with root does. */
  wipe(): void;
  filterFor(life: Life): PacketFilter;
};

const CONSOLE = { peers: [{ address: '192.0.2.1', port: 15_483 }], resolvers: [] } as const;

/** A node without rules; `tell` hears what its Sensor does to them. */
export function createSimulatedFilter(
  tell: (did: 'filter.applied' | 'filter.lifted') => void = () => undefined,
): SimulatedFilter {
  let ruleset: string | null = null;
  return {
    ruleset: () => ruleset,
    wipe() {
      ruleset = null;
    },
    filterFor: (life) => ({
      passage: async () => CONSOLE,
      apply: (text) =>
        life.call('filter.apply', () => {
          ruleset = text;
          tell('filter.applied');
        }),
      read: () => life.call('filter.read', () => (ruleset === null ? null : readBack(ruleset))),
      remove: () =>
        life.call('filter.remove', () => {
          ruleset = null;
          tell('filter.lifted');
        }),
    }),
  };
}

/** As `nft -j list table` would have it. */
function readBack(text: string): unknown {
  const entries: unknown[] = [{ table: { family: 'inet', name: 'service_containment' } }];
  let chain = '';
  for (const line of text.split('\n').map((one) => one.trim())) {
    const opened = /^chain (\w+) \{$/.exec(line);
    if (opened !== null) {
      chain = opened[1] ?? '';
      entries.push({ chain: { name: chain, hook: chain, prio: 0, policy: 'drop' } });
    } else if (line.endsWith(' accept')) entries.push({ rule: { chain, expr: line } });
  }
  return { nftables: entries };
}
