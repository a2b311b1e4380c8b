// Who calls the operator plane, as every route sees it: a person with a session, or a key. The role is the one its
// person has now, never the one it had when the credential was made. decision: D36; invariant: I18
import type { LoginNeed } from '../../machines/console/access/second-factor.rules.ts';
import { ROLE_LEVELS, type Role, type Scope } from '../../machines/trust/roles.rules.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';

/** The caller of one request. */
export type Operator = {
  readonly kind: 'api_key' | 'session';
  /** Id of the key or of the session; no secret. */
  readonly id: string;
  /** Null: a key that the Console made for whoever started it. */
  readonly userId: string | null;
  /** Names the caller in the audit log: `user:<e-mail>` or `api-key:<name>`. */
  readonly actor: string;
  readonly role: Role;
  /** What the caller may do now; of a session that waits for its second factor, nothing. */
  readonly scopes: readonly Scope[];
  /** A key is always full; a session is partial until its second factor was shown. */
  readonly stage: SessionStage;
  /** What a session lacks; null when it is full, and of a key. */
  readonly need: LoginNeed | null;
  /** When its person last showed credentials in this session; null of a key. */
  readonly authenticatedAtMs: number | null;
  /** When a key ends; null when it never does, and of a session. */
  readonly endsAtMs: number | null;
  /** SHA-256 of the secret: finds the credential again. */
  readonly hash: Buffer;
};

/** Whether the caller may do what a route or topic asks. */
export function hasScope({ scopes }: Pick<Operator, 'scopes'>, wanted: Scope): boolean {
  return scopes.includes(wanted);
}

/** Whose budget a request takes from: a person's, however many keys and sessions it has; else the key's own. decision: D41 */
export function principalOf({ userId, id }: Pick<Operator, 'userId' | 'id'>): string {
  return userId === null ? `key:${id}` : `user:${userId}`;
}

/** Whether the role has the larger budget of levels 3 and 4. */
export function hasLargeBudget(role: Role): boolean {
  return ROLE_LEVELS[role] >= 3;
}
