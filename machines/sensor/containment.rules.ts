// Containment of this node: which order counts, until when, and the packet filter it becomes. Everything here is text and
// arithmetic; whoever touches the kernel only carries it out. decision: D85, D86
import type { ContainmentOrder, ContainmentReport } from '../wire/policy.ts';

export type Order = {
  readonly orderId: string;
  readonly wanted: 'contained' | 'released';
  readonly reason: string;
  /** When containment ends by this node's own clock; null: by an order alone. */
  readonly untilMs: number | null;
  /** It was carried out and came to its end, which no clock takes back. */
  readonly hasEnded?: boolean | undefined;
  /** Who this node was when it came; absent where that was not kept. */
  readonly sensorId?: string | undefined;
};
export type Peer = { readonly address: string; readonly port: number };
/** What the rules let through. */
export type Passage = {
  /** The Console, or the proxy in its place. */
  readonly peers: readonly Peer[];
  /** Upstream resolvers; empty unless a name has to be looked up. */
  readonly resolvers: readonly string[];
};
export type ContainmentState = ContainmentReport['state'];

export const TABLE = 'service_containment';
const PEERS_MAX = 64;
const RESOLVERS_MAX = 16;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
// A zone names an interface of this node: the kernel's rules have no word for it.
const IPV6 = /^(?=.*:)[0-9a-f:]{2,39}$/i;

/** An order as the wire has it. */
export function orderOf(wire: ContainmentOrder): Order {
  const untilMs = wire.until === undefined ? null : Date.parse(wire.until);
  return {
    orderId: wire.order_id.toLowerCase(),
    wanted: wire.wanted,
    reason: wire.reason ?? '',
    untilMs: untilMs === null || Number.isNaN(untilMs) ? null : untilMs,
  };
}

/** Orders of one sensor rise, so one that was overtaken on its way changes nothing. decision: D85 */
export function isNewer(order: Order, than: Order | null): boolean {
  return than === null || isOfAnother(order, than) || order.orderId > than.orderId;
}

/** Where the database went back, a node may be a sensor again whose orders are older than those of the one it was since. */
function isOfAnother({ sensorId }: Order, than: Order): boolean {
  return sensorId !== undefined && than.sensorId !== undefined && sensorId !== than.sensorId;
}

/** Whether the node is to be contained now. */
export function isInForce(order: Order | null, nowMs: number): boolean {
  if (order === null || order.wanted === 'released' || order.hasEnded === true) return false;
  return order.untilMs === null || nowMs < order.untilMs;
}

/**
 * Whether an order that is over by this node's clock is in force once that clock is before its end: one that was never
 * carried out here, for the Console sent it and has another clock.
 */
export function mayComeBack(order: Order | null): order is Order & { readonly untilMs: number } {
  if (order === null || order.wanted === 'released') return false;
  return order.untilMs !== null && order.hasEnded !== true;
}

/** Milliseconds until the order ends by itself. */
export function untilEndMs(order: Order | null, nowMs: number): number {
  if (order === null || order.untilMs === null) return Number.MAX_SAFE_INTEGER;
  return Math.max(0, order.untilMs - nowMs);
}

export function isIpv4(address: string): boolean {
  return IPV4.test(address);
}

export function isIpv6(address: string): boolean {
  return IPV6.test(address);
}

/** On this node itself: packets to it never leave. */
export function isLoopback(address: string): boolean {
  return /^127\./.test(address) || address === '::1' || address === '0.0.0.0' || address === '::';
}

/** Why rules cannot keep the Console reachable with this; null when they can. */
export function refusalOfPassage({ peers, resolvers }: Passage): string | null {
  if (peers.length === 0) return 'the address of the Console is not known';
  if (peers.length > PEERS_MAX || resolvers.length > RESOLVERS_MAX) {
    return 'the Console has too many addresses';
  }
  for (const { address, port } of peers) {
    if (!isIpv4(address) && !isIpv6(address)) return 'an address of the Console cannot be used';
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return 'the port cannot be used';
    // It would be cut off from every operator and every other sensor, or the proxy from the Console.
    if (isLoopback(address)) return 'the Console, or the proxy to it, runs on this node';
  }
  return resolvers.every((one) => isIpv4(one) || isIpv6(one)) ? null : 'a resolver cannot be used';
}

/**
 * The whole table as one transaction of `nft -f`: made if absent, removed, and made anew, so that there is no instant
 * without rules. A drop is final whatever other tables accept. Throws on a passage that `refusalOfPassage` refuses.
 */
export function rulesetOf(passage: Passage): string {
  const refusal = refusalOfPassage(passage);
  if (refusal !== null) throw new Error(refusal);
  const { input, output } = rulesOf(passage);
  return [
    `add table inet ${TABLE}`,
    `delete table inet ${TABLE}`,
    `table inet ${TABLE} {`,
    ...chainOf('input', input),
    ...chainOf('output', output),
    ...chainOf('forward', []),
    '}',
    '',
  ].join('\n');
}

