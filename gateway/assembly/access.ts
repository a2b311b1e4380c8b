// Operator access joined together: who is admitted, within which budgets, and what its resources are given. Both planes
// take the address budget from here, so that there is one. decision: D36, D41; invariant: I18
import type { Logger } from '../../actors/runtime/logger.ts';
import type { SettingsDesk } from '../../actors/settings/settings-desk.ts';
import {
  RATE_LIMIT_ANALYST_PER_MINUTE,
  RATE_LIMIT_OPERATOR_PER_MINUTE,
} from '../../machines/limits.ts';
import type { ApiKeys } from '../../storage/ports/relational.ts';
import type { SessionStore } from '../../storage/ports/sessions.ts';
import type { TeamStore } from '../../storage/ports/teams.ts';
import type { UserStore } from '../../storage/ports/users.ts';
import { type Admitter, createAdmitter } from '../access/admitter.ts';
import { createMemoryBudget, type RateBudget } from '../access/rate-budget.ts';
import { createSeenBatch } from '../access/seen-batch.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { AccessDeps } from '../operator-plane/access-deps.ts';
import type { Time } from './time.ts';

/** The stores of operator access; the relational ports and the reference stores satisfy it. */
export type AccessStores = {
  readonly apiKeys: ApiKeys;
  readonly users?: UserStore;
  readonly sessions?: SessionStore;
  readonly teams?: Pick<TeamStore, 'owns'>;
};

export type Access = {
  readonly admitter: Admitter;
  readonly addressBudget: RateBudget;
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
  readonly addressBudget: RateBudget;
};

/** Builds operator access; nothing runs before the first request. */
export function assembleAccess(input: AccessInput): Access {
  const { config, settings, time, logger, stores, addressBudget } = input;
  const { SEEN_WRITE_INTERVAL_MS: intervalMs } = config.intervals;
  const { users, sessions, teams } = stores;
  const common = { timers: time, logger, intervalMs };
  const seen = {
    keys: createSeenBatch({ ...common, write: (batch) => stores.apiKeys.touch(batch) }),
    sessions: createSeenBatch({ ...common, write: async (batch) => sessions?.touch(batch) }),
  };
  const admitter = createAdmitter({
    apiKeys: stores.apiKeys,
    sessions: sessions ?? { findByHash: async () => null },
    users: users ?? { get: async () => null },
    budgets: {
      large: createMemoryBudget(RATE_LIMIT_OPERATOR_PER_MINUTE),
      small: createMemoryBudget(RATE_LIMIT_ANALYST_PER_MINUTE),
      address: addressBudget,
    },
    seen,
    sessionIdleMs: () => settings.intervals.SESSION_IDLE_MS,
    now: time.now,
  });
  return {
    admitter,
    addressBudget,
    plane: {
      owns: async (userId, sensorId) => (await teams?.owns(userId, sensorId)) ?? false,
      judgeOrigin: () => null,
      settings,
    },
    async close() {
      await seen.keys.close();
      await seen.sessions.close();
    },
  };
}
