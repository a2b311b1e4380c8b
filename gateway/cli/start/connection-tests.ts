// The connection tests of the first run on the real clients. An address is looked at before anything is dialled: only the
// kinds that belong to the store. Whoever may ask has shown the setup code. decision: D42
import { tryAnalytics } from '../../../storage/analytics/try-connection.ts';
import { tryRedis } from '../../../storage/limits/try-redis.ts';
import type {
  ConnectionResult,
  ConnectionTests,
} from '../../../storage/ports/plumbing/connection-tests.ts';
import { tryBroker } from '../../../storage/queue/try-broker.ts';
import { tryRelational } from '../../../storage/relational/plumbing/try-connection.ts';
import { clickhouseAccessOf } from './clickhouse-access.ts';

/** All of them. */
export function createConnectionTests(): ConnectionTests {
  return {
    database: (url) => withKind(url, ['postgres:', 'postgresql:'], tryRelational),
    analytics: (url) =>
      withKind(url, ['http:', 'https:'], async (one) => {
        const access = clickhouseAccessOf(one);
        return access === null ? { ok: false, reason: 'is no address' } : tryAnalytics(access);
      }),
    redis: (url) => withKind(url, ['redis:', 'rediss:'], tryRedis),
    broker: tryBroker,
  };
}

async function withKind(
  url: string,
  kinds: readonly string[],
  run: (url: string) => Promise<ConnectionResult>,
): Promise<ConnectionResult> {
  const kind = URL.canParse(url) ? new URL(url).protocol : null;
  if (kind !== null && kinds.includes(kind)) return run(url);
  const wanted = kinds.map((one) => `${one}//`).join(' or ');
  return { ok: false, reason: `must be an address of ${wanted}` };
}
