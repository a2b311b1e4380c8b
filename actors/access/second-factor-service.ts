// What can be done with second factors, and what it takes. The service itself is in second-factor.ts. decision: D39

import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { FactorState } from '../../machines/console/access/second-factor.rules.ts';
import type { Refusal } from '../../machines/errors.ts';
import type { Reach } from '../../machines/trust/reach.rules.ts';
import type { Role } from '../../machines/trust/roles.rules.ts';
import type { LoginFailureStore } from '../../storage/ports/access/login-failures.ts';
import type {
  RecoveryCodes,
  SecondFactorStore,
} from '../../storage/ports/access/second-factors.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';
import type { LoginService } from './login.ts';
import type { LoginEvidence } from './login-evidence.ts';
import type { NeedOf } from './login-need.ts';
import type { IssuedSession, SessionService } from './sessions.ts';

/** Who asks, with which session. */
export type FactorAsking = {
  readonly userId: string;
  readonly session: { readonly hash: Buffer; readonly stage: SessionStage };
  readonly actor: string;
  readonly from: string;
};
/** A code that was typed, or what a security key answered. */
export type ShownFactor = string | AuthenticationResponseJSON;
export type Answer<T> = Promise<({ readonly ok: true } & T) | Refusal>;
export type SecondFactorService = {
  view(userId: string): Answer<{
    readonly state: FactorState;
    readonly changedAtMs: number | null;
    readonly codesLeft: number;
    readonly isRequired: boolean;
  }>;
  /** Shows a new secret; a full session says its password again. */
  begin(
    asking: FactorAsking,
    given: { readonly password?: string | undefined },
  ): Answer<{ readonly secret: string; readonly address: string; readonly qrSvg: string }>;
  /** The first code of the secret turns the factor on; recovery codes are told this once. */
  confirm(
    asking: FactorAsking,
    code: string,
  ): Answer<{
    readonly recoveryCodes: readonly string[];
    readonly issued: IssuedSession;
    readonly evidence: LoginEvidence | null;
  }>;
  /** Makes a partial session a full one. */
  verify(
    asking: FactorAsking,
    shown: ShownFactor,
  ): Answer<{
    readonly by: 'totp' | 'recovery' | 'security_key';
    readonly codesLeft: number;
    readonly issued: IssuedSession;
    readonly evidence: LoginEvidence;
  }>;
  /** A fresh set of recovery codes in place of the old. */
  replaceCodes(
    asking: FactorAsking,
    code: string,
  ): Answer<{ readonly recoveryCodes: readonly string[] }>;
  /** Shows password and factor again, so that the session may do what asks for it; it goes on under a new secret. */
  renew(
    asking: FactorAsking,
    given: { readonly code?: ShownFactor | undefined; readonly password?: string | undefined },
  ): Answer<{ readonly issued: IssuedSession }>;
  /** Turns it off; the session goes on, partial when the role demands a second factor. */
  disable(
    asking: FactorAsking,
    given: { readonly code: string; readonly password?: string | undefined },
  ): Answer<{ readonly issued: IssuedSession }>;
  /** Takes the factor from somebody who lost it; nobody does that to oneself. Ends every session of the person. */
  reset(
    input: Omit<AuditContext, 'nowMs'> & {
      readonly userId: string;
      readonly by: Reach & { readonly userId: string | null };
    },
  ): Answer<object>;
};

export type SecondFactorDeps = {
  readonly users: Pick<UserStore, 'get' | 'noteLogin'>;
  readonly secondFactors: SecondFactorStore;
  readonly recoveryCodes: RecoveryCodes;
  readonly securityKeys: {
    /** Whether a key of the person answered what this session was asked. */
    use(asking: FactorAsking, response: AuthenticationResponseJSON): Promise<boolean>;
  };
  readonly loginFailures: Pick<LoginFailureStore, 'takeTry' | 'failuresOf' | 'forgetFailures'>;
  readonly sessions: Pick<SessionService, 'turn' | 'end' | 'find'>;
  /** What a session still lacks. */
  readonly needOf: NeedOf;
  readonly audit: Pick<AuditLog, 'append' | 'search'>;
  /** A password that is said again counts like a login. */
  readonly login: Pick<LoginService, 'confirm'>;
  readonly sealer: Sealer;
  readonly requiredRoles: () => readonly Role[];
  /** Whose codes these are, as the app shows it. */
  readonly issuer: () => string;
  readonly now: () => number;
  readonly chance?: Pick<Chance, 'randomBytes'>;
  readonly logger: Logger;
};
