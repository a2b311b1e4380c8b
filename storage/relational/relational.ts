// Everything that lives in PostgreSQL, on one pool. Built by the composition root; nothing connects before first use.
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type pg from 'pg';
import { DATABASE_TIMEOUT_MS, type Intervals } from '../../machines/limits.ts';
import type { AuditChain } from '../ports/audit-chain.ts';
import type { Timers } from '../ports/clock.ts';
import type { LicenseStore } from '../ports/license-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { ApiKeys, AuditLog, InventoryStore, RelationalHealth } from '../ports/relational.ts';
import type { FactWriter, SensorRegistry } from '../ports/sensor-registry.ts';
import type { SessionStore } from '../ports/sessions.ts';
import type { SettingsStore } from '../ports/settings-store.ts';
import type { SsoStore } from '../ports/sso-store.ts';
import type { TeamStore } from '../ports/teams.ts';
import type { UserStore } from '../ports/users.ts';
import { createApiKeys } from './api-keys.ts';
import { createAuditChain } from './audit-chain.ts';
import { createAuditLog } from './audit-log.ts';
import { writeFactRows } from './fact-rows.ts';
import { createFactWriter } from './fact-writer.ts';
import { createInventoryStore } from './inventory-store.ts';
import { createLicenseStore } from './license-store.ts';
import { createTeams } from './ownership.ts';
import { createDatabase, createPool } from './pool.ts';
import { createSensorRegistry } from './sensor-registry.ts';
import { createSessions } from './sessions.ts';
import { createSettingsStore } from './settings-store.ts';
import { createSockets, type Sockets } from './sockets.ts';
import { createSsoStore } from './sso-store.ts';
import type { Database } from './tables.ts';
import { createUsers } from './users.ts';

export type Relational = {
  readonly pool: pg.Pool;
  readonly db: Kysely<Database>;
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  readonly apiKeys: ApiKeys;
  readonly inventory: InventoryStore;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
  readonly license: LicenseStore;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly teams: TeamStore;
  readonly sso: SsoStore;
  readonly settings: SettingsStore;
  readonly health: RelationalHealth;
  /** Writes what the fact writer holds, then closes every connection; bounded even when the server is silent. */
  close(): Promise<void>;
};

export type RelationalOptions = {
  readonly url: string;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly intervals: Pick<Intervals, 'FACTS_COMMIT_INTERVAL_MS'>;
};

/** Makes every relational port on one pool. */
export function createRelational(options: RelationalOptions): Relational {
  const { url, timers, logger, intervals } = options;
  const sockets = createSockets();
  const pool = createPool(url, logger, sockets);
  const db = createDatabase(pool);
  const facts = createFactWriter({
    write: (rows) => writeFactRows(db, rows),
    timers,
    logger,
    intervals,
  });
  return {
    pool,
    db,
    sensors: createSensorRegistry({ db, url, timers, logger }),
    facts,
    apiKeys: createApiKeys(db),
    inventory: createInventoryStore(db),
    audit: createAuditLog(db),
    auditChain: createAuditChain(db),
    license: createLicenseStore(db),
    users: createUsers(db),
    sessions: createSessions(db),
    teams: createTeams(db),
    sso: createSsoStore(db),
    settings: createSettingsStore(db),
    health: createRelationalHealth(db),
    close: () => closeWithin({ pool, facts, sockets, timers }),
  };
}

/** Writes what waits and closes in order; a server that says nothing any more is left after a while. */
async function closeWithin(
  parts: Pick<Relational, 'pool' | 'facts'> &
    Pick<RelationalOptions, 'timers'> & { sockets: Sockets },
): Promise<void> {
  const { pool, facts, sockets, timers } = parts;
  let ended: Promise<void> | null = null;
  const end = (): Promise<void> => {
    ended ??= pool.end();
    return ended;
  };
  const deadline = timers.setTimeout(() => {
    void end();
    sockets.destroyAll();
  }, DATABASE_TIMEOUT_MS);
  await facts.close();
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
