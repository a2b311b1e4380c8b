// What names an account, an e-mail address found without regard to case, and what a change of an account brings with it.
// invariant: I18
import { EMAIL_MAX_CHARS } from '../../limits.ts';
import { ROLE_SCOPES, type Role } from '../../trust/roles.rules.ts';

const EMAIL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** Whether a text can name an account. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_MAX_CHARS && EMAIL.test(text) && !text.includes('..');
}

/** By what an e-mail address is found and kept apart. */
export function emailKeyOf(email: string): string {
  return email.toLowerCase();
}

type Standing = { readonly role: Role; readonly status: 'active' | 'disabled' };

/** Whether a person who was an active admin is none any more after the patch. */
export function takesAdmin(patch: {
  readonly role?: Role | undefined;
  readonly status?: Standing['status'] | undefined;
}): boolean {
  return (patch.role !== undefined && patch.role !== 'admin') || patch.status === 'disabled';
}

/** A new role and a disabling end what was begun before them. */
export function endsSessions(before: Standing, after: Standing): boolean {
  return before.role !== after.role || after.status === 'disabled';
}

/**
 * Whether a role holds anything that another does not. What was set up on an account before is not good for it: somebody
 * who reached the smaller account may have planted it. decision: D169
 */
export function givesMore(from: Role, to: Role): boolean {
  return ROLE_SCOPES[to].some((scope) => !ROLE_SCOPES[from].includes(scope));
}
