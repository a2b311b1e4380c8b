// The people of a run, each living by itself: it thinks for a while, does one thing, and thinks again. Once everything is
// healed each of them has to get in, and an admin opens what an admin had closed; then they rest.
import type { Operator } from '../../../gateway/access/operator.ts';
import { givesMore } from '../../../machines/console/access/account.rules.ts';
import { ROLES } from '../../../machines/trust/roles.rules.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import type { ConsoleHost } from './console-host.ts';
import type { Listeners } from './dial.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { OperatorSide, Shown } from './operator-side.ts';
import {
  addressOf,
  askConsole,
  changePassword,
  doAs,
  type Held,
  newPerson,
  type Person,
  type PersonParts,
  putAway,
  tellClosed,
} from './person.ts';
import {
  changeSetting,
  importLicense,
  letGrow,
  readLicense,
  readSettings,
} from './person-admin.ts';
import { showToSensorPlane } from './person-astray.ts';
import { dropFactor, setUpFactor, showAgain, takeFactor, tellOfRestores } from './person-factor.ts';
import { logIn } from './person-login.ts';
import type { SimulatedStores } from './stores.ts';
import type { World } from './world.ts';

export type People = {
  /** They begin to live. */
  begin(): void;
  /** Everything works again: from now on each has to get in once. */
  heal(): void;
  /** Who could not get in yet; nobody before the healing. */
  missing(): readonly string[];
};

const THINK_MS = [4_000, 20_000, 90_000] as const;
const HASTE_MS = 2_000;
/** Share of what people do that protects the Console. */
const PROTECTING = 0.3;
const KEY_TTL_MAX_MS = 45 * 60_000;

type Parts = PersonParts & {
  readonly others: readonly Person[];
  readonly provider: IdentityProvider;
};

/** Makes so many people; the last of three comes through the provider. */
export function createPeople(of: {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly listeners: Listeners;
  readonly stores: SimulatedStores;
  readonly provider: IdentityProvider;
  readonly count: number;
}): People {
  const { world, consoles, stores, provider, listeners, count } = of;
  const all = Array.from({ length: count }, (_, at) => newPerson(`person-${at + 1}`, at % 3 === 2));
  const well = new Set<Person>();
  let isHealed = false;

  function live(person: Person): void {
    const random = world.random.fork(person.name);
    const own = { world, consoles, random, others: all, provider, listeners };
    const thinkMs = random.pick(THINK_MS);
    const next = (): void => {
      if (isHealed && well.has(person)) return;
      const ms = isHealed ? HASTE_MS : random.exponential(thinkMs);
      world.scheduler.after(ms, () => {
        // What began before the healing is no settling, although it may end after it.
        const settles = isHealed;
        const parts: Parts = { ...own, isHonest: settles };
        const doing = settles ? settle(parts, person) : act(parts, person);
        doing.then(
          (isIn) => {
            if (settles && isIn) well.add(person);
            next();
          },
          (error: unknown) => world.crashed(person.name, error),
        );
      });
    };
    next();
  }

  let isAdding = false;
  function addProvider(): void {
    isAdding = true;
    const random = world.random.fork('provider');
    const parts = { world, consoles, random, listeners, isHonest: true };
    const again = () => void world.scheduler.after(HASTE_MS, addProvider);
    askConsole(parts, async (_side, { relational: { sso } }) => {
      if ((await sso.getProvider(provider.row.providerId)) !== null) return;
      await sso.createProvider({ actor: 'start', nowMs: WORLD_BEGINS_MS, provider: provider.row });
    }).then(
      (heard) => {
        isAdding = heard.isSilent;
        if (isAdding) again();
      },
      (error: unknown) => world.crashed('the provider', error),
    );
  }

  return {
    begin() {
      if (count === 0) return;
      for (const { name, isOfProvider } of all)
        if (isOfProvider) provider.setRole(name, 'operator');
      addProvider();
      // Who set it up does so again where PostgreSQL may have forgotten it.
      world.subscribe(({ kind }) => {
        if (kind !== 'relational.forgot' || isAdding) return;
        isAdding = true;
        world.scheduler.after(HASTE_MS, addProvider);
      });
      for (const person of all) {
        tellOfRestores({ world }, person);
        live(person);
      }
    },
    heal() {
      isHealed = true;
      provider.heal();
      // The provider gives everybody the role the account has: the last admin's is not taken away.
      const roles = new Map(stores.relational.people().map(({ email, role }) => [email, role]));
      for (const { name, email, isOfProvider } of all) {
        if (isOfProvider) provider.setRole(name, roles.get(email) ?? 'operator');
      }
    },
    missing: () =>
      isHealed ? all.flatMap((one) => (well.has(one) ? [] : [`${one.name} cannot get in`])) : [],
  };
}

