// Everybody who may knock at an operator route. Accounts, keys and sessions come about, end and change by the ports of the
// stores alone, as in production, so that the reference stores and the databases hold the same people.
import { randomBytes } from 'node:crypto';
import { hashOfSecret } from '../../actors/trust/tokens.ts';
import { newId } from '../../actors/trust/uuid-v7.ts';
import { CSRF_HEADER } from '../../gateway/access/csrf.ts';
import { SESSION_COOKIE } from '../../gateway/access/session-cookie.ts';
import { API_KEYS_PER_USER_MAX } from '../../machines/console/access/limits.ts';
import { SESSION_RANDOM_BYTES } from '../../machines/limits.ts';
import { ROLES, type Role, SCOPES, type Scope } from '../../machines/trust/roles.rules.ts';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';
import type { ConsoleUnderTest } from './console.fixture.ts';

type Headers = Readonly<Record<string, string>>;
/** A caller as the matrix knows it; whom nobody lets in anywhere is `nobody` or `refused`. */
export type Caller = {
  readonly name: string;
  readonly headers: Headers;
  readonly is: 'nobody' | 'refused' | 'key' | 'full' | 'partial' | 'cross-site';
  readonly role: Role;
  readonly scopes: readonly Scope[];
};
type Add = (name: string, headers: Headers, more?: Partial<Caller>) => void;
type Times = { readonly createdAtMs?: number; readonly expiresAtMs?: number };

export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
/** What a page of the Console itself shows beside its cookie. */
export const OWN_PAGE: Headers = { [CSRF_HEADER]: '1', 'sec-fetch-site': 'same-origin' };
const REFUSED = { is: 'refused' } as const;

export type Knockers = ReturnType<typeof createKnockers>;

