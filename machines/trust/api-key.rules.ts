// What an API key may be given when it is made: no scope beyond its maker's role, a name, and an end. It is only the
// upper bound: what the key may do is judged anew on every request, by the role its maker has then. decision: D36, D43
import { labelNameOf } from '../console/fleet/labels.rules.ts';
import { type Refusal, refuse } from '../errors.ts';
import { API_KEY_TTL_DEFAULT_MS, API_KEY_TTL_MAX_MS, LABEL_NAME_MAX_CHARS } from '../limits.ts';
import { ROLE_SCOPES, type Role, SCOPES, type Scope } from './roles.rules.ts';

/** What a key can be asked to hold; `admin` is whatever its maker's role holds, also later. */
export const KEY_SCOPES = ['admin', ...SCOPES] as const;
export type KeyScope = Scope | 'admin';

export type KeyRequest = {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Absent: the default; null: never. */
  readonly expiresAtMs?: number | null | undefined;
};
export type KeyTerms = {
  readonly ok: true;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAtMs: number | null;
};

/** Judges what somebody asks of a new key. */
export function keyTermsOf(
  request: KeyRequest,
  { role, nowMs }: { readonly role: Role; readonly nowMs: number },
): KeyTerms | Refusal {
  const name = labelNameOf(request.name);
  if (name === null) return refuseField('/name', `a name of 1 to ${LABEL_NAME_MAX_CHARS} letters`);
  const scopes = KEY_SCOPES.filter((one) => request.scopes.includes(one));
  if (scopes.length === 0) return refuseField('/scopes', 'at least one');
  const beyond = scopes.find((one) => !mayGive(role, one));
  if (beyond !== undefined) {
    return refuse('role_required', `The role ${role} cannot give a key the scope ${beyond}.`);
  }
  const { expiresAtMs = nowMs + API_KEY_TTL_DEFAULT_MS } = request;
  if (expiresAtMs === null) {
    if (role === 'admin') return { ok: true, name, scopes, expiresAtMs };
    return refuse('role_required', 'Only an admin makes a key that never expires.');
  }
  const isInTime = expiresAtMs > nowMs && expiresAtMs <= nowMs + API_KEY_TTL_MAX_MS;
  if (!isInTime) return refuseField('/expires_at', 'in the future and within one year');
  return { ok: true, name, scopes, expiresAtMs };
}

function mayGive(role: Role, scope: KeyScope): boolean {
  return scope === 'admin' ? role === 'admin' : ROLE_SCOPES[role].includes(scope);
}

function refuseField(pointer: string, detail: string): Refusal {
  return refuse('schema_violation', 'The key cannot be made like this.', {
    errors: [{ pointer, detail }],
  });
}
