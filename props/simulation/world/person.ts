// One of the people who operate: logs in with a password or through the provider, works with sessions and keys at any
// Console that is up, changes passwords, ends sessions, makes and ends keys, and as an admin changes the others. What it
// once held it shows again later, as a thief would. It is told when a Console cannot answer, and goes on from there.
import type { Operator } from '../../../gateway/access/operator.ts';
import { SCOPES } from '../../../machines/trust/roles.rules.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { ConsoleHost, RunningConsole } from './console-host.ts';
import type { OperatorSide, Shown } from './operator-side.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export type Person = {
  readonly name: string;
  readonly email: string;
  readonly isOfProvider: boolean;
  /** What it believes its password to be, likeliest first: a change whose answer was lost leaves two. */
  passwords: readonly string[];
  /** A link to set a password that an admin gave it. */
  link: string | null;
  held: readonly Shown[];
  keys: readonly (Shown & { readonly id: string })[];
  /** What has ended, as far as it knows. */
  past: readonly Shown[];
};
export type PersonParts = {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly random: Random;
};
/** What came of asking a Console; `silent` = it may have been done. */
export type Heard<T> =
  | { readonly isSilent: false; readonly value: T }
  | { readonly isSilent: true };

const PAST_MAX = 6;
/** Shares of logins that the provider refuses, and that another browser ends. */
const DENIED = 0.05;
const TWO_TABS = 0.2;
const STOLEN = 0.05;
const FIRST_ROLES = ['operator', 'viewer', 'admin'] as const;
const SILENT = { isSilent: true } as const;

/** Asks a Console that is up; one that ends meanwhile never answers, and one whose store is away says so. */
export function askConsole<T>(
  { world, consoles, random }: PersonParts,
  act: (side: OperatorSide, console: RunningConsole) => Promise<T>,
): Promise<Heard<T>> {
  const up = consoles.flatMap((one) => one.running() ?? []);
  if (up.length === 0) return Promise.resolve(SILENT);
  const console = random.pick(up);
  return new Promise((resolve) => {
    console.life.onEnd(() => resolve(SILENT));
    act(console.operators, console).then(
      (value) => resolve({ isSilent: false, value }),
      (error: unknown) => {
        if (!(error instanceof StoreUnavailable)) world.crashed('the operator side', error);
        resolve(SILENT);
      },
    );
  });
}

/** Somebody who holds nothing yet. */
export function newPerson(name: string, isOfProvider: boolean): Person {
  return {
    ...{ name, isOfProvider, email: `${name}@${isOfProvider ? 'id' : 'people'}.world` },
    ...{ passwords: [], link: null, held: [], keys: [], past: [] },
  };
}

/** Puts away what does not open anything any more. */
export function putAway(person: Person, shown: Shown): void {
  person.held = person.held.filter((one) => one.secret !== shown.secret);
  person.keys = person.keys.filter((one) => one.secret !== shown.secret);
  const past = person.past.filter((one) => one.secret !== shown.secret);
  person.past = [...past, shown].slice(-PAST_MAX);
}

/** Shows something and does what it was shown for. */
export function doAs<T>(
  parts: PersonParts,
  person: Person,
  shown: Shown,
  act: (side: OperatorSide, operator: Operator) => Promise<T>,
): Promise<Heard<T | 'refused'>> {
  return askConsole(parts, async (side) => {
    const operator = await side.admit(shown);
    if (operator !== null) return act(side, operator);
    putAway(person, shown);
    return 'refused';
  });
}

/** Logs in, or sets a password first where it has none. True when it holds a session then. */
export async function logIn(parts: PersonParts, person: Person): Promise<boolean> {
  if (person.isOfProvider) {
    // Some browsers open two tabs that log in by themselves.
    const tabs = parts.random.chance(TWO_TABS) ? 2 : 1;
    const logins = Array.from({ length: tabs }, () => logInAtProvider(parts, person));
    return (await Promise.all(logins)).includes(true);
  }
  if (person.link !== null) await useLink(parts, person, person.link);
  const [password] = person.passwords;
  if (password === undefined) {
    await getLink(parts, person);
    return false;
  }
  const { email } = person;
  const heard = await askConsole(parts, ({ login }) =>
    login.login({ email, password, address: addressOf(person), userAgent: 'world' }),
  );
  if (heard.isSilent) return false;
  const { value } = heard;
  if (value.ok) {
    person.passwords = [password];
    person.held = [...person.held, { kind: 'session', secret: value.secret }];
  } else if (value.code === 'credentials_refused') {
    // Whoever knows no other asks for a link.
    person.passwords = person.passwords.filter((one) => one !== password);
  }
  return value.ok;
}

