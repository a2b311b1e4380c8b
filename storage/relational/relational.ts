// Everything that lives in PostgreSQL, on one pool: one line for each capability that owns stores. Built by the
// composition root; nothing connects before first use.
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type pg from 'pg';
import { DATABASE_TIMEOUT_MS } from '../../machines/limits.ts';
import type { RelationalHealth } from '../ports/plumbing/store-unavailable.ts';
import type { RelationalStores } from '../ports/stores.ts';
import { openAccessStores } from './access/stores.ts';
import { openAuditStores } from './audit/stores.ts';
import { openContainmentStores } from './containment/stores.ts';
import { openDeliveryStores } from './delivery/stores.ts';
import { openDetectionStores } from './detection/stores.ts';
import { openDigestStores } from './digest/stores.ts';
import { openExportStores } from './exports/stores.ts';
import { openFleetStores } from './fleet/stores.ts';
import { openHuntingStores } from './hunting/stores.ts';
import { openLicenseStores } from './license/stores.ts';
import type { RelationalOptions } from './plumbing/context.ts';
import { createDatabase, createPool } from './plumbing/pool.ts';
import { createSockets, type Sockets } from './plumbing/sockets.ts';
import type { Database } from './plumbing/tables.ts';
import { openPolicyStores } from './policy/stores.ts';
import { openRuntimeStores } from './runtime/stores.ts';
import { openSettingsStores } from './settings/stores.ts';
import { openSiemStores } from './siem/stores.ts';
import { openInventoryStores } from './telemetry/stores.ts';

export type Relational = RelationalStores & {
  readonly pool: pg.Pool;
  readonly db: Kysely<Database>;
  /** Writes what the fact writer holds, then closes every connection; bounded even when the server is silent. */
  close(): Promise<void>;
};

/** Makes every relational port on one pool. */
export function createRelational(options: RelationalOptions): Relational {
  const sockets = createSockets();
  const pool = createPool(options.url, options.logger, sockets);
  const db = createDatabase(pool);
  const closes: (() => Promise<void>)[] = [];
  const context = { ...options, db, onClose: (close: () => Promise<void>) => closes.push(close) };
  return {
    pool,
    db,
    ...openAccessStores(context),
    ...openAuditStores(context),
    ...openContainmentStores(context),
    ...openDeliveryStores(context),
    ...openDetectionStores(context),
    ...openDigestStores(context),
    ...openExportStores(context),
    ...openFleetStores(context),
    ...openHuntingStores(context),
    ...openInventoryStores(context),
    ...openLicenseStores(context),
    ...openPolicyStores(context),
    ...openRuntimeStores(context),
    ...openSettingsStores(context),
    ...openSiemStores(context),
    health: createRelationalHealth(db),
    close: () => closeWithin({ ...options, pool, closes, sockets }),
  };
}

/** Writes what waits and closes in order; a server that says nothing any more is left after a while. */
async function closeWithin({
  pool,
  closes,
  sockets,
  timers,
}: Pick<RelationalOptions, 'timers'> & {
  readonly pool: pg.Pool;
  readonly closes: readonly (() => Promise<void>)[];
  readonly sockets: Sockets;
}): Promise<void> {
  let ended: Promise<void> | null = null;
  const end = (): Promise<void> => {
    ended ??= pool.end();
    return ended;
  };
  const deadline = timers.setTimeout(() => {
    void end();
    sockets.destroyAll();
  }, DATABASE_TIMEOUT_MS);
  await Promise.all(closes.map((close) => close()));
  await end();
  timers.clearTimeout(deadline);
}

/** Asks the database for an answer; false when it gives none in time. */
export function createRelationalHealth(db: Kysely<Database>): RelationalHealth {
  return {
    async ping() {
      try {
        await sql`SELECT 1`.execute(db);
        return true;
      } catch {
        return false;
      }
    },
  };
}