/** One thing of an ordinary day. */
async function act(parts: Parts, person: Person): Promise<boolean> {
  const { random } = parts;
  const shown = person.held.at(-1);
  if (shown === undefined) return logIn(parts, person);
  if (random.chance(PROTECTING)) return protect(parts, person, shown);
  const roll = random.next();
  if (roll < 0.3) await use(parts, person, random.pick([...person.held, ...person.keys]));
  else if (roll < 0.45) await use(parts, person, random.pick([shown, ...person.past]));
  else if (roll < 0.5) await logIn(parts, person);
  else if (roll < 0.58 && !person.isOfProvider) await changePassword(parts, person, shown);
  else if (roll < 0.65) await logOut(parts, person, shown);
  else if (roll < 0.72) await logOutEverywhere(parts, person, shown);
  else if (roll < 0.79) await makeKey(parts, person, shown);
  else if (roll < 0.85) await endKey(parts, person, shown);
  else if (roll < 0.9) showToSensorPlane(parts, random.pick([shown, ...person.keys]));
  else await govern(parts, person, shown);
  return false;
}

/** Settings, licenses and second factors. */
async function protect(parts: Parts, person: Person, shown: Held): Promise<boolean> {
  const { random } = parts;
  const roll = random.next();
  if (roll < 0.25) await changeSetting(parts, person, shown);
  else if (roll < 0.35) await readSettings(parts, person, shown);
  else if (roll < 0.5) await importLicense(parts, person, shown, false);
  else if (roll < 0.6) await readLicense(parts, person, shown);
  else if (roll < 0.85) await setUpFactor(parts, person, shown);
  else if (roll < 0.9) await dropFactor(parts, person, shown);
  else if (roll < 0.95) await showAgain(parts, person, shown);
  else await takeFactor(parts, person, shown, random.pick(parts.others));
  return false;
}

/** Gets in, and as an admin lets everybody else in; true when that was done. */
async function settle(parts: Parts, person: Person): Promise<boolean> {
  const shown = person.held.at(-1);
  if (shown === undefined) {
    await logIn(parts, person);
    return false;
  }
  const heard = await doAs(parts, person, shown, async (side, operator) => {
    for (const other of operator.role === 'admin' ? parts.others : []) {
      await setStatus(side, operator, other, 'active');
    }
    return operator.role;
  });
  if (heard.isSilent || heard.value === 'refused') return false;
  if (heard.value !== 'admin') return true;
  const settings = await readSettings(parts, person, shown);
  // Whatever ends while nobody looks would stop the fleet from growing.
  return settings !== null && letGrow(parts, person, shown);
}

async function use(parts: Parts, person: Person, shown: Shown): Promise<void> {
  await doAs(parts, person, shown, async () => null);
}

async function logOut(parts: Parts, person: Person, shown: Shown): Promise<void> {
  const heard = await doAs(parts, person, shown, ({ sessions }, { hash, actor }) =>
    sessions.end({ hash, actor, from: addressOf(person) }),
  );
  if (!heard.isSilent) putAway(person, shown);
}

async function logOutEverywhere(parts: Parts, person: Person, shown: Shown): Promise<void> {
  const keeps = parts.random.chance(0.5);
  const before = parts.world.log.size();
  const heard = await doAs(parts, person, shown, async ({ sessions }, operator) => {
    const { userId, actor, hash, id } = operator;
    const from = addressOf(person);
    if (userId !== null) {
      await sessions.endAllOf({ userId, actor, from, keep: keeps ? hash : null });
    }
    return { user: userId ?? '', kept: keeps ? id : null };
  });
  if (heard.isSilent || heard.value === 'refused') return;
  parts.world.observe({ kind: 'sessions.left', ...heard.value, before });
  for (const one of person.held) if (!keeps || one !== shown) putAway(person, one);
}

