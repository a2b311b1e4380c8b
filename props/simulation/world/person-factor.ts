// What one of the people does with a second factor: sets it up, shows its codes, turns it off, and as an admin takes it from
// somebody else. Its app goes by true time, whatever the clocks of the Consoles show. Some codes are wrong, and some were
// used before: a thief looked over a shoulder.
import { Secret, TOTP } from 'otpauth';
import { stepAt } from '../../../machines/console/access/second-factor.rules.ts';
import { TOTP_DIGITS, TOTP_STEP_MS } from '../../../machines/limits.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import {
  addressOf,
  doAs,
  type Half,
  type Held,
  hold,
  type Person,
  type PersonParts,
  putAway,
  tellClosed,
} from './person.ts';
import { heardAct } from './person-acts.ts';
import { askPlane, type Heard, type PlaneAnswer, type PlaneRequest } from './plane-client.ts';

/** Shares of codes that are wrong, were used before, or are one of those on paper. */
const WRONG = 0.08;
const AGAIN = 0.16;
const ON_PAPER = 0.26;
/** How often somebody tries what a session opens that lacks its second factor. */
const HALF_TRIED = 0.3;
const SECRETS_MAX = 4;

type Shown = {
  readonly code: string;
  readonly how: 'right' | 'wrong' | 'again';
};

const trueNow = ({ world }: PersonParts): number => WORLD_BEGINS_MS + world.scheduler.now();

