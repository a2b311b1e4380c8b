// Judges the credential of every request to the operator plane: a bearer API key, or the session cookie of a person. When
// a request carries both, the bearer alone counts: it was set on purpose, a cookie comes along by itself. Either is found
// by the SHA-256 of its secret, and its role is the one its person has now: who is disabled or removed has no key and no
// session left. A mistyped or foreign key is refused by its checksum before the database is asked. A client certificate
// is never a credential here. decision: D15, D19, D36; invariant: I11, I18
import { createHash } from 'node:crypto';
import type { RefusedKind } from '../../actors/access/refused-credentials.ts';
import type { LoginNeed } from '../../machines/console/access/second-factor.rules.ts';
import { sessionStateOf } from '../../machines/console/access/session.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { KEYS_REMEMBERED_MAX } from '../../machines/limits.ts';
import { scopesOf } from '../../machines/trust/roles.rules.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { ApiKeyRow, ApiKeys } from '../../storage/ports/access/api-keys.ts';
import type { SessionRow, SessionStore } from '../../storage/ports/access/sessions.ts';
import type { BudgetState } from '../../storage/ports/access/shared-counter.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import { hasLargeBudget, type Operator, principalOf } from './operator.ts';
import { addressKey, type RateBudget } from './rate-budget.ts';
import type { SeenBatch } from './seen-batch.ts';
import { sessionCookieOf } from './session-cookie.ts';

/** The parts of a request that say who asks; header values as they came. */
export type Credentials = {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly address: string;
};

export type Admission = {
  /** The budget that was asked last, for the RateLimit headers. */
  readonly budget: { readonly name: string; readonly state: BudgetState } | null;
  readonly result: { readonly ok: true; readonly operator: Operator } | Refusal;
};

export type Admitter = {
  /** Judges the credentials of a request. Rejects with StoreUnavailable. */
  admit(credentials: Credentials): Promise<Admission>;
  /** Takes an anonymous request from the address budget. */
  admitAnonymous(address: string): Promise<{ readonly budget: BudgetState; readonly ok: boolean }>;
  /** The same caller as it is now, with the role it has now; null when its credential ended. Rejects with StoreUnavailable. */
  renew(operator: Operator): Promise<Operator | null>;
};

export type Budgets = {
  /** Levels 3 and 4. */
  readonly large: RateBudget;
  /** Levels 1 and 2. */
  readonly small: RateBudget;
  /** Addresses without a credential. */
  readonly address: RateBudget;
};

export type AdmitterDeps = {
  readonly apiKeys: Pick<ApiKeys, 'findByHash'>;
  readonly sessions: Pick<SessionStore, 'findByHash'>;
  readonly users: Pick<UserStore, 'get'>;
  readonly budgets: Budgets;
  /** Where uses of keys and sessions are noted. */
  readonly seen: { readonly keys: SeenBatch; readonly sessions: SeenBatch };
  readonly sessionIdleMs: () => number;
  /** What a session lacks by what is known of its person now; it does nothing else until then. */
  readonly needOf?: (user: UserRow, session: SessionRow) => LoginNeed | null;
  /** Told each credential that was refused, and where from. */
  readonly onRefused?: (kind: RefusedKind, place: string) => void;
  readonly now: () => number;
};

type Presented =
  | { readonly kind: 'api_key' | 'session'; readonly hash: Buffer }
  | { readonly kind: 'none'; readonly refusal: Refusal };

/** Makes the judge of operator credentials. */
export function createAdmitter(deps: AdmitterDeps): Admitter {
  // Credentials that were good lately pass an exhausted address budget: a neighbour's guesses must not lock an operator out.
  const remembered = new Set<string>();

  function find(kind: Operator['kind'], hash: Buffer): Promise<Operator | null> {
    return kind === 'api_key' ? findKey(deps, hash) : findSession(deps, hash);
  }

  async function admit(credentials: Credentials): Promise<Admission> {
    const { address } = credentials;
    const note = (kind: RefusedKind) => deps.onRefused?.(kind, addressKey(address));
    const presented = presentedBy(credentials);
    const name = presented.kind === 'none' ? '' : presented.hash.toString('hex');
    const guess = remembered.has(name)
      ? null
      : await deps.budgets.address.consume(addressKey(address));
    const budget = guess === null ? null : { name: 'unauthenticated', state: guess };
    if (guess !== null && !guess.allowed) {
      note('rate_limited');
      return { budget, result: limited(guess) };
    }
    if (presented.kind === 'none') {
      if (presented.refusal.code === 'credential_invalid') note('unknown_key');
      return { budget, result: presented.refusal };
    }
    const operator = await find(presented.kind, presented.hash);
    if (operator === null) {
      remembered.delete(name);
      note(presented.kind === 'api_key' ? 'unknown_key' : 'dead_session');
      return { budget, result: ended(presented.kind) };
    }
    if (guess !== null) await deps.budgets.address.reward(addressKey(address));
    remember(remembered, name);
    const { large, small } = deps.budgets;
    const own = await (hasLargeBudget(operator.role) ? large : small).consume(
      principalOf(operator),
    );
    if (own.allowed) noteUse(deps, operator);
    return {
      budget: { name: operator.userId === null ? 'key' : 'user', state: own },
      result: own.allowed ? { ok: true, operator } : limited(own),
    };
  }

  return {
    admit,
    async admitAnonymous(address) {
      const budget = await deps.budgets.address.consume(addressKey(address));
      if (!budget.allowed) deps.onRefused?.('rate_limited', addressKey(address));
      return { budget, ok: budget.allowed };
    },
    renew: (operator) => find(operator.kind, operator.hash),
  };
}