async function logInAtProvider(parts: PersonParts, person: Person): Promise<boolean> {
  const asked = await askConsole(parts, ({ sso }) => sso.offered());
  const offered = asked.isSilent ? undefined : asked.value[0];
  if (offered === undefined) return false;
  const started = await askConsole(parts, ({ sso }) =>
    sso.start({ providerId: offered.providerId, returnTo: undefined, browser: null }),
  );
  if (started.isSilent || !started.value.ok) return false;
  const { location, browser } = started.value;
  const query = new URL(location).searchParams;
  if (parts.random.chance(DENIED)) query.set('error', 'access_denied');
  else query.set('code', person.name);
  // The browser comes back to whichever Console the balancer gives it, and now and then it is another browser.
  const isStolen = parts.random.chance(STOLEN);
  const finished = await askConsole(parts, ({ sso }) =>
    sso.finish({
      providerId: offered.providerId,
      ...{ query: query.toString(), browser: isStolen ? null : browser, replaces: null },
      ...{ from: addressOf(person), userAgent: 'world' },
    }),
  );
  if (finished.isSilent || !finished.value.ok) return false;
  if (isStolen) parts.world.crashed('the operator side', new Error('another browser logged in'));
  person.held = [...person.held, { kind: 'session', secret: finished.value.secret }];
  return true;
}

/** An account and a link to set its password, made with the key that the Console made for whoever started it. */
function getLink(parts: PersonParts, person: Person): Promise<unknown> {
  const { email, name } = person;
  return askConsole(parts, async ({ accounts, users }) => {
    const asking = { role: 'admin', scopes: SCOPES, actor: 'api-key:start', from: '' } as const;
    const role = name === 'person-1' ? 'admin' : parts.random.pick(FIRST_ROLES);
    if ((await accounts.findByEmail(email)) === null) {
      await users.create(asking, { email, displayName: name, role });
    }
    const user = await accounts.findByEmail(email);
    const made = user === null ? null : await users.makeLink(asking, user.userId);
    if (made?.ok === true) person.link = made.link.secret;
  });
}

async function useLink(parts: PersonParts, person: Person, secret: string): Promise<void> {
  const password = newPassword(parts);
  person.passwords = [...person.passwords, password].slice(-3);
  const from = addressOf(person);
  const heard = await askConsole(parts, ({ passwords }) =>
    passwords.reset({ secret, password, from }),
  );
  if (heard.isSilent) return;
  person.link = null;
  person.passwords = heard.value.ok
    ? [password]
    : person.passwords.filter((one) => one !== password);
}

/** Sets a new password with the session at hand, which goes on under a new secret. */
export async function changePassword(
  parts: PersonParts,
  person: Person,
  shown: Shown,
): Promise<void> {
  const [current] = person.passwords;
  if (current === undefined) return;
  const next = newPassword(parts);
  person.passwords = [current, next];
  const from = addressOf(person);
  const heard = await doAs(parts, person, shown, async ({ passwords }, operator) => {
    const { userId, hash, stage, id } = operator;
    if (userId === null) return null;
    const changed = await passwords.change({
      ...{ userId, session: { hash, stage }, current, next, from },
    });
    return { from: id, changed };
  });
  if (heard.isSilent || heard.value === 'refused' || heard.value === null) return;
  const { changed, from: old } = heard.value;
  if (!changed.ok) return;
  person.passwords = [next];
  putAway(person, shown);
  person.held = [...person.held, { kind: 'session', secret: changed.secret }];
  parts.world.observe({ kind: 'session.turned', from: old, to: changed.session.sessionId });
}

export function addressOf({ name }: Pick<Person, 'name'>): string {
  return `192.0.2.${name.split('-')[1]}`;
}

function newPassword({ random }: PersonParts): string {
  return `a password of ${random.bytes(8).toString('hex')}`;
}
