// Who somebody is that came back from an identity provider, and whether they get in. A person is known by provider and
// subject alone. An e-mail address makes or takes over an account only when the provider has verified it, and takes one
// over only in a domain for which an admin trusts this provider. decision: D40; invariant: I18
import { SSO_CLAIMED_GROUPS_MAX, SSO_TEXT_MAX_CHARS } from '../../limits.ts';
import { ROLE_LEVELS, ROLES, type Role } from '../../trust/roles.rules.ts';
import { emailKeyOf, isEmail } from './account.rules.ts';
import type { SSO_KINDS } from './sso-provider.rules.ts';

// Clocks of providers and of Consoles differ.
const AUTH_TIME_SKEW_MS = 60_000;

export type Claims = Readonly<Record<string, unknown>>;

export type SsoPerson = {
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  /** Null: the provider tells none. */
  readonly groups: readonly string[] | null;
  /** There are more groups than the provider puts into its answer, so what is missing cannot be known. */
  readonly hasMoreGroups: boolean;
};

export type SsoPolicy = {
  readonly groupRoles: Readonly<Record<string, Role>>;
  readonly defaultRole: Role | null;
  readonly createsUsers: boolean;
  readonly domains: readonly string[];
  readonly linkDomains: readonly string[];
};

export type KnownAccount = { readonly userId: string; readonly isActive: boolean };
export type KnownAccounts = {
  /** Whose subject this is already. */
  readonly linked: KnownAccount | null;
  /** The account that an earlier login of this very subject made, and did not come to tie. */
  readonly made: KnownAccount | null;
  /** Who has the same e-mail address. */
  readonly sameEmail: KnownAccount | null;
};

export type SsoRefusalCode = 'sso_email_refused' | 'sso_account_refused';
export type SsoVerdict =
  | { readonly do: 'login' | 'link'; readonly userId: string; readonly role: Role | null }
  | {
      readonly do: 'create';
      readonly email: string;
      readonly displayName: string;
      readonly role: Role;
    }
  | { readonly do: 'refuse'; readonly code: SsoRefusalCode; readonly reason: string };

/** Reads the claims of a genuine answer; null when there is no usable subject. */
export function personOf(
  kind: (typeof SSO_KINDS)[number],
  claims: Claims,
  groupsClaim: string | null,
): SsoPerson | null {
  const subject = textOf(claims['sub']);
  if (subject === null) return null;
  const email = textOf(claims['email']);
  const isUsable = email !== null && isEmail(email);
  return {
    subject,
    email: isUsable ? email : null,
    isEmailVerified: isUsable && isVerified(kind, claims, email),
    name: textOf(claims['name']),
    groups: groupsClaim === null ? null : groupsIn(claims, groupsClaim),
    hasMoreGroups: groupsClaim !== null && isCutShort(claims, groupsClaim),
  };
}

/** What a provider has to prove; nothing configured proves nothing. */
export type EvidencePolicy = {
  readonly requiredAcr?: readonly string[];
  readonly requiredAmr?: readonly string[];
  readonly maxAgeSeconds?: number | null;
};

/**
 * How the credentials were shown at the provider, by its ID token: with a second factor as configured, without one
 * although configured, or nobody asked. Null: too long ago, or it does not say when. decision: D63
 */
export function evidenceIn(
  claims: Claims,
  policy: EvidencePolicy,
  nowMs: number,
): 'mfa' | 'local' | 'unasked' | null {
  const { requiredAcr = [], requiredAmr = [], maxAgeSeconds = null } = policy;
  if (maxAgeSeconds !== null) {
    const atSeconds = claims['auth_time'];
    if (typeof atSeconds !== 'number') return null;
    if (nowMs - atSeconds * 1_000 > maxAgeSeconds * 1_000 + AUTH_TIME_SKEW_MS) return null;
  }
  if (requiredAcr.length === 0 && requiredAmr.length === 0) return 'unasked';
  const acr = claims['acr'];
  const amr: readonly unknown[] = Array.isArray(claims['amr']) ? claims['amr'] : [];
  const isAcr = typeof acr === 'string' && requiredAcr.includes(acr);
  const isAmr = requiredAmr.length > 0 && requiredAmr.every((one) => amr.includes(one));
  return isAcr || isAmr ? 'mfa' : 'local';
}

/** When the credentials were shown at the provider, as its ID token says, never later than now; 0: it does not say. */
export function authenticatedAtIn(claims: Claims, nowMs: number): number {
  const atSeconds = claims['auth_time'];
  if (typeof atSeconds !== 'number' || !Number.isSafeInteger(atSeconds)) return 0;
  return Math.max(0, Math.min(nowMs, atSeconds * 1_000));
}

/** How a session tells through which provider it began, and what that proved. */
export function methodOfSso(providerId: string, evidence: 'mfa' | 'local' | 'unasked'): string {
  return `sso:${providerId}${evidence === 'unasked' ? '' : `+${evidence}`}`;
}

/** Whether the claims lack what is asked of the user-info endpoint. */
export function lacksClaims(claims: Claims, groupsClaim: string | null): boolean {
  if (textOf(claims['email']) === null) return true;
  return groupsClaim !== null && valueAt(claims, groupsClaim) === undefined;
}

