// Nothing that leaves a Console goes to a place inside: neither by a name that means another address than it did, nor by a
// redirect. The places are named here by themselves, not by the product's own list. Excuse: a range that somebody asked to
// allow. decision: D40, D104
import { BlockList, isIPv4 } from 'node:net';
import type { CheckerKind } from './checker.ts';

export const outboundGuard: CheckerKind = {
  name: 'outbound-guard',
  promise: 'No request of a Console reaches an address inside.',
  make(_fleet, report) {
    const allowed = new BlockList();
    return {
      observe(observation) {
        if (observation.kind === 'setting.tried' && observation.name === 'webhook_allow_list') {
          allow(allowed, JSON.parse(observation.value));
        }
        if (observation.kind !== 'webhook.received') return;
        const { console, host, address } = observation.seen;
        if (!isInside(address) || allowed.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')) return;
        report(`${console} sent to ${address}, which ${host} led to`);
      },
    };
  },
};

/** People of the world name ranges of IPv4, and hosts. */
function allow(allowed: BlockList, entries: readonly string[]): void {
  for (const entry of entries) {
    const [net = '', prefix = ''] = entry.split('/');
    if (isIPv4(net) && prefix !== '') allowed.addSubnet(net, Number(prefix), 'ipv4');
  }
}

function isInside(address: string): boolean {
  if (!isIPv4(address)) return true;
  const [a = 0, b = 0] = address.split('.').map(Number);
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if (a === 100) return (b >= 64 && b < 128) || b === 100;
  return (a === 169 && b === 254) || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);
}
