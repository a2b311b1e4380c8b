// A person with a browser: keeps the cookie it is given, says where its requests begin, and shows both to the Console.
import { randomUUID } from 'node:crypto';
import type { Role } from '../../machines/trust/roles.rules.ts';
import { createCheapHasher } from '../../storage/memory/access/password-hasher.ts';
import type { ConsoleUnderTest } from './console.fixture.ts';
import type { Answer } from './peer.ts';

export const PASSWORD = 'a rather long secret of mine';
export const COOKIE = '__Host-service_session';

/** Puts an account with a password into the stores, as a first start does. */
export async function addPerson(
  { stores }: Pick<ConsoleUnderTest, 'stores'>,
  role: Role,
  email = `${role}-${randomUUID()}@example.test`,
): Promise<{ readonly userId: string; readonly email: string }> {
  const userId = randomUUID();
  const passwordHash = String(await createCheapHasher().hash(PASSWORD));
  await stores.relational.users.create({
    ...{ actor: 'test', nowMs: 0, userId, email, displayName: '', role, passwordHash },
  });
  return { userId, email };
}

/** A browser without a session. */
export function createBrowser(console: Pick<ConsoleUnderTest, 'ask'>) {
  let cookie: string | null = null;

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const own = cookie === null ? {} : { cookie: `${COOKIE}=${cookie}` };
    const answer = await console.ask(null, `/api/v2${path}`, body, {
      method,
      headers: { 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1', ...own, ...headers },
    });
    const set = setCookieOf(answer);
    if (set !== null) cookie = set.value === '' ? null : set.value;
    return answer;
  }

  return {
    ask,
    get: (path: string) => ask('GET', path),
    post: (path: string, body?: unknown) => ask('POST', path, body),
    login: (email: string, password = PASSWORD) => ask('POST', '/auth/login', { email, password }),
    cookie: () => cookie,
    plant(value: string | null): void {
      cookie = value;
    },
  };
}

/** The session cookie that an answer sets, with its attributes in lower case. */
export function setCookieOf({ headers }: Pick<Answer, 'headers'>) {
  const [line] = headers['set-cookie'] ?? [];
  if (line === undefined) return null;
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const [name, value = ''] = pair.split('=');
  if (name !== COOKIE) return null;
  return { value, attributes: attributes.map((one) => one.toLowerCase()).sort() };
}
