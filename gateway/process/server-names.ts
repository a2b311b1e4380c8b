// The names and addresses a generated server certificate is good for: this machine's own, and the host of the base URL.
import { hostname, networkInterfaces } from 'node:os';
import type { OwnAddress } from '../operator-plane/trust/node-url.ts';

const EVERYWHERE = ['0.0.0.0', '::'];

/** Every address of this machine with the interface it belongs to. */
export function ownAddresses(): readonly OwnAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, list = []]) =>
    list.map(({ address, family, internal }) => ({ name, address, family, internal })),
  );
}

/** Loopback, host name, the base URL's host, where it listens, and every address of this machine. */
export function serverNames(baseUrl: string, bind: string): string[] {
  const addresses = ownAddresses()
    .filter(({ address }) => !address.startsWith('fe80'))
    .map(({ address }) => address);
  const host = new URL(baseUrl).hostname.replaceAll(/[[\]]/g, '');
  const listens = EVERYWHERE.includes(bind) ? [] : [bind];
  return [
    ...new Set(['localhost', '127.0.0.1', '::1', hostname(), host, ...listens, ...addresses]),
  ];
}