async function findKey(deps: AdmitterDeps, hash: Buffer): Promise<Operator | null> {
  const row = await deps.apiKeys.findByHash(hash);
  if (row === null || !isUsable(row, deps.now())) return null;
  const { keyId: id, userId, expiresAtMs: endsAtMs } = row;
  const role = userId === null ? 'admin' : (await activeUser(deps, userId))?.role;
  if (role === undefined) return null;
  const [actor, scopes] = [`api-key:${row.name}`, scopesOf(role, row.scopes)];
  const session = { stage: 'full', need: null, authenticatedAtMs: null } as const;
  return { kind: 'api_key', id, userId, actor, role, scopes, hash, endsAtMs, ...session };
}

async function findSession(deps: AdmitterDeps, hash: Buffer): Promise<Operator | null> {
  const row = await deps.sessions.findByHash(hash);
  if (row === null || !isAlive(deps, row)) return null;
  const user = await activeUser(deps, row.userId);
  if (user === null) return null;
  const need = deps.needOf?.(user, row) ?? null;
  const stage = need === null ? row.stage : 'partial';
  const { role, email } = user;
  return {
    ...{ kind: 'session', id: row.sessionId, userId: row.userId, actor: `user:${email}` },
    ...{ need, authenticatedAtMs: row.authenticatedAtMs, endsAtMs: null },
    ...{ role, stage, hash, scopes: stage === 'full' ? scopesOf(role, null) : [] },
  };
}

async function activeUser(deps: AdmitterDeps, userId: string): Promise<UserRow | null> {
  const user = await deps.users.get(userId);
  return user?.status === 'active' ? user : null;
}

function isUsable(row: ApiKeyRow, nowMs: number): boolean {
  return row.revokedAtMs === null && (row.expiresAtMs === null || nowMs < row.expiresAtMs);
}

// Uses are written in batches, so a use that is noted and not yet written counts as well.
function isAlive({ now, seen, sessionIdleMs }: AdmitterDeps, row: SessionRow): boolean {
  const nowMs = now();
  const lastMs = Math.max(row.lastSeenAtMs, seen.sessions.noted(row.hash) ?? 0);
  const state = sessionStateOf(
    { ...row, lastSeenAtMs: lastMs },
    { nowMs, idleMs: sessionIdleMs() },
  );
  return state === 'partial' || state === 'full';
}

function noteUse({ seen, now }: AdmitterDeps, { kind, hash }: Operator): void {
  (kind === 'api_key' ? seen.keys : seen.sessions).note(hash, now());
}

function presentedBy({ authorization, cookie }: Credentials): Presented {
  if (authorization !== undefined && authorization !== '') {
    const secret = bearerOf(authorization);
    if (secret !== null && kindOfSecret(secret) === 'apiKey') {
      return { kind: 'api_key', hash: sha256(secret) };
    }
    const detail =
      secret === null ? 'The Authorization header holds no usable bearer token.' : KEY_ENDED;
    return { kind: 'none', refusal: refuse('credential_invalid', detail) };
  }
  const value = sessionCookieOf(cookie);
  if (value !== null) return { kind: 'session', hash: sha256(value) };
  const detail = 'This address needs an API key as a bearer token, or a session.';
  return { kind: 'none', refusal: refuse('credential_required', detail) };
}

const KEY_ENDED = 'The API key is not known or ended.';

function ended(kind: Operator['kind']): Refusal {
  return refuse(
    'credential_invalid',
    kind === 'api_key' ? KEY_ENDED : 'The session is not known or ended.',
  );
}

function bearerOf(authorization: string): string | null {
  const match = /^Bearer +([0-9A-Za-z_]{1,128}) *$/i.exec(authorization);
  return match?.[1] ?? null;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function remember(names: Set<string>, name: string): void {
  names.delete(name);
  names.add(name);
  if (names.size <= KEYS_REMEMBERED_MAX) return;
  const [oldest] = names;
  if (oldest !== undefined) names.delete(oldest);
}

/** The refusal of an exhausted budget. */
export function limited(state: BudgetState): Refusal {
  return refuse('rate_limited', `The budget of ${state.limit} requests a minute is used up.`, {
    retryAfterMs: state.resetMs,
  });
}
