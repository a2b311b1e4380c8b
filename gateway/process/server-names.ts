// The names and addresses a generated server certificate is good for: this machine's own, and the host of the base URL.
import { hostname, networkInterfaces } from 'node:os';

/** Loopback, host name, the base URL's host, and every address of this machine. */
export function serverNames(baseUrl: string): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ address }) => !address.startsWith('fe80'))
    .map(({ address }) => address);
  const host = new URL(baseUrl).hostname.replaceAll(/[[\]]/g, '');
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), host, ...addresses])];
}
