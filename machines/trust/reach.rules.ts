// How far a credential reaches: the one judge that everything passes which touches another account, or gives somebody
// power. A credential reaches an account only when it holds every scope of that account's role, so that a key that was cut
// to a few scopes strips, locks and makes nobody who holds more. decision: D62; invariant: I18
import { type Refusal, refuse } from '../errors.ts';
import { mayChangeRole, ROLE_SCOPES, type Role, type Scope } from './roles.rules.ts';

/** What a credential is now: the role of its person, and what it holds of it. */
export type Reach = { readonly role: Role; readonly scopes: readonly Scope[] };

/** Why this credential may not give an account of one role another (or touch it, when both are one); null when it may. */
export function refusalOfReach(
  { role, scopes }: Reach,
  change: { readonly from: Role; readonly to: Role },
): Refusal | null {
  const needed = [...ROLE_SCOPES[change.from], ...ROLE_SCOPES[change.to]];
  const holdsAll = needed.every((scope) => scopes.includes(scope));
  if (mayChangeRole(role, change) && holdsAll) return null;
  return refuse('role_required', 'This credential holds less than the account would.');
}

/** The same for something that touches, or gives, several roles at once. */
export function refusalOfReachAll(by: Reach, roles: Iterable<Role>): Refusal | null {
  for (const role of roles) {
    const refusal = refusalOfReach(by, { from: role, to: role });
    if (refusal !== null) return refusal;
  }
  return null;
}
