// Whether what is sent to a store can be read or answered by somebody between. On this machine it cannot; beyond, it takes
// TLS with a verified certificate, whose host name counts too. Private authorities: `sslrootcert` in a PostgreSQL address,
// NODE_EXTRA_CA_CERTS for the others. decision: D69
import { isLoopbackHost } from '../../machines/trust/loopback.rules.ts';

export type StoreKind = 'database' | 'analytics' | 'redis';

const WANTED: Readonly<Record<StoreKind, string>> = {
  database: 'sslmode=verify-full in its address',
  analytics: 'https://',
  redis: 'rediss://',
};

/** Why a store may not be reached by this address; null when it may. The address itself is not repeated. */
export function mistakeOfTransport(kind: StoreKind, address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const isProtected =
    kind === 'database' ? isPostgresProtected(url) : isLoopbackHost(url.hostname) || isTls(url);
  if (isProtected) return null;
  return `leaves this machine without verified TLS: write ${WANTED[kind]}, or set allow_plaintext_stores`;
}

/** The stores that this configuration reaches without protection. */
export function plaintextStores(config: {
  readonly databaseUrl: string | null;
  readonly clickhouseUrl: string | null;
  readonly redisUrl: string | null;
}): readonly StoreKind[] {
  const all = [
    ['database', config.databaseUrl],
    ['analytics', config.clickhouseUrl],
    ['redis', config.redisUrl],
  ] as const;
  return all.flatMap(([kind, url]) =>
    url !== null && mistakeOfTransport(kind, url) !== null ? [kind] : [],
  );
}

function isTls({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'rediss:';
}

// The driver takes the host of the query before the one of the address, and of several modes the last.
function isPostgresProtected({ hostname, searchParams }: URL): boolean {
  const named = [...searchParams.getAll('host'), ...searchParams.getAll('hostaddr')];
  const hosts = named.length > 0 ? named.flatMap((one) => one.split(',')) : [hostname];
  const isHere = hosts.every((host) => host === '' || host.startsWith('/') || isLoopbackHost(host));
  if (isHere) return true;
  const modes = searchParams.getAll('sslmode');
  return modes.length === 1 && modes[0] === 'verify-full' && !searchParams.has('uselibpqcompat');
}