/** How many rules each chain has, to be found again in what is read back. */
export function ruleCounts(passage: Passage): Readonly<Record<string, number>> {
  const { input, output } = rulesOf(passage);
  return { input: input.length, output: output.length, forward: 0 };
}

function chainOf(name: string, rules: readonly string[]): readonly string[] {
  // After connection tracking (-200), which tells answers from everything else.
  return [
    `  chain ${name} {`,
    `    type filter hook ${name} priority 0; policy drop;`,
    ...rules.map((rule) => `    ${rule}`),
    '  }',
  ];
}

function rulesOf({ peers, resolvers }: Passage): {
  readonly input: readonly string[];
  readonly output: readonly string[];
} {
  const answer = 'ct state established ct direction reply';
  const tooBig = 'ct state related ct direction reply';
  const sides = [
    ...new Set(peers.map(({ address, port }) => `${family(address)} ${address} ${port}`)),
  ]
    .sort()
    .map((text) => text.split(' ') as [string, string, string]);
  const names = [...new Set(resolvers)].sort();
  const input = [
    'iif "lo" accept',
    ...sides.map(([ip, at, port]) => `${answer} ${ip} saddr ${at} tcp sport ${port} accept`),
    // Without these a path with a smaller packet size swallows the connection to the Console.
    ...[...new Set(sides.map(([ip, at]) => `${ip} ${at}`))].map((side) => {
      const [ip = '', at = ''] = side.split(' ');
      const what =
        ip === 'ip'
          ? 'icmp type destination-unreachable icmp code frag-needed'
          : 'icmpv6 type packet-too-big';
      return `${tooBig} ct original ${ip} daddr ${at} ${what} accept`;
    }),
    ...names.flatMap((at) =>
      ['udp', 'tcp'].map((by) => `${answer} ${family(at)} saddr ${at} ${by} sport 53 accept`),
    ),
    'meta nfproto ipv4 udp sport 67 udp dport 68 accept',
    'ip6 saddr fe80::/10 udp sport 547 udp dport 546 accept',
    `${NEIGHBOURS} accept`,
  ];
  const output = [
    'oif "lo" accept',
    ...sides.map(([ip, at, port]) => `${ip} daddr ${at} tcp dport ${port} accept`),
    ...names.flatMap((at) =>
      ['udp', 'tcp'].map((by) => `${family(at)} daddr ${at} ${by} dport 53 accept`),
    ),
    'meta nfproto ipv4 udp sport 68 udp dport 67 accept',
    'ip6 saddr fe80::/10 udp sport 546 udp dport 547 accept',
    `${NEIGHBOURS} accept`,
  ];
  return { input, output };
}

// One hop only: what was forwarded to here has less.
const NEIGHBOURS =
  'ip6 hoplimit 255 icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert }';

function family(address: string): 'ip' | 'ip6' {
  return isIpv4(address) ? 'ip' : 'ip6';
}

/**
 * What `nft -j list table` says, without what changes by itself (handles, versions); null for what is not our table.
 * Two readings are the same rules exactly when these texts are the same.
 */
export function readBackOf(json: unknown): string | null {
  const entries = isRecord(json) ? json['nftables'] : null;
  if (!Array.isArray(entries)) return null;
  const own = entries.filter((one) => isRecord(one) && !('metainfo' in one));
  return own.some((one) => 'table' in one) ? JSON.stringify(withoutHandles(own)) : null;
}

/** Why what was read right after it was written is not what was meant; null when it is. */
export function refusalOfReadBack(json: unknown, passage: Passage): string | null {
  const entries = isRecord(json) && Array.isArray(json['nftables']) ? json['nftables'] : [];
  const found = new Map<string, number>();
  const rules = new Map<string, number>();
  for (const one of entries) {
    const chain = isRecord(one) ? one['chain'] : null;
    if (isRecord(chain)) {
      const { name, hook, policy, prio } = chain as Record<string, unknown>;
      if (typeof name === 'string' && hook === name && policy === 'drop' && prio === 0) {
        found.set(name, 0);
      }
    }
    const rule = isRecord(one) ? one['rule'] : null;
    if (isRecord(rule)) {
      const name = String(rule['chain']);
      rules.set(name, (rules.get(name) ?? 0) + 1);
    }
  }
  for (const [name, count] of Object.entries(ruleCounts(passage))) {
    if (!found.has(name)) return `the chain ${name} is not in force`;
    if ((rules.get(name) ?? 0) !== count) return `the chain ${name} has other rules`;
  }
  return null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutHandles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHandles);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'handle')
      .map(([name, inner]) => [name, withoutHandles(inner)]),
  );
}