async function makeKey(parts: Parts, person: Person, shown: Shown): Promise<void> {
  const { random, world } = parts;
  const nowMs = Math.floor(WORLD_BEGINS_MS + world.scheduler.now());
  const endsMs = nowMs + random.between(1_000, KEY_TTL_MAX_MS);
  const scopes = random.pick([['sensors:read'], ['sensors:read', 'events:read']] as const);
  const heard = await doAs(
    parts,
    person,
    shown,
    async ({ keys }, { userId, role, actor, hash }) => {
      if (userId === null) return null;
      const request = { name: 'of the world', scopes, expiresAtMs: endsMs };
      const maker = { userId, role, actor, session: hash, from: addressOf(person) };
      return keys.create(request, maker);
    },
  );
  if (heard.isSilent || heard.value === 'refused' || heard.value?.ok !== true) return;
  const { secret, row } = heard.value;
  person.keys = [...person.keys, { kind: 'api_key', secret, id: row.keyId }];
}

async function endKey(parts: Parts, person: Person, shown: Shown): Promise<void> {
  const [key] = person.keys;
  if (key === undefined) return;
  const heard = await doAs(parts, person, shown, ({ keys }, { actor }) =>
    keys.revoke({ keyId: key.id }, { actor, from: addressOf(person) }),
  );
  if (!heard.isSilent && heard.value !== 'refused') putAway(person, key);
}

/** What an admin does to another: another role, closed or open, or a link to set a password. */
async function govern(parts: Parts, person: Person, shown: Shown): Promise<void> {
  const { random, provider } = parts;
  const other = random.pick(parts.others);
  const [how, role] = [random.next(), random.pick(ROLES)];
  const asked = parts.world.log.size();
  await doAs(parts, person, shown, async (side, operator) => {
    if (operator.role !== 'admin') return;
    // The provider gives its role anew with every login, so that a change is made there.
    if (other.isOfProvider && how < 0.5) {
      if (role !== 'sensor_owner') provider.setRole(other.name, role);
    } else if (how < 0.5) {
      if (await setRole(parts, { side, operator, other, role })) tellClosed(parts, other, asked);
    } else if (how < 0.65) {
      if (await setStatus(side, operator, other, 'disabled')) tellClosed(parts, other, asked);
    } else if (how < 0.85) await setStatus(side, operator, other, 'active');
    else await giveLink(side, operator, other);
  });
}

const askingOf = ({ role, scopes, actor }: Operator) => ({ role, scopes, actor, from: '' });

/** Whether it got another role. One that gives more takes the factor that was set up under the smaller one. */
async function setRole(
  { world }: Pick<Parts, 'world'>,
  {
    side: { accounts, users },
    operator,
    other,
    role,
  }: {
    readonly side: OperatorSide;
    readonly operator: Operator;
    readonly other: Person;
    readonly role: (typeof ROLES)[number];
  },
): Promise<boolean> {
  const user = await accounts.findByEmail(other.email);
  if (user === null) return false;
  const { userId, revision } = user;
  if (givesMore(user.role, role)) world.observe({ kind: 'factor.off_asked', person: other.name });
  const changed = await users.change(askingOf(operator), { userId, revision, patch: { role } });
  return changed.ok && role !== user.role;
}

/** Whether it was closed or opened. */
async function setStatus(
  { accounts, users }: OperatorSide,
  operator: Operator,
  { email }: Person,
  status: 'active' | 'disabled',
): Promise<boolean> {
  const user = await accounts.findByEmail(email);
  if (user === null || user.status === status) return false;
  const { userId, revision } = user;
  const changed = await users.change(askingOf(operator), { userId, revision, patch: { status } });
  return changed.ok;
}

async function giveLink(
  { accounts, users }: OperatorSide,
  operator: Operator,
  other: Person,
): Promise<void> {
  if (other.isOfProvider) return;
  const user = await accounts.findByEmail(other.email);
  const made = user === null ? null : await users.makeLink(askingOf(operator), user.userId);
  if (made?.ok === true) other.link = made.link.secret;
}
