// Which name an address was last given for, so that a connection can say where it was meant to go. An answer counts for
// the network namespace it arrived in: two containers may be told different things. Bounded: the answer that is oldest
// goes first, and none is believed beyond its time.
import { LRUCache } from 'lru-cache';
import { DNS_NAME_TTL_MS, DNS_NAMES_MAX } from '../../machines/pipeline-limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';

type Named = { readonly domain: string; readonly untilMs: number };
export type DnsNames = {
  /** Remembers what a name server answered. */
  learn(event: RuntimeEvent, answers: readonly string[], atMs: number): void;
  /** The event with the name its destination was looked up by, when it is known and not told already. */
  named(event: RuntimeEvent, atMs: number): RuntimeEvent;
  size(): number;
};

/** Makes an empty memory of answers. */
export function createDnsNames(max: number = DNS_NAMES_MAX): DnsNames {
  const names = new LRUCache<string, Named>({ maxSize: max, sizeCalculation: () => 1 });
  const keyOf = (event: RuntimeEvent, ip: string): string =>
    `${event.network_namespace ?? ''} ${plainAddress(ip)}`;

  return {
    learn(event, answers, atMs) {
      const domain = event.network?.domain;
      if (domain === undefined) return;
      for (const ip of answers) {
        names.set(keyOf(event, ip), { domain, untilMs: atMs + DNS_NAME_TTL_MS });
      }
    },
    named(event, atMs) {
      const { network } = event;
      const isAsked = event.event_kind === 'network_connect' && network?.domain === undefined;
      if (!isAsked || network?.destination_ip === undefined) return event;
      const found = names.peek(keyOf(event, network.destination_ip));
      if (found === undefined || found.untilMs < atMs) return event;
      return { ...event, network: { ...network, domain: found.domain } };
    },
    size: () => names.size,
  };
}

/** An IPv4 address by its own name also when a socket of the other family speaks to it. */
function plainAddress(ip: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] ?? ip.toLowerCase();
}
