// The operator side of a simulated Console: the real judge of credentials and the real desks over simulated stores, clock
// and chance. What a browser or program would send over HTTP is asked here; whoever asks is judged as on every request.
import { type ApiKeyDesk, createApiKeyDesk } from '../../../actors/access/api-key-desk.ts';
import { createLoginDesk, type LoginDesk } from '../../../actors/access/login.ts';
import { createPasswordDesk, type PasswordDesk } from '../../../actors/access/own-password.ts';
import { createPasswords, type Passwords } from '../../../actors/access/passwords.ts';
import { createSessionDesk, type SessionDesk } from '../../../actors/access/sessions.ts';
import { createSsoDesk, type SsoDesk } from '../../../actors/access/sso/sso-desk.ts';
import { createUserDesk, type UserDesk } from '../../../actors/access/users.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import { type Admitter, createAdmitter } from '../../../gateway/access/admitter.ts';
import type { Operator } from '../../../gateway/access/operator.ts';
import type { RateBudget } from '../../../gateway/access/rate-budget.ts';
import { createSeenBatch } from '../../../gateway/access/seen-batch.ts';
import { SESSION_COOKIE } from '../../../gateway/access/session-cookie.ts';
import type { Time } from '../../../gateway/assembly/time.ts';
import type { Intervals } from '../../../machines/limits.ts';
import { createCheapHasher } from '../../../storage/memory/access/password-hasher.ts';
import { createPlainSealer } from '../../../storage/memory/access/plain-sealer.ts';
import type { PasswordHasher } from '../../../storage/ports/access/password-hasher.ts';
import type { UserStore } from '../../../storage/ports/access/users.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { Life } from './life.ts';
import type { SimulatedRelationalPorts } from './stores-relational.ts';
import type { World } from './world.ts';

/** What somebody shows. */
export type Shown = { readonly kind: 'session' | 'api_key'; readonly secret: string };
export type OperatorSide = {
  /** Judges who asks, as the plane does before every route; null when refused. Rejects with StoreUnavailable. */
  admit(shown: Shown): Promise<Operator | null>;
  readonly login: LoginDesk;
  readonly sessions: SessionDesk;
  readonly passwords: PasswordDesk;
  readonly users: UserDesk;
  readonly accounts: Pick<UserStore, 'findByEmail' | 'get'>;
  readonly keys: ApiKeyDesk;
  readonly sso: SsoDesk;
  close(): Promise<void>;
};

/** How long a password takes to be judged; long enough for somebody to change it meanwhile. */
const HASH_MS = 40;
const NOWHERE = '192.0.2.1';

export type OperatorSideInput = {
  readonly world: World;
  readonly console: string;
  readonly life: Life;
  readonly time: Time;
  readonly clock: WheelClock;
  readonly logger: Logger;
  readonly intervals: Intervals;
  readonly chance: Chance;
  readonly budget: RateBudget;
  readonly provider: IdentityProvider;
  readonly relational: SimulatedRelationalPorts;
};

/** Puts it together; nothing runs before somebody asks. */
export function createOperatorSide(input: OperatorSideInput): OperatorSide {
  const { time, logger, intervals, relational, chance, life } = input;
  const { now } = time;
  const { users, audit, apiKeys } = relational;
  const passwords = passwordsOf(life, chance);
  const sessions = createSessionDesk({
    ...{ sessions: relational.sessions, now, chance },
    idleMs: () => intervals.SESSION_IDLE_MS,
    lifetimeMs: () => intervals.SESSION_ABSOLUTE_MS,
  });
  const login = createLoginDesk({
    ...{ users, sessions, passwords, audit, now },
    needOf: () => null,
    siteOf: (address) => address,
  });
  const batch = { timers: time, logger, intervalMs: intervals.SEEN_WRITE_INTERVAL_MS };
  const seen = {
    keys: createSeenBatch({ ...batch, write: (uses) => apiKeys.touch(uses) }),
    sessions: createSeenBatch({ ...batch, write: (uses) => relational.sessions.touch(uses) }),
  };
  const { budget } = input;
  const admitter = createAdmitter({
    ...{ apiKeys, sessions: relational.sessions, users, seen, now },
    budgets: { large: budget, small: budget, address: budget },
    sessionIdleMs: () => intervals.SESSION_IDLE_MS,
  });
  return {
    admit: (shown) => admitted(input, admitter, shown),
    ...{ login, sessions, accounts: users },
    passwords: createPasswordDesk({ users, sessions, login, passwords, audit, now }),
    users: createUserDesk({ users, now, chance }),
    keys: createApiKeyDesk({ apiKeys, now, chance }),
    sso: createSsoDesk({
      ...{ sso: relational.sso, users, sessions, audit, logger, now, chance },
      ...{ client: input.provider.clientFor(life), sealer: createPlainSealer() },
      ...{ clock: input.clock, callbackUrl: () => 'https://console.world/callback' },
    }),
    async close() {
      await seen.keys.close();
      await seen.sessions.close();
    },
  };
}

async function admitted(
  { world, console, time }: OperatorSideInput,
  admitter: Admitter,
  { kind, secret }: Shown,
): Promise<Operator | null> {
  const ask = world.log.size();
  world.observe({ kind: 'operator.asked', ask, console, consoleNowMs: time.now() });
  const { result } = await admitter.admit({
    authorization: kind === 'api_key' ? `Bearer ${secret}` : undefined,
    cookie: kind === 'session' ? `${SESSION_COOKIE}=${secret}` : undefined,
    address: NOWHERE,
  });
  if (!result.ok) {
    world.observe({ kind: 'operator.refused', ask, console, code: result.code });
    return null;
  }
  const { userId: user, role, scopes, stage, id: credential } = result.operator;
  world.observe({
    ...{ kind: 'operator.admitted', ask, console, credential, user, role, scopes, stage },
    consoleNowMs: time.now(),
  });
  return result.operator;
}

// The rules of passwords are judged elsewhere, with a list that takes real time to read; here everybody chooses well.
function passwordsOf(life: Life, chance: Chance): Passwords {
  const cheap = createCheapHasher();
  const takesTime = () => life.call('hasher', () => undefined, HASH_MS);
  const hasher: PasswordHasher = {
    isOutdated: cheap.isOutdated,
    hash: (password) => takesTime().then(() => cheap.hash(password)),
    verify: (stored, password) => takesTime().then(() => cheap.verify(stored, password)),
  };
  return {
    ...createPasswords({ hasher, chance }),
    async accept(password) {
      const hash = await hasher.hash(password);
      return hash === 'busy' ? { ok: false, code: 'overloaded', detail: '' } : { ok: true, hash };
    },
  };
}
