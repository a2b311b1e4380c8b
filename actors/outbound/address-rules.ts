// Which addresses a request of the Console to somebody else's service may reach. Where it goes is written by operators,
// or stands in documents of third parties, so the address is judged at the moment of connecting, after the name was
// resolved. Where clouds keep their metadata is never reached; private addresses only where the purpose allows them.
// decision: D40
import { BlockList, isIP, isIPv6 } from 'node:net';

export type AddressPolicy = {
  readonly mayBePrivate: boolean;
  /** Addresses that an admin allowed by themselves; what is never reached stays so. */
  readonly allowed?: BlockList | undefined;
};

const NEVER = listOf([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  // Metadata and wire servers of clouds that lie outside the link-local networks.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['fd00:ec2::254', 128],
  ['192.0.0.0', 24],
  ['224.0.0.0', 3],
  // Unspecified, and the old form that carries an IPv4 address.
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
  // Addresses that carry another one inside; what they would reach cannot be judged here.
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
]);
const LOOPBACK = listOf([
  ['127.0.0.0', 8],
  ['::1', 128],
]);
const PRIVATE = listOf([
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  // Where networks are measured, and what was private in IPv6 before.
  ['198.18.0.0', 15],
  ['fec0::', 10],
  ['fc00::', 7],
]);

/** Why an address is not to be reached; null when it may be. */
export function mistakeOfAddress(address: string, policy: AddressPolicy): string | null {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  // A mapped IPv4 address is judged as what it maps: BlockList does so by itself.
  const isAllowed = policy.allowed?.check(address, family) === true;
  if (LOOPBACK.check(address, family)) {
    return isAllowed ? null : `${address} is this machine itself`;
  }
  if (NEVER.check(address, family)) return `${address} is never reached from here`;
  if (PRIVATE.check(address, family) && !policy.mayBePrivate && !isAllowed) {
    return `${address} is private, and this destination may not be`;
  }
  return null;
}

/** What a host may be, by the admins' list of names, addresses and networks. */
export function policyOfList(entries: readonly string[], host: string): AddressPolicy {
  const allowed = new BlockList();
  let isNamed = false;
  const wanted = host.toLowerCase().replace(/\.$/, '');
  for (const entry of entries) {
    const [network = '', bits] = entry.split('/');
    if (isIP(network) === 0) isNamed ||= isName(entry.toLowerCase(), wanted);
    else {
      const isV6 = isIPv6(network);
      const whole = isV6 ? 128 : 32;
      allowed.addSubnet(network, Number(bits ?? whole), isV6 ? 'ipv6' : 'ipv4');
    }
  }
  return { mayBePrivate: isNamed, allowed };
}

function isName(entry: string, host: string): boolean {
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry;
}

function listOf(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of ranges) {
    list.addSubnet(network, bits, isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  return list;
}
