// Everything that lives in PostgreSQL, on one pool. Built by the composition root; nothing connects before first use.
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type pg from 'pg';
import { DATABASE_TIMEOUT_MS, type Intervals } from '../../machines/limits.ts';
import type { Timers } from '../ports/plumbing/clock.ts';
import type { Logger } from '../ports/plumbing/logger.ts';
import type { RelationalHealth } from '../ports/plumbing/store-unavailable.ts';
import type { RelationalStores } from '../ports/stores.ts';
import { createApiKeys } from './access/api-keys.ts';
import { createLoginFailures } from './access/login-failures.ts';
import { createPasswordLinks } from './access/password-links.ts';
import { createRecoveryCodes, createSecondFactors } from './access/second-factors.ts';
import { createSecurityKeys } from './access/security-keys.ts';
import { createSessions } from './access/sessions.ts';
import { createSsoStore } from './access/sso-store.ts';
import { createUserPasswords } from './access/user-passwords.ts';
import { createUsers } from './access/users.ts';
import { createAuditChain } from './audit/audit-chain.ts';
import { createAuditLog } from './audit/audit-log.ts';
import { createContainmentOrders } from './containment/containment-orders.ts';
import { createDeliveryStore } from './delivery/delivery-store.ts';
import { createWebhookStore } from './delivery/webhook-store.ts';
import { writeFactRows } from './fleet/fact-rows.ts';
import { createFactWriter } from './fleet/fact-writer.ts';
import { createTeams } from './fleet/ownership.ts';
import { createSensorRegistry } from './fleet/sensor-registry.ts';
import { createLicenseStore } from './license/license-store.ts';
import { createDatabase, createPool } from './plumbing/pool.ts';
import { createSockets, type Sockets } from './plumbing/sockets.ts';
import type { Database } from './plumbing/tables.ts';
import { createPolicyStore } from './policy/policy-store.ts';
import { createRolloutStore } from './policy/rollout-store.ts';
import { createDesignation } from './runtime/designation.ts';
import { createSettingsStore } from './settings/settings-store.ts';
import { createInventoryStore } from './telemetry/inventory-store.ts';

export type Relational = RelationalStores & {
  readonly pool: pg.Pool;
  readonly db: Kysely<Database>;
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
  const designation = createDesignation({ db, url, timers });
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
    designation,
    users: createUsers(db),
    userPasswords: createUserPasswords(db),
    passwordLinks: createPasswordLinks(db),
    secondFactors: createSecondFactors(db),
    recoveryCodes: createRecoveryCodes(db),
    securityKeys: createSecurityKeys(db),
    loginFailures: createLoginFailures(db),
    sessions: createSessions(db),
    teams: createTeams(db),
    sso: createSsoStore(db),
    settings: createSettingsStore(db),
    containment: createContainmentOrders(db),
    policies: createPolicyStore(db),
    webhooks: createWebhookStore(db),
    deliveries: createDeliveryStore(db),
    rollouts: createRolloutStore(db),
    health: createRelationalHealth(db),
    close: () => closeWithin({ pool, facts, designation, sockets, timers }),
  };
}

/** Writes what waits and closes in order; a server that says nothing any more is left after a while. */
async function closeWithin(
  parts: Pick<Relational, 'pool' | 'facts' | 'designation'> &
    Pick<RelationalOptions, 'timers'> & { sockets: Sockets },
): Promise<void> {
  const { pool, facts, designation, sockets, timers } = parts;
  let ended: Promise<void> | null = null;
  const end = (): Promise<void> => {
    ended ??= pool.end();
    return ended;
  };
  const deadline = timers.setTimeout(() => {
    void end();
    sockets.destroyAll();
  }, DATABASE_TIMEOUT_MS);
  await Promise.all([facts.close(), designation.close()]);
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
