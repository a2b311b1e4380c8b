// Guessing and repeating the codes of a second factor, against the real listener. decision: D39; invariant: I18
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MFA_TRIES_MAX, MFA_TRIES_WINDOW_MS, TOTP_STEP_MS } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { codeOf } from './peer.ts';
import { COOKIE } from './person.ts';
import {
  codeOfApp,
  createPersonWithApp,
  type PersonWithApp,
  sessionIn,
} from './person-with-app.ts';

const GUESSES = 200;
let console: ConsoleUnderTest;
let ann: PersonWithApp;
let secret: string;
let recoveryCodes: readonly string[];

/** The middle of a step, so that nothing is decided by a millisecond. */
const alignedMs = (atMs: number) => Math.ceil(atMs / TOTP_STEP_MS) * TOTP_STEP_MS + 15_000;
const code = (steps = 0) => codeOfApp(secret, console.time.now() + steps * TOTP_STEP_MS);
const verify = (session: string, shown: string) =>
  ann.call(session, '/auth/mfa/verify', { code: shown });
const isFull = async (session: string) =>
  (await ann.call(session, '/auth/sessions')).status === 200;
/** Codes that no app shows now. */
function wrongCodes(count: number): readonly string[] {
  const right = new Set([code(-1), code(), code(1)]);
  const all = Array.from({ length: count + 3 }, (_, at) => String(at).padStart(6, '0'));
  return all.filter((one) => !right.has(one)).slice(0, count);
}

