// How one of the people logs in: with a password through the operator plane, or through the provider; what the session then
// lacks (a second factor) is shown or set up at once. Some type a wrong code, or one that was used before.

import {
  addressOf,
  askConsole,
  getLink,
  hold,
  type Person,
  type PersonParts,
  useLink,
} from './person.ts';
import { completeHalf } from './person-factor.ts';
import { askPlane } from './plane-client.ts';

/** Shares of logins that the provider refuses, and that another browser ends. */
const DENIED = 0.05;
const TWO_TABS = 0.2;
const STOLEN = 0.05;

/** Logs in, or sets a password first where it has none. True when it holds a session then. */
export async function logIn(parts: PersonParts, person: Person): Promise<boolean> {
  if (person.half !== null) return completeHalf(parts, person, person.half);
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
  const asked = parts.world.log.size();
  const heard = await askPlane(parts, {
    ...{ method: 'post', path: '/auth/login', address: addressOf(person) },
    body: { email: person.email, password },
  });
  if (heard.isSilent) return false;
  const { code, session, body } = heard.value;
  if (session !== null) {
    person.passwords = [password];
    const need = typeof body['needs'] === 'string' ? body['needs'] : null;
    parts.world.observe({ kind: 'login.heard', person: person.name, asked, need });
    return take(parts, person, { secret: session, need });
  }
  if (code === 'credentials_refused') {
    // Whoever knows no other asks for a link.
    person.passwords = person.passwords.filter((one) => one !== password);
  }
  return false;
}

/** Takes what a login gave: a session, or one that lacks something yet. */
async function take(
  parts: PersonParts,
  person: Person,
  { secret, need }: { readonly secret: string; readonly need: string | null },
): Promise<boolean> {
  if (need === null) {
    hold(parts, person, secret);
    return true;
  }
  const since = parts.world.log.size();
  person.half = { kind: 'session', secret, since, need, isTried: false };
  return completeHalf(parts, person, person.half);
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
  // What it lacks is seen when it is shown for the first time.
  hold(parts, person, finished.value.secret);
  return true;
}