// How somebody logged in is proved by the signed token only.
const OF_THE_LOGIN: readonly string[] = ['acr', 'amr', 'auth_time'];
const OF_THE_ADDRESS: readonly string[] = ['email', 'email_verified', 'xms_edov', 'hd'];

/** The claims of the token, and of the user-info endpoint what it lacks; what is said of an address stays with it. */
export function joinedClaims(token: Claims, more: Claims): Claims {
  const [own, other] = [textOf(token['email']), textOf(more['email'])];
  const about = without(more, OF_THE_LOGIN);
  if (own === null) return { ...about, ...without(token, other === null ? [] : OF_THE_ADDRESS) };
  const isSame = other !== null && emailKeyOf(own) === emailKeyOf(other);
  return { ...(isSame ? about : without(about, OF_THE_ADDRESS)), ...token };
}

function without(claims: Claims, names: readonly string[]): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)));
}

/** The role of somebody in these groups: the highest that is mapped, else the default; null when there is neither. */
export function roleOfGroups(
  groups: readonly string[],
  { groupRoles, defaultRole }: Pick<SsoPolicy, 'groupRoles' | 'defaultRole'>,
): Role | null {
  const mapped = groups.flatMap((group) => {
    const role = Object.hasOwn(groupRoles, group) ? groupRoles[group] : undefined;
    return role === undefined ? [] : [role];
  });
  return mapped.sort((a, b) => rankOf(b) - rankOf(a))[0] ?? defaultRole;
}

/** Judges a person. A role of null leaves the account's own: the provider tells no groups. */
export function judgePerson(
  person: SsoPerson,
  policy: SsoPolicy,
  known: KnownAccounts,
): SsoVerdict {
  const { email, groups } = person;
  if (person.hasMoreGroups) return account('the provider does not tell all groups');
  if (!isInDomains(email, policy.domains, true)) return byEmail('it is of no allowed domain');
  const role = groups === null ? null : roleOfGroups(groups, policy);
  if (groups !== null && role === null) return account('no group of theirs has a role');
  const { linked, made, sameEmail } = known;
  if (linked !== null) return enter('login', linked, role);
  if (email === null || !person.isEmailVerified) return byEmail('it is not verified');
  if (made !== null) return enter('link', made, role);
  if (sameEmail !== null) {
    if (isInDomains(email, policy.linkDomains, false)) return enter('link', sameEmail, role);
    return account('an account with this address exists and is not handed over');
  }
  const first = role ?? policy.defaultRole;
  if (!policy.createsUsers) return account('accounts are not made at the first login');
  if (first === null) return account('there is no role for a new account');
  return { do: 'create', email, displayName: person.name ?? email, role: first };
}

/** Where a browser may be sent after the login: a path of this Console, else the start page. */
export function localPathOf(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)) return '/';
  return text;
}

function enter(how: 'login' | 'link', known: KnownAccount, role: Role | null): SsoVerdict {
  if (!known.isActive) return account('the account is disabled');
  return { do: how, userId: known.userId, role };
}

function account(reason: string): SsoVerdict {
  return { do: 'refuse', code: 'sso_account_refused', reason };
}

function byEmail(reason: string): SsoVerdict {
  return { do: 'refuse', code: 'sso_email_refused', reason };
}

function isInDomains(email: string | null, domains: readonly string[], whenNone: boolean): boolean {
  if (domains.length === 0) return whenNone;
  if (email === null) return false;
  return domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}

function isVerified(kind: (typeof SSO_KINDS)[number], claims: Claims, email: string): boolean {
  // Entra lets every tenant write any address into `email`; only this claim says that the owner of the domain agreed.
  if (kind === 'entra') return isYes(claims['xms_edov']);
  if (claims['email_verified'] !== true) return false;
  // Of other domains Google once checked the address, but a mailbox changes hands; `hd` says that Google hosts it.
  if (kind === 'google') return /@gmail\.com$/i.test(email) || textOf(claims['hd']) !== null;
  return true;
}

function isYes(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true';
}

function groupsIn(claims: Claims, name: string): readonly string[] {
  const value = valueAt(claims, name);
  const groups = Array.isArray(value) ? value : [value];
  return groups
    .filter((group): group is string => typeof group === 'string')
    .slice(0, SSO_CLAIMED_GROUPS_MAX);
}

/** A claim by its name, or by a path of names joined by dots. */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/** Entra names a claim it left out in `_claim_names`; a list over our own bound is cut as well. */
function isCutShort(claims: Claims, name: string): boolean {
  const elsewhere = claims['_claim_names'];
  const isElsewhere =
    typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name);
  const value = valueAt(claims, name);
  return isElsewhere || (Array.isArray(value) && value.length > SSO_CLAIMED_GROUPS_MAX);
}

function textOf(value: unknown): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= SSO_TEXT_MAX_CHARS;
  return isText ? value : null;
}

function rankOf(role: Role): number {
  return ROLE_LEVELS[role] * ROLES.length + ROLES.indexOf(role);
}
