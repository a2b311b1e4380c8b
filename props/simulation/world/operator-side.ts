// The operator side of a simulated Console: its own judge of credentials and its own services. What a browser or program
// would send over HTTP is asked here; whoever asks is judged as on every request.
import type { ApiKeyService } from '../../../actors/access/api-key-service.ts';
import type { LoginService } from '../../../actors/access/login.ts';
import type { PasswordService } from '../../../actors/access/own-password.ts';
import type { SessionService } from '../../../actors/access/sessions.ts';
import type { SsoService } from '../../../actors/access/sso/sso-service.ts';
import type { UserService } from '../../../actors/access/users.ts';
import type { Admitter } from '../../../gateway/access/admitter.ts';
import type { Operator } from '../../../gateway/access/operator.ts';
import { SESSION_COOKIE } from '../../../gateway/access/session-cookie.ts';
import { access } from '../../../gateway/capabilities/access/access.ts';
import type { ConsoleContext } from '../../../gateway/capability.ts';
import type { UserStore } from '../../../storage/ports/access/users.ts';
import type { World } from './world.ts';

/** What somebody shows. */
export type Shown = { readonly kind: 'session' | 'api_key'; readonly secret: string };
export type OperatorSide = {
  /** Judges who asks, as the plane does before every route; null when refused. Rejects with StoreUnavailable. */
  admit(shown: Shown): Promise<Operator | null>;
  readonly login: LoginService;
  readonly sessions: SessionService;
  readonly passwords: PasswordService;
  readonly users: UserService;
  readonly accounts: Pick<UserStore, 'findByEmail' | 'get'>;
  readonly keys: ApiKeyService;
  readonly sso: SsoService;
};

const NOWHERE = '192.0.2.1';

/** What a Console's own services offer whoever asks them. */
export function createOperatorSide(context: ConsoleContext): OperatorSide {
  const { people, apiKeys, sso, admitter } = context.use(access);
  const { login, sessions, passwords, service } = people;
  return {
    async admit({ kind, secret }) {
      const { result } = await admitter.admit({
        authorization: kind === 'api_key' ? `Bearer ${secret}` : undefined,
        cookie: kind === 'session' ? `${SESSION_COOKIE}=${secret}` : undefined,
        address: NOWHERE,
      });
      return result.ok ? result.operator : null;
    },
    ...{ login, sessions, passwords, accounts: context.relational.users },
    ...{ users: service, keys: apiKeys, sso: sso.service },
  };
}

/** The capability of access, where every credential that is shown is told to the checkers. */
export function observedAccessOf(world: World, console: string): typeof access {
  return {
    name: access.name,
    async open(context) {
      const opened = await access.open(context);
      const { service, guard } = opened;
      const admitter = observed({ world, console, now: context.time.now }, service.admitter);
      return {
        ...opened,
        service: { ...service, admitter },
        ...(guard === undefined ? {} : { guard: { ...guard, admitter } }),
      };
    },
  };
}

function observed(
  of: { readonly world: World; readonly console: string; readonly now: () => number },
  admitter: Admitter,
): Admitter {
  const { world, console, now } = of;
  return {
    ...admitter,
    async admit(credentials) {
      const ask = world.log.size();
      world.observe({ kind: 'operator.asked', ask, console, consoleNowMs: now() });
      const admission = await admitter.admit(credentials);
      const { result } = admission;
      if (!result.ok) {
        world.observe({ kind: 'operator.refused', ask, console, code: result.code });
        return admission;
      }
      const { userId: user, role, scopes, stage, id: credential } = result.operator;
      world.observe({
        ...{ kind: 'operator.admitted', ask, console, credential, user, role, scopes, stage },
        consoleNowMs: now(),
      });
      return admission;
    },
  };
}
