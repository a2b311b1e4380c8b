// Operator access: who is admitted, within which budgets, and how people come and go. Both planes take the address budget
// from here, so that there is one. decision: D36, D41; invariant: I18
import { createApiKeyService } from '../../../actors/access/api-key-service.ts';
import { createPasswords, type Passwords } from '../../../actors/access/passwords.ts';
import type { People } from '../../../actors/access/people.ts';
import type { RateLimits } from '../../../actors/access/rate-limits.actor.ts';
import {
  createRefusedCredentials,
  type RefusedCredentials,
} from '../../../actors/access/refused-credentials.ts';
import { accessSweepLoop } from '../../../actors/access/sweep.ts';
import { ssoLoginMachine } from '../../../machines/console/access/sso-login.machine.ts';
import { type Admitter, createAdmitter } from '../../access/admitter.ts';
import { createBeginningJudge, createOriginJudge } from '../../access/csrf.ts';
import type { RateBudget } from '../../access/rate-budget.ts';
import { createSeenBatch } from '../../access/seen-batch.ts';
import type { Capability, ConsoleContext } from '../../capability.ts';
import type { AccessDeps } from '../../operator-plane/access/access-deps.ts';
import { apiKeyRoutes } from '../../operator-plane/access/api-keys.ts';
import { authRoutes } from '../../operator-plane/access/auth.ts';
import { authLastLoginRoutes } from '../../operator-plane/access/auth-last-login.ts';
import { authMfaRoutes } from '../../operator-plane/access/auth-mfa.ts';
import { securityKeyRoutes } from '../../operator-plane/access/auth-security-keys.ts';
import { authSsoRoutes } from '../../operator-plane/access/auth-sso.ts';
import { authWhoAmIRoutes } from '../../operator-plane/access/auth-whoami.ts';
import { ssoRoutes } from '../../operator-plane/access/sso.ts';
import { userRoutes } from '../../operator-plane/access/users.ts';
import { settings } from '../settings/settings.ts';
import { openPeople } from './people.ts';
import { rateLimits } from './rate-limits.ts';
import { measureRefusals } from './refusals.ts';
import { openSecondFactor } from './second-factor.ts';
import { openSso } from './sso.ts';

export type Access = AccessDeps & {
  readonly admitter: Admitter;
  readonly passwords: Passwords;
  readonly addressBudget: RateBudget;
  /** Whether budgets are shared, where a counter is configured. */
  readonly limits: RateLimits | null;
  /** Tells the audit log what was refused and is not told yet. */
  readonly tellRefused: () => Promise<void>;
};

export const access: Capability<Access> = {
  name: 'access',
  async open(context) {
    const { relational, config, time, logger, cursors } = context;
    const { budgets, limits } = context.use(rateLimits);
    const people = await peopleOf(context);
    const refused = createRefusedCredentials({
      ...{ audit: relational.audit, timers: time, now: time.now, logger },
    });
    const { admitter, close: closeAdmission } = admissionOf(
      context,
      { people: people.people, refused },
      budgets,
    );
    const { loginFailures, sessions } = relational;
    const deps = { access: people, cursors, now: time.now };
    return {
      service: {
        ...people,
        admitter,
        addressBudget: budgets.address,
        limits,
        tellRefused: refused.close,
      },
      guard: {
        admitter,
        owns: (userId, sensorId) => relational.teams.owns(userId, sensorId),
        judgeOrigin: createOriginJudge(() => config.baseUrl),
        judgeBeginning: createBeginningJudge(() => config.baseUrl),
        now: time.now,
      },
      operatorRoutes: () => [
        apiKeyRoutes(deps),
        authRoutes(deps),
        authMfaRoutes(deps),
        securityKeyRoutes(deps),
        authSsoRoutes(deps),
        authLastLoginRoutes(deps),
        authWhoAmIRoutes(deps),
        ssoRoutes(deps),
        userRoutes(deps),
      ],
      machines: [ssoLoginMachine],
      loops: () => [accessSweepLoop({ loginFailures, sessions, now: time.now })],
      measure: (registry) => measureRefusals(registry, refused),
      async close() {
        await closeAdmission();
        await refused.close();
      },
    };
  },
};

async function peopleOf(context: ConsoleContext): Promise<AccessDeps & { passwords: Passwords }> {
  const { relational: stores, time, chance, hasher, commonPasswords } = context;
  const passwords = createPasswords({ hasher, chance, commonPasswords });
  const service = context.use(settings);
  const people: People = openPeople({
    ...{ stores, passwords, settings: service, now: time.now, chance },
  });
  const { config, clock, logger, openProviders } = context;
  const sealer = await context.keys.operatorSecrets();
  const input = {
    config,
    clock,
    logger,
    openProviders,
    allowList: () => service.get().webhookAllowList,
    time,
    chance,
    stores,
    settings: service,
    sealer,
  };
  return {
    passwords,
    apiKeys: createApiKeyService({ apiKeys: stores.apiKeys, now: time.now, chance }),
    people,
    ...openSecondFactor(input, people),
    sso: openSso(input, people),
  };
}

function admissionOf(
  context: ConsoleContext,
  { people, refused }: { readonly people: People; readonly refused: RefusedCredentials },
  budgets: Parameters<typeof createAdmitter>[0]['budgets'],
) {
  const { relational, time, logger, intervals } = context;
  const common = { timers: time, logger, intervalMs: intervals.SEEN_WRITE_INTERVAL_MS };
  const { apiKeys, sessions, users } = relational;
  const seen = {
    keys: createSeenBatch({ ...common, write: (batch) => apiKeys.touch(batch) }),
    sessions: createSeenBatch({ ...common, write: (batch) => sessions.touch(batch) }),
  };
  const admitter = createAdmitter({
    apiKeys,
    sessions,
    users,
    budgets,
    seen,
    needOf: people.needOf,
    onRefused: refused.note,
    sessionIdleMs: () => context.intervals.SESSION_IDLE_MS,
    now: time.now,
  });
  return {
    admitter,
    async close() {
      await seen.keys.close();
      await seen.sessions.close();
    },
  };
}
