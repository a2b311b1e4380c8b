// Tries a Redis: it answers a PING of this user.
import { Redis } from 'ioredis';
import { SETUP_CONNECT_TIMEOUT_MS } from '../../machines/limits.ts';
import { type ConnectionResult, reasonWithout } from '../ports/plumbing/connection-tests.ts';

/** Connects once and asks. */
export async function tryRedis(url: string): Promise<ConnectionResult> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: SETUP_CONNECT_TIMEOUT_MS,
    commandTimeout: SETUP_CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  // What failed is told by this event; the call itself only says that the connection is closed.
  let failure: unknown = null;
  redis.on('error', (error) => {
    failure ??= error;
  });
  try {
    await redis.connect();
    const answer = await redis.ping();
    return answer === 'PONG'
      ? { ok: true, about: 'Redis' }
      : { ok: false, reason: 'this is no Redis' };
  } catch (error) {
    return { ok: false, reason: reasonWithout(url, failure ?? error) };
  } finally {
    redis.disconnect();
  }
}
