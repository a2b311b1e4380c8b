// One dedicated connection that listens for changed identities. A connection can die without a word, so it is asked
// once a second; when it does not answer, the owner is told the notifications are lost, and again when they flow: what
// was missed in between is gone, so everything must be read again then. What was committed before a question that was
// answered has been told before the answer, so the age of the last such question is how old the owner's view may be.
// invariant: I3
import pg from 'pg';
import {
  IDENTITY_WATCH_BACKOFF_MAX_MS,
  IDENTITY_WATCH_BACKOFF_MIN_MS,
  IDENTITY_WATCH_KEEPALIVE_MS,
  IDENTITY_WATCH_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import type { IdentityWatch, SensorRegistry } from '../../ports/fleet/sensor-registry.ts';
import type { Timers } from '../../ports/plumbing/clock.ts';
import type { Logger } from '../../ports/plumbing/logger.ts';
import { connectionOptions } from '../plumbing/pool.ts';
import { createSockets } from '../plumbing/sockets.ts';
import { IDENTITY_CHANNEL } from '../plumbing/transaction.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

type Watch = Parameters<SensorRegistry['watchIdentities']>[0];
export type WatchOptions = {
  readonly url: string;
  readonly timers: Timers;
  readonly logger: Logger;
};

/** Starts listening; resolves once the first connection listens, throws StoreUnavailable when it cannot. */
export async function watchIdentities(options: WatchOptions, watch: Watch): Promise<IdentityWatch> {
  const { timers, logger } = options;
  const sockets = createSockets();
  let client: pg.Client | null = null;
  let timer: unknown = null;
  let backoffMs = IDENTITY_WATCH_BACKOFF_MIN_MS;
  let isStopped = false;
  let provenAtMs = performance.now();

  async function connect(): Promise<void> {
    const next = new pg.Client({
      ...connectionOptions(options.url),
      stream: sockets.open,
      application_name: 'service-console-identities',
      connectionTimeoutMillis: IDENTITY_WATCH_TIMEOUT_MS,
      query_timeout: IDENTITY_WATCH_TIMEOUT_MS,
    });
    next.on('notification', (message) => {
      if (client === next && message.payload !== undefined) watch.onChange(message.payload);
    });
    next.on('error', (error) => lose(next, error));
    next.on('end', () => lose(next, new Error('the connection ended')));
    let askedAtMs = performance.now();
    try {
      await next.connect();
      askedAtMs = performance.now();
      await next.query(`LISTEN ${IDENTITY_CHANNEL}`);
    } catch (error) {
      sockets.destroyAll();
      throw error;
    }
    if (isStopped) {
      sockets.destroyAll();
      return;
    }
    client = next;
    provenAtMs = askedAtMs;
    backoffMs = IDENTITY_WATCH_BACKOFF_MIN_MS;
    schedule(IDENTITY_WATCH_KEEPALIVE_MS, keepAlive);
  }

  function schedule(delayMs: number, run: () => Promise<void>): void {
    if (isStopped) return;
    timer = timers.setTimeout(() => void run(), delayMs);
  }

  async function keepAlive(): Promise<void> {
    const asked = client;
    if (asked === null) return;
    const askedAtMs = performance.now();
    try {
      await asked.query('SELECT 1');
      if (client !== asked) return;
      provenAtMs = askedAtMs;
      schedule(IDENTITY_WATCH_KEEPALIVE_MS, keepAlive);
    } catch (error) {
      lose(asked, error);
    }
  }

  function lose(lost: pg.Client, error: unknown): void {
    if (client !== lost || isStopped) return;
    client = null;
    timers.clearTimeout(timer);
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn({ error: reason }, 'identity notifications lost');
    sockets.destroyAll();
    watch.onLost();
    schedule(backoffMs, reconnect);
  }

  async function reconnect(): Promise<void> {
    try {
      await connect();
    } catch {
      backoffMs = Math.min(backoffMs * 2, IDENTITY_WATCH_BACKOFF_MAX_MS);
      schedule(backoffMs, reconnect);
      return;
    }
    if (isStopped) return;
    logger.info('identity notifications flow again');
    watch.onRestored();
  }

  await orUnavailable(connect);
  return {
    provenAgoMs: () => performance.now() - provenAtMs,
    async stop() {
      isStopped = true;
      timers.clearTimeout(timer);
      const open = client;
      client = null;
      // A server that is frozen never says goodbye.
      const deadline = timers.setTimeout(sockets.destroyAll, IDENTITY_WATCH_TIMEOUT_MS);
      await open?.end().catch(() => undefined);
      timers.clearTimeout(deadline);
    },
  };
}
