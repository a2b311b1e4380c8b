// One of the people who operate: works with sessions and keys at any Console that is up, changes passwords, ends sessions,
// makes and ends keys, and as an admin changes the others. What it once held it shows again later, as a thief would. It is
// told when a Console cannot answer, and goes on from there. How it logs in stands in `person-login.ts`.
import type { Operator } from '../../../gateway/access/operator.ts';
import { SCOPES } from '../../../machines/trust/roles.rules.ts';
import type { Role } from '../../../machines/trust/scope.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { ConsoleHost, RunningConsole } from './console-host.ts';
import type { Listeners } from './dial.ts';
import type { OperatorSide, Shown } from './operator-side.ts';
import type { Heard } from './plane-client.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export type Person = {
  readonly name: string;
  readonly email: string;
  readonly isOfProvider: boolean;
  /** The role it is given first; absent: the first is an admin, of others it is drawn. */
  readonly role?: Role;
  /** What it believes its password to be, likeliest first: a change whose answer was lost leaves two. */
  passwords: readonly string[];
  /** A link to set a password that an admin gave it. */
  link: string | null;
  held: readonly Held[];
  /** A session that waits for its second factor. */
  half: Half | null;
  readonly app: App;
  keys: readonly (Shown & { readonly id: string })[];
  /** What has ended, as far as it knows. */
  past: readonly Shown[];
};
/** `since` is the number of the observation after which it was received. */
export type Held = Shown & { readonly since: number };
export type Half = Held & {
  readonly need: string;
  /** Whether a code was shown with it. */
  isTried: boolean;
};
/** What stands in the app of a second factor, as far as the person knows. */
export type App = {
  /** Secrets, likeliest first. */
  secrets: readonly string[];
  /** Each that was set up or taken, with the true time. */
  history: readonly { readonly secret: string; readonly atMs: number }[];
  /** The last step whose code was shown. */
  lastStep: number;
  /** The last code that was taken. */
  lastCode: string | null;
  /** When it heard so, in true time. */
  lastCodeAtMs: number;
  recoveryCodes: readonly string[];
};
export type PersonParts = {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly random: Random;
  readonly listeners: Listeners;
  /** Everything works again: nobody tries what must not work. */
  readonly isHonest: boolean;
};
const PAST_MAX = 6;
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
    console.life.hear(() => {
      act(console.operators, console).then(
        (value) => resolve({ isSilent: false, value }),
        (error: unknown) => {
          if (!(error instanceof StoreUnavailable)) world.crashed('the operator side', error);
          resolve(SILENT);
        },
      );
    });
  });
}

/** Somebody who holds nothing yet. */
export function newPerson(name: string, isOfProvider: boolean): Person {
  return {
    ...{ name, isOfProvider, email: `${name}@${isOfProvider ? 'id' : 'people'}.world` },
    ...{ passwords: [], link: null, held: [], half: null, keys: [], past: [] },
    app: {
      secrets: [],
      history: [],
      lastStep: 0,
      lastCode: null,
      lastCodeAtMs: 0,
      recoveryCodes: [],
    },
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
  const { world } = parts;
  const asked = world.log.size();
  return askConsole(parts, async (side) => {
    const operator = await side.admit(shown);
    if (operator === null) {
      putAway(person, shown);
      return 'refused';
    }
    const { stage, need } = operator;
    const { since } = { since: null, ...shown } as { since: number | null };
    if (since !== null) {
      world.observe({ kind: 'session.let_in', person: person.name, since, asked });
      if (stage !== 'full') leaveHalf(person, { ...shown, since }, need);
    }
    return stage === 'full' ? act(side, operator) : 'refused';
  });
}

/** A session that lacks something from now on, by what its role needs. */
function leaveHalf(person: Person, one: Held, need: string | null): void {
  const isHeld = person.held.some(({ secret }) => secret === one.secret);
  person.held = person.held.filter(({ secret }) => secret !== one.secret);
  if (isHeld && need !== null) person.half = { ...one, need, isTried: true };
}

/** Takes a session that is whole. */
export function hold({ world }: PersonParts, person: Person, secret: string): void {
  person.held = [...person.held, { kind: 'session', secret, since: world.log.size() }];
}

/** A person was told that what this one held before is over. */
export function tellClosed({ world }: PersonParts, { name }: Person, before: number): void {
  world.observe({ kind: 'sessions.closed', person: name, before });
}

/** An account and a link to set its password, made with the key that the Console made for whoever started it. */
export function getLink(parts: PersonParts, person: Person): Promise<unknown> {
  const { email, name } = person;
  return askConsole(parts, async ({ accounts, users }) => {
    const asking = { role: 'admin', scopes: SCOPES, actor: 'api-key:start', from: '' } as const;
    const drawn = name === 'person-1' ? 'admin' : parts.random.pick(FIRST_ROLES);
    const { role = drawn } = person;
    if ((await accounts.findByEmail(email)) === null) {
      await users.create(asking, { email, displayName: name, role });
    }
    const user = await accounts.findByEmail(email);
    const made = user === null ? null : await users.makeLink(asking, user.userId);
    if (made?.ok === true) person.link = made.link.secret;
  });
}

export async function useLink(parts: PersonParts, person: Person, secret: string): Promise<void> {
  const password = newPassword(parts);
  person.passwords = [...person.passwords, password].slice(-3);
  const [from, asked] = [addressOf(person), parts.world.log.size()];
  const heard = await askConsole(parts, ({ passwords }) =>
    passwords.reset({ secret, password, from }),
  );
  if (heard.isSilent) return;
  if (heard.value.ok) tellClosed(parts, person, asked);
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
  const [from, asked] = [addressOf(person), parts.world.log.size()];
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
  tellClosed(parts, person, asked);
  const isWhole = changed.need === null;
  if (isWhole) hold(parts, person, changed.secret);
  parts.world.observe({ kind: 'session.turned', from: old, to: changed.session.sessionId });
}

export function addressOf({ name }: Pick<Person, 'name'>): string {
  return `192.0.2.${name.split('-')[1]}`;
}

function newPassword({ random }: PersonParts): string {
  return `a password of ${random.bytes(8).toString('hex')}`;
}
