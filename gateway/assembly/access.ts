// Operator access joined together: who is admitted, within which budgets, and what its resources are given. Both planes
// take the address budget from here, so that there is one. decision: D36, D41; invariant: I18
import { createApiKeyDesk } from '../../actors/access/api-key-desk.ts';
import type { RateLimits } from '../../actors/access/rate-limits.actor.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { SettingsDesk } from '../../actors/settings/settings-desk.ts';
import { needOfLogin } from '../../machines/console/access/second-factor.rules.ts';
import type { PasswordHasher } from '../../storage/ports/access/password-hasher.ts';
import type { SessionStore } from '../../storage/ports/access/sessions.ts';
import type { SharedCounter } from '../../storage/ports/access/shared-counter.ts';
import type { SsoStore } from '../../storage/ports/access/sso-store.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { TeamStore } from '../../storage/ports/fleet/teams.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { ApiKeys, AuditLog } from '../../storage/ports/relational.ts';
import { type Admitter, createAdmitter } from '../access/admitter.ts';
import { createOriginJudge } from '../access/csrf.ts';
import type { RateBudget } from '../access/rate-budget.ts';
import { createSeenBatch } from '../access/seen-batch.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { AccessDeps } from '../operator-plane/access/access-deps.ts';
import { assemblePeople, sweepPeople } from './people.ts';
import { assembleRateLimits } from './rate-limits.ts';
import { assembleSecondFactor } from './second-factor.ts';
import { assembleSso, type ProviderWay } from './sso.ts';
import type { Time } from './time.ts';

/** The stores of operator access; the relational ports and the reference stores satisfy it. */
export type AccessStores = {
  readonly apiKeys: ApiKeys;
  readonly users: UserStore;
  readonly sessions: SessionStore;
  readonly audit: AuditLog;
  readonly sso: SsoStore;
  readonly teams: TeamStore;
};

export type Access = {
  readonly admitter: Admitter;
  readonly addressBudget: RateBudget;
  /** Whether budgets are shared, where a counter is configured. */
  readonly limits: RateLimits | null;
  /** What the operator plane is given. */
  readonly plane: AccessDeps;
  /** Writes what waits. */
  close(): Promise<void>;
};

export type AccessInput = {
  readonly config: ConsoleConfig;
  readonly settings: SettingsDesk;
  readonly time: Time;
  readonly logger: Logger;
  readonly stores: AccessStores;
  readonly clock: WheelClock;
  readonly hasher: PasswordHasher;
  /** Seals what has to be read again: secrets of second factors and of providers. */
  readonly sealer: Sealer;
  /** Counts requests for all replicas; null: each by itself. */
  readonly counter: SharedCounter | null;
  readonly providerWay?: ProviderWay;
  /** Requests of an address in a minute, where it is not the specification's. */
  readonly perAddress?: number;
};

/** Builds operator access; nothing runs before the first request. */
export function assembleAccess(input: AccessInput): Access {
  const { config, settings, time, logger, stores } = input;
  const { SEEN_WRITE_INTERVAL_MS: intervalMs } = config.intervals;
  const { users, sessions, teams } = stores;
  const common = { timers: time, logger, intervalMs };
  const seen = {
    keys: createSeenBatch({ ...common, write: (batch) => stores.apiKeys.touch(batch) }),
    sessions: createSeenBatch({ ...common, write: (batch) => sessions.touch(batch) }),
  };
  const rates = assembleRateLimits(input);
  const stopSweeping = sweepPeople({ stores, time, logger });
  const people = assemblePeople({ stores, hasher: input.hasher, settings, now: time.now });
  const admitter = createAdmitter({
    apiKeys: stores.apiKeys,
    sessions,
    users,
    budgets: rates.budgets,
    seen,
    lacksSecondFactor: ({ role, mfa: { state } }, { method }) => {
      const { mfaRequiredRoles: requiredRoles } = settings.get();
      return needOfLogin({ method, state, role, requiredRoles }) === 'totp_enrollment';
    },
    sessionIdleMs: () => settings.intervals.SESSION_IDLE_MS,
    now: time.now,
  });
  return {
    admitter,
    addressBudget: rates.budgets.address,
    limits: rates.limits,
    plane: {
      owns: (userId, sensorId) => teams.owns(userId, sensorId),
      teams,
      apiKeys: createApiKeyDesk({ apiKeys: stores.apiKeys, now: time.now }),
      judgeOrigin: createOriginJudge(() => config.baseUrl),
      settings,
      people,
      secondFactor: assembleSecondFactor(input, people),
      sso: assembleSso(input, people),
    },
    async close() {
      stopSweeping();
      await seen.keys.close();
      await seen.sessions.close();
      await rates.close();
    },
  };
}
