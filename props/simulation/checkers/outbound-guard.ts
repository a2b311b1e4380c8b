// Nothing that leaves a Console goes to a place inside: neither by a name that means another address than it did, nor by a
// redirect. The places are named here by themselves, not by the product's own list. decision: D40, D104
import { isIPv4 } from 'node:net';
import type { CheckerKind } from './checker.ts';

export const outboundGuard: CheckerKind = {
  name: 'outbound-guard',
  promise: 'No request of a Console reaches an address inside.',
  make: (_fleet, report) => ({
    observe(observation) {
      if (observation.kind !== 'webhook.received') return;
      const { console, host, address } = observation.seen;
      if (isInside(address)) report(`${console} sent to ${address}, which ${host} led to`);
    },
  }),
};

function isInside(address: string): boolean {
  if (!isIPv4(address)) return true;
  const [a = 0, b = 0] = address.split('.').map(Number);
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if (a === 100) return (b >= 64 && b < 128) || b === 100;
  return (a === 169 && b === 254) || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);
}