/** Makes people and what they show; `owned` is the sensor that those of `gather` own. */
export function createKnockers(console: ConsoleUnderTest, owned: string) {
  const { users, sessions, apiKeys, teams } = console.stores.relational;
  const doing = () => ({ actor: 'test', nowMs: console.time.now() });

  async function addUser(role: Role): Promise<string> {
    const userId = newId();
    const email = `${userId}@example.org`;
    const about = { userId, email, displayName: role, role, passwordHash: null };
    const made = await users.create({ ...doing(), ...about });
    if (made !== 'created') throw new Error(made);
    return userId;
  }

  async function addOwner(role: Role): Promise<string> {
    const userId = await addUser(role);
    const set = await teams.setUserSensors({ ...doing(), userId, sensorIds: [owned] });
    if (set !== 'ok') throw new Error(JSON.stringify(set));
    return userId;
  }

  /** Without a maker it is the Console's own. */
  async function addKey(
    scopes: readonly string[],
    userId: string | null = null,
    expiresAtMs: number | null = null,
  ): Promise<{ readonly keyId: string; readonly secret: string }> {
    const secret = formatSecret('apiKey', randomBytes(32));
    const [keyId, hash] = [newId(), hashOfSecret(secret)];
    const made = await apiKeys.create({
      ...{ ...doing(), keyId, hash, name: keyId, scopes, userId, expiresAtMs },
    });
    if (made !== 'created') throw new Error(made);
    return { keyId, secret };
  }

  const keyOf = async (...about: Parameters<typeof addKey>) =>
    bearer((await addKey(...about)).secret);

  async function addSession(
    userId: string,
    stage: SessionStage = 'full',
    { createdAtMs = console.time.now(), ...more }: Times = {},
  ): Promise<{ readonly hash: Buffer; readonly headers: Headers }> {
    const secret = randomBytes(SESSION_RANDOM_BYTES).toString('base64url');
    const hash = hashOfSecret(secret);
    const isMade = await sessions.create({
      ...{ hash, sessionId: newId(), userId, stage, method: 'password' },
      ...{ address: '127.0.0.1', userAgent: '', createdAtMs, authenticatedAtMs: createdAtMs },
      expiresAtMs: console.time.now() + console.intervals.SESSION_ABSOLUTE_MS,
      ...more,
    });
    if (!isMade) throw new Error('no session');
    return { hash, headers: { cookie: `${SESSION_COOKIE}=${secret}` } };
  }

  /** A session as its page shows it. */
  const pageOf = async (...about: Parameters<typeof addSession>): Promise<Headers> => ({
    ...(await addSession(...about)).headers,
    ...OWN_PAGE,
  });

  /** Gives somebody another role, as an admin does. */
  async function setRole(userId: string, role: Role): Promise<void> {
    const user = await users.get(userId);
    const revision = user?.revision ?? 0;
    const changed = await users.change({ ...doing(), userId, revision, patch: { role } });
    if (typeof changed === 'string') throw new Error(changed);
  }

  async function disable(userId: string): Promise<void> {
    const user = await users.get(userId);
    const [revision, patch] = [user?.revision ?? 0, { status: 'disabled' }] as const;
    const changed = await users.change({ ...doing(), userId, revision, patch });
    if (typeof changed === 'string') throw new Error(changed);
  }

  async function remove(userId: string): Promise<void> {
    const removed = await users.remove({ ...doing(), userId });
    if (removed !== 'ok') throw new Error(removed);
  }

  async function gatherKeys(add: Add): Promise<void> {
    for (const scope of SCOPES) add(`key ${scope}`, await keyOf([scope]), { scopes: [scope] });
    add('key admin', await keyOf(['admin']));
    const lookalikes = ['Admin', '*', 'sensors:*', 'sensors', ''];
    add('key of lookalikes', await keyOf(lookalikes), { scopes: [] });
    add('key expired', await keyOf(['admin'], null, console.time.now()), REFUSED);
    const revoked = await addKey(['admin']);
    await apiKeys.revoke({ ...doing(), keyId: revoked.keyId });
    add('key revoked', bearer(revoked.secret), REFUSED);
    const { secret: cut } = await addKey(['admin']);
    const { secret: password } = await addKey(['admin']);
    const basic = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
    add('a token of enrollment', bearer(formatSecret('enrollment', randomBytes(32))), REFUSED);
    add('a key and a letter', bearer(`${cut}x`), REFUSED);
    add('a key cut off', bearer(cut.slice(0, -1)), REFUSED);
    add('a key of no kind', { authorization: (await addKey(['admin'])).secret }, REFUSED);
    add('a key as a password', { authorization: basic }, REFUSED);
    add('a key elsewhere', { 'x-api-key': cut, 'x-forwarded-user': 'admin' }, { is: 'nobody' });
  }

  /** Keys of one scope each; nobody holds more of them than a person may have. */
  async function gatherScopes(role: Role, add: Add): Promise<void> {
    let holder = '';
    for (const [at, scope] of SCOPES.entries()) {
      if (at % API_KEYS_PER_USER_MAX === 0) holder = await addOwner(role);
      add(`key of ${role}: ${scope}`, await keyOf([scope], holder), { role, scopes: [scope] });
    }
  }

  async function gatherEnded(role: Role, userId: string, add: Add): Promise<void> {
    const refused = { ...REFUSED, role };
    const gone = async (name: string, leave: (userId: string) => Promise<void>) => {
      const person = await addOwner(role);
      add(`session of ${name} ${role}`, await pageOf(person), refused);
      add(`key of ${name} ${role}`, await keyOf(['admin'], person), refused);
      await leave(person);
    };
    await gone('disabled', disable);
    await gone('removed', remove);
    const ended = await addSession(userId);
    if (!(await sessions.end({ ...doing(), hash: ended.hash }))) throw new Error('not ended');
    add(`ended session of ${role}`, { ...ended.headers, ...OWN_PAGE }, refused);
    const nowMs = console.time.now();
    add(
      `expired session of ${role}`,
      await pageOf(userId, 'full', { expiresAtMs: nowMs }),
      refused,
    );
    add(`idle session of ${role}`, await pageOf(userId, 'full', { createdAtMs: 0 }), refused);
  }

  async function gatherRole(role: Role, add: Add): Promise<void> {
    const userId = await addOwner(role);
    add(`session of ${role}`, await pageOf(userId), { is: 'full', role });
    add(`half session of ${role}`, await pageOf(userId, 'partial'), { is: 'partial', role });
    const { headers } = await addSession(userId);
    add(`session of ${role} from another site`, headers, { is: 'cross-site', role });
    add(`key of ${role}`, await keyOf(['admin'], userId), { role });
    await gatherScopes(role, add);
    await gatherEnded(role, userId, add);
  }

  return {
    addUser,
    addKey,
    pageOf,
    setRole,
    /** Everybody. */
    async gather(): Promise<readonly Caller[]> {
      const callers: Caller[] = [];
      const add: Add = (name, headers, more = {}) =>
        callers.push({ name, headers, is: 'key', role: 'admin', scopes: SCOPES, ...more });
      add('anonymous', {}, { is: 'nobody' });
      const another = { cookie: `${SESSION_COOKIE}=short; session=x` };
      add('another cookie', another, { is: 'nobody' });
      const nobodys = { cookie: `${SESSION_COOKIE}=${'A'.repeat(43)}` };
      add('a session of nobody', nobodys, REFUSED);
      await gatherKeys(add);
      for (const role of ROLES) await gatherRole(role, add);
      const late = await pageOf(await addUser('admin'));
      add('a bad key beside a good session', { ...late, authorization: 'Bearer x' }, REFUSED);
      const viewer = await keyOf(['admin'], await addUser('viewer'));
      add('a key beside a better session', { ...late, ...viewer }, { role: 'viewer' });
      return callers;
    },
  };
}