function codeAt(secret: string, timestamp: number): string {
  const form = { algorithm: 'SHA1', digits: TOTP_DIGITS, period: TOTP_STEP_MS / 1_000 };
  return new TOTP({ ...form, secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

/** A code that was not shown yet; null until there is one, or without an app. */
function freshCode(parts: PersonParts, { app }: Person): string | null {
  const [secret] = app.secrets;
  const nowMs = trueNow(parts);
  if (secret === undefined || stepAt(nowMs) <= app.lastStep) return null;
  app.lastStep = stepAt(nowMs);
  return codeAt(secret, nowMs);
}

/** What was shown or taken, and when: a database that was put back goes on with what counted then. */
function remember(parts: PersonParts, { app }: Person): void {
  const [secret] = app.secrets;
  if (secret !== undefined)
    app.history = [...app.history, { secret, atMs: parts.world.scheduler.now() }];
}

/** Tells somebody of each time that PostgreSQL is put back to; its app still has what counted then, which it tries first. */
export function tellOfRestores({ world }: Pick<PersonParts, 'world'>, { app }: Person): void {
  world.subscribe((seen, atMs) => {
    if (seen.kind !== 'relational.forgot' || seen.sinceMs >= atMs) return;
    const before = app.history.filter((one) => one.atMs <= seen.sinceMs).toReversed();
    const likeliest = new Set([...before.map(({ secret }) => secret), ...app.secrets]);
    app.secrets = [...likeliest].slice(0, SECRETS_MAX);
  });
}

/** What it types; null when it has nothing to show yet. */
function pickCode(parts: PersonParts, person: Person): Shown | null {
  const { random, isHonest } = parts;
  const { app } = person;
  const roll = isHonest ? 1 : random.next();
  if (roll < WRONG) {
    const other = new Secret({ buffer: new Uint8Array(random.bytes(20)).buffer }).base32;
    return { code: codeAt(other, trueNow(parts)), how: 'wrong' };
  }
  if (roll < AGAIN && app.lastCode !== null) return { code: app.lastCode, how: 'again' };
  const [onPaper, ...rest] = app.recoveryCodes;
  if (roll < ON_PAPER && onPaper !== undefined) {
    app.recoveryCodes = rest;
    return { code: onPaper, how: 'right' };
  }
  const code = freshCode(parts, person);
  return code === null ? null : { code, how: 'right' };
}

/** Gives a session what it lacks; true when it is whole then. */
export async function completeHalf(
  parts: PersonParts,
  person: Person,
  half: Half,
): Promise<boolean> {
  if (half.need === 'totp_enrollment') return setUpFactor(parts, person, half);
  if (half.need !== 'totp') {
    dropHalf(person);
    return false;
  }
  if (!half.isTried && !parts.isHonest && parts.random.chance(HALF_TRIED)) {
    await tryHalf(parts, person, half);
    return false;
  }
  const shown = pickCode(parts, person);
  if (shown === null) return false;
  half.isTried = true;
  const heard = await ask(parts, person, half, {
    path: '/auth/mfa/verify',
    body: { code: shown.code },
  });
  if (heard.isSilent) {
    dropHalf(person);
    return false;
  }
  const { session, code, body } = heard.value;
  if (shown.how !== 'right') {
    const isTaken = code === null;
    const { lastCodeAtMs: takenAtMs } = person.app;
    const told = { person: person.name, how: shown.how, isTaken, takenAtMs };
    parts.world.observe({ kind: 'code.shown', ...told });
  }
  if (session !== null) {
    if (shown.code.length === TOTP_DIGITS) noteTaken(parts, person, shown.code);
    dropHalf(person);
    if (body['needs'] === null) hold(parts, person, session);
    return body['needs'] === null;
  }
  if (code !== 'mfa_code_invalid') dropHalf(person);
  else if (shown.how === 'right') person.app.secrets = turned(person.app.secrets);
  return false;
}

function noteTaken(parts: PersonParts, person: Person, code: string): void {
  const { app } = person;
  app.lastCode = code;
  app.lastCodeAtMs = parts.world.scheduler.now();
  remember(parts, person);
}

/** A session that lacks its second factor is shown for what it is not. */
async function tryHalf(parts: PersonParts, person: Person, half: Half): Promise<void> {
  const { kind, secret } = half;
  const heard = await doAs(parts, person, { kind, secret }, async () => null);
  const isWhole = !heard.isSilent && heard.value !== 'refused';
  parts.world.observe({ kind: 'half.shown', person: person.name, isWhole });
  half.isTried = true;
}

/** Sets a second factor up, with a whole session or with one that lacks it; true when the session is whole then. */
export async function setUpFactor(
  parts: PersonParts,
  person: Person,
  held: Held,
): Promise<boolean> {
  const { app, name } = person;
  const [password] = person.passwords;
  const isWhole = held !== person.half;
  const body = isWhole && password !== undefined ? { password } : {};
  const begun = await heardAct(parts, { person, action: 'mfa.begin' }, () =>
    ask(parts, person, held, { path: '/auth/mfa/enroll', body }),
  );
  if (begun.isSilent || begun.value.code !== null) {
    if (!isWhole) dropHalf(person);
    return false;
  }
  const secret = String(begun.value.body['secret']);
  app.secrets = [secret, ...app.secrets].slice(0, SECRETS_MAX);
  remember(parts, person);
  const nowMs = trueNow(parts);
  app.lastStep = stepAt(nowMs);
  const code = codeAt(secret, nowMs);
  const asked = parts.world.log.size();
  const heard = await heardAct(parts, { person, action: 'mfa.enable' }, () =>
    ask(parts, person, held, { path: '/auth/mfa/confirm', body: { code } }),
  );
  if (heard.isSilent || heard.value.code !== null) {
    if (!isWhole) dropHalf(person);
    if (!heard.isSilent) app.secrets = turned(app.secrets);
    return false;
  }
  parts.world.observe({ kind: 'factor.on', person: name, asked });
  noteTaken(parts, person, code);
  const codes = heard.value.body['recovery_codes'];
  app.recoveryCodes = Array.isArray(codes) ? codes.map(String) : [];
  goOn(parts, person, held, heard.value);
  tellClosed(parts, person, asked);
  return heard.value.body['needs'] === null;
}

/** Turns the own second factor off. */
export async function dropFactor(parts: PersonParts, person: Person, held: Held): Promise<void> {
  const [password] = person.passwords;
  const code = freshCode(parts, person);
  if (code === null || password === undefined) return;
  const { name } = person;
  parts.world.observe({ kind: 'factor.off_asked', person: name });
  const heard = await heardAct(parts, { person, action: 'mfa.disable' }, () =>
    ask(parts, person, held, { path: '/auth/mfa/disable', body: { code, password } }),
  );
  if (!heard.isSilent && heard.value.code === null) goOn(parts, person, held, heard.value);
}

/** Shows password and code again, as changes of what protects accounts ask for. */
export async function showAgain(parts: PersonParts, person: Person, held: Held): Promise<boolean> {
  const [password] = person.passwords;
  if (password === undefined) return false;
  const code = person.app.secrets.length === 0 ? null : freshCode(parts, person);
  const body = code === null ? { password } : { password, code };
  const heard = await heardAct(parts, { person, action: 'user.reauthenticate' }, () =>
    ask(parts, person, held, { path: '/auth/reauthenticate', body }),
  );
  if (heard.isSilent || heard.value.code !== null) return false;
  goOn(parts, person, held, heard.value);
  return true;
}

/** An admin takes the second factor from somebody who lost it. */
export async function takeFactor(
  parts: PersonParts,
  person: Person,
  held: Held,
  other: Person,
): Promise<void> {
  const found = await doAs(parts, person, held, async ({ accounts }) =>
    accounts.findByEmail(other.email),
  );
  if (found.isSilent || found.value === 'refused' || found.value === null) return;
  const { userId } = found.value;
  parts.world.observe({ kind: 'factor.off_asked', person: other.name });
  await heardAct(parts, { person, action: 'mfa.disable', target: userId }, () =>
    ask(parts, person, held, { method: 'delete', path: `/users/${userId}/mfa` }),
  );
}

/** Asks with a session. */
export function ask(
  parts: PersonParts,
  person: Person,
  { secret }: Pick<Held, 'secret'>,
  request: {
    readonly method?: PlaneRequest['method'];
    readonly path: string;
    readonly body?: unknown;
  },
): Promise<Heard<PlaneAnswer>> {
  const address = addressOf(person);
  return askPlane(parts, { method: 'post', address, session: secret, ...request });
}

/** The session goes on under the secret of the answer. */
function goOn(parts: PersonParts, person: Person, old: Held, { session, body }: PlaneAnswer): void {
  if (session === null) return;
  if (old === person.half) dropHalf(person);
  else putAway(person, old);
  if (body['needs'] === null) hold(parts, person, session);
}

function dropHalf(person: Person): void {
  const { half } = person;
  if (half !== null) putAway(person, { kind: half.kind, secret: half.secret });
  person.half = null;
}

/** The next likeliest first. */
function turned(secrets: readonly string[]): readonly string[] {
  const [first, ...rest] = secrets;
  return first === undefined ? [] : [...rest, first];
}