beforeAll(async () => {
  console = await startConsole();
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

/** Somebody new with a second factor, two steps after it was set up. */
async function begin(): Promise<void> {
  console.holdAt(alignedMs(console.time.now()));
  ann = await createPersonWithApp(console, 'operator');
  const { session } = await ann.login();
  ({ secret, recoveryCodes } = await ann.enroll(session));
  console.travel(2 * TOTP_STEP_MS);
}

describe('attack 26: second factors', () => {
  it('should accept a code once: never the same one again', async () => {
    await begin();
    const [first, second] = [await ann.login(), await ann.login()];
    expect(first.needs).toBe('totp');
    expect(await isFull(first.session)).toBe(false);
    const shown = code();
    const answer = await verify(first.session, shown);
    expect(answer.status).toBe(200);
    expect(codeOf(await verify(second.session, shown))).toEqual([403, 'mfa_code_invalid']);
    expect(await isFull(second.session)).toBe(false);
    // The session that was shown the code is a new one; whoever planted the old one has nothing.
    const full = sessionIn(answer);
    expect(full).not.toBe(first.session);
    expect(await isFull(full)).toBe(true);
    expect(codeOf(await ann.call(first.session, '/auth/mfa/verify', { code: code(1) }))).toEqual([
      401,
      'credential_invalid',
    ]);
  });

  it('should accept a code once of two uses at one instant', async () => {
    await begin();
    const logins = [await ann.login(), await ann.login()];
    const shown = code();
    const answers = await Promise.all(logins.map(({ session }) => verify(session, shown)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const { session } = await ann.login();
    console.travel(TOTP_STEP_MS);
    const again = await Promise.all([verify(session, code()), verify(session, code())]);
    expect(again.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('should accept no code of a step before the last one accepted', async () => {
    await begin();
    const [first, second] = [await ann.login(), await ann.login()];
    expect((await verify(first.session, code())).status).toBe(200);
    expect(codeOf(await verify(second.session, code(-1)))).toEqual([403, 'mfa_code_invalid']);
    console.travel(TOTP_STEP_MS);
    expect((await verify(second.session, code())).status).toBe(200);
  });

  it('should accept the present code and the one before, and none that is still to come', async () => {
    await begin();
    const [first, second] = [await ann.login(), await ann.login()];
    for (const steps of [1, 2, -2]) {
      const answer = await verify(first.session, code(steps));
      expect([steps, codeOf(answer)]).toEqual([steps, [403, 'mfa_code_invalid']]);
    }
    expect((await verify(first.session, code(-1))).status).toBe(200);
    expect((await verify(second.session, code())).status).toBe(200);
  });

  it.each([0, 2, 100])(
    'should let 200 guesses at one instant end in one success at most, and in a lock (right one at %i)',
    async (place) => {
      await begin();
      const { session } = await ann.login();
      const guesses = [...wrongCodes(GUESSES - 1)];
      guesses.splice(place, 0, code());
      const answers = await Promise.all(guesses.map((guess) => verify(session, guess)));
      const codes = answers.map((answer) => (answer.status === 200 ? 'ok' : answer.body['code']));
      const count = (wanted: string) => codes.filter((one) => one === wanted).length;
      expect(count('ok')).toBeLessThanOrEqual(1);
      // A success begins a new count; nothing else does.
      expect(count('mfa_code_invalid')).toBeLessThanOrEqual(2 * (MFA_TRIES_MAX - 1));
      const ended = count('mfa_locked') + count('credential_invalid') + count('mfa_state_conflict');
      expect(count('ok') + count('mfa_code_invalid') + ended).toBe(GUESSES);
      // The session in which somebody guessed is over, and a new one is not asked either.
      if (count('ok') === 0) await expectLocked(session);
      else expect(await isFull(session)).toBe(false);
    },
  );

  it('should lock at the limit, for right codes too, until the time is over or an admin resets', async () => {
    await begin();
    const { session } = await ann.login();
    const answers = await Promise.all(wrongCodes(GUESSES).map((guess) => verify(session, guess)));
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    const looked = answers.filter(({ body }) => body['code'] === 'mfa_code_invalid').length;
    expect(looked).toBeLessThan(MFA_TRIES_MAX);
    await expectLocked(session);
    console.travel(MFA_TRIES_WINDOW_MS + 1_000);
    const { session: later } = await ann.login();
    expect((await verify(later, code())).status).toBe(200);
  });

  it('should use a recovery code once of many uses at one instant', async () => {
    await begin();
    const logins = await Promise.all([ann.login(), ann.login(), ann.login(), ann.login()]);
    const shown = recoveryCodes[0] ?? '';
    const answers = await Promise.all(logins.map(({ session }) => verify(session, shown)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good.map(({ body }) => body['recovery_codes_left'])).toEqual([9]);
    const text = JSON.stringify(await console.audited());
    expect(text).toContain('mfa.recovery_code_used');
    for (const hidden of [secret, ...recoveryCodes]) expect(text).not.toContain(hidden);
  });

  it('should open nothing to a session that waits for its second factor', async () => {
    await begin();
    const { session } = await ann.login();
    for (const path of ['/sensors', '/auth/mfa', '/auth/sessions', '/settings']) {
      expect(codeOf(await ann.call(session, path))).toEqual([403, 'second_factor_required']);
    }
    const { password } = ann;
    expect(codeOf(await ann.call(session, '/auth/mfa/enroll', { password }))).toEqual([
      409,
      'mfa_state_conflict',
    ]);
    expect(
      codeOf(await ann.call(session, '/auth/mfa/disable', { password, code: code() })),
    ).toEqual([403, 'second_factor_required']);
    const keys = await console.ask(
      null,
      '/api/v2/auth/mfa/verify',
      { code: code() },
      {
        headers: { cookie: `${COOKIE}=${session}` },
      },
    );
    expect(codeOf(keys)).toEqual([403, 'csrf_refused']);
  });

  it('should let a role that needs a second factor do nothing before it has one', async () => {
    await begin();
    const roles = { mfa_required_roles: ['analyst'] };
    const revisions = { mfa_required_roles: 0 };
    const bob = await createPersonWithApp(console, 'analyst');
    const before = await bob.login();
    expect((await bob.call(before.session, '/sensors')).status).toBe(200);
    await console.settings.change({ actor: 'test', values: roles, revisions });
    // Also the session that was there before the setting.
    expect(codeOf(await bob.call(before.session, '/sensors'))).toEqual([
      403,
      'second_factor_required',
    ]);
    const { session, needs } = await bob.login();
    expect(needs).toBe('totp_enrollment');
    expect(codeOf(await bob.call(session, '/sensors'))).toEqual([403, 'second_factor_required']);
    const enrolled = await bob.enroll(session);
    expect((await bob.call(enrolled.session, '/sensors')).status).toBe(200);
  });

  it('should let an admin, and nobody else, take a second factor away', async () => {
    await begin();
    const { session } = await ann.login();
    const full = sessionIn(await verify(session, code()));
    const path = `/users/${ann.userId}/mfa`;
    expect(codeOf(await ann.call(full, path, {}, 'DELETE'))).toEqual([403, 'role_required']);
    const root = await createPersonWithApp(console, 'admin');
    const rooted = (await root.login()).session;
    expect((await root.call(rooted, path, {}, 'DELETE')).status).toBe(204);
    expect(await isFull(full)).toBe(false);
    expect((await ann.login()).needs).toBeNull();
    expect(codeOf(await root.call(rooted, path, {}, 'DELETE'))).toEqual([
      409,
      'mfa_state_conflict',
    ]);
    const own = `/users/${root.userId}/mfa`;
    expect(codeOf(await root.call(rooted, own, {}, 'DELETE'))).toEqual([409, 'mfa_state_conflict']);
  });
});

async function expectLocked(session: string): Promise<void> {
  expect(codeOf(await verify(session, code()))).toEqual([401, 'credential_invalid']);
  const { session: next } = await ann.login();
  const locked = await verify(next, code());
  expect(codeOf(locked)).toEqual([429, 'mfa_locked']);
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(MFA_TRIES_WINDOW_MS / 1_000 - 60);
}
