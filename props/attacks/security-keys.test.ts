// Attack 35: security keys. An answer counts once, for the session that was asked, signed by a key of that person for this
// Console, with a counter that went on; who has an open session adds none. decision: D73; invariant: I18
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FRESH_LOGIN_MS } from '../../machines/console/access/limits.ts';
import {
  isCounterAcceptable,
  relyingPartyOf,
} from '../../machines/console/access/security-key.rules.ts';
import {
  SECURITY_KEY_CHALLENGE_TTL_MS,
  SECURITY_KEYS_PER_USER_MAX,
} from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { PASSWORD } from './person.ts';
import {
  codeOfApp,
  createPersonWithApp,
  type PersonWithApp,
  sessionIn,
} from './person-with-app.ts';
import { createSoftKey, type Lies } from './soft-key.ts';

let console: ConsoleUnderTest;
let ann: PersonWithApp;
let session: string;
let secret: string;
beforeEach(async () => {
  console = await startConsole();
  ann = await createPersonWithApp(console, 'operator');
  ({ session, secret } = await ann.enroll((await ann.login()).session));
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

const party = { rpId: 'localhost', origin: 'https://localhost:0' };
const challengeIn = (body: Record<string, unknown>) =>
  String((body['options'] as { readonly challenge: string }).challenge);

async function add(key = createSoftKey(party), lies: Lies = {}, by = { person: ann, session }) {
  const begun = await by.person.call(by.session, '/auth/mfa/keys/begin', {});
  const made = key.make(challengeIn(begun.body), lies);
  const answer = await by.person.call(by.session, '/auth/mfa/keys', {
    ...{ name: 'blue one', security_key: made },
  });
  return { key, answer, made };
}
async function askedAt(at: string): Promise<string> {
  const asked = await ann.call(at, '/auth/mfa/keys/ask', {});
  return challengeIn(asked.body);
}
const verify = (at: string, answered: unknown) =>
  ann.call(at, '/auth/mfa/verify', { security_key: answered });

describe('attack 35: a security key', () => {
  it('should finish a login in place of a code, renew a session, be listed and go', async () => {
    const { key, answer } = await add();
    expect(answer.status).toBe(201);
    const half = await ann.login();
    expect(half.needs).toBe('totp');
    const whole = await verify(half.session, key.use(await askedAt(half.session)));
    expect(whole.body).toMatchObject({ method: 'security_key', stage: 'full', needs: null });
    console.travel(FRESH_LOGIN_MS);
    const now = sessionIn(whole);
    const stale = await ann.call(now, '/auth/mfa/keys/begin', {});
    expect(stale.body['code']).toBe('fresh_login_required');
    const again = (password: string, answered: unknown) =>
      ann.call(now, '/auth/reauthenticate', { password, security_key: answered });
    expect((await again('wrong', key.use(await askedAt(now)))).status).toBe(401);
    const fresh = await again(PASSWORD, key.use(await askedAt(now)));
    expect(fresh.body).toMatchObject({ stage: 'full', needs: null });
    const listed = await ann.call(sessionIn(fresh), '/auth/mfa/keys');
    expect(listed.body['items']).toMatchObject([{ name: 'blue one', transports: ['usb'] }]);
    const [{ key_id: id } = { key_id: '' }] = listed.body['items'] as { key_id: string }[];
    const gone = await ann.call(sessionIn(fresh), `/auth/mfa/keys/${id}`, undefined, 'DELETE');
    expect(gone.status).toBe(204);
    const none = await ann.call(sessionIn(fresh), '/auth/mfa/keys/ask', {});
    expect(none.body['code']).toBe('mfa_state_conflict');
  });

  it('should be believed in nothing that is not of this Console, this question and a person there', async () => {
    const { key } = await add();
    for (const lies of [
      { origin: 'https://localhost:1' },
      { origin: 'http://localhost:0' },
      { rpId: 'example.org' },
      { type: 'webauthn.create' },
      { challenge: 'AAAA' },
      { isAbsent: true },
      { framedBy: 'https://elsewhere.example' },
      { counter: 1 },
      { counter: 0 },
    ] satisfies Lies[]) {
      const half = await ann.login();
      const refused = await verify(half.session, key.use(await askedAt(half.session), lies));
      expect([lies, refused.body['code']]).toEqual([lies, 'mfa_code_invalid']);
      // A right one forgets the count of wrong ones.
      expect((await verify(half.session, key.use(await askedAt(half.session)))).status).toBe(200);
    }
  });

  it('should answer once, in time, in the session that was asked, and for its owner', async () => {
    const { key } = await add();
    const [one, two] = [await ann.login(), await ann.login()];
    const answered = key.use(await askedAt(one.session));
    await askedAt(two.session);
    expect((await verify(two.session, answered)).body['code']).toBe('mfa_code_invalid');
    expect((await verify(one.session, answered)).status).toBe(200);
    const three = await ann.login();
    expect((await verify(three.session, answered)).body['code']).toBe('mfa_code_invalid');
    const late = key.use(await askedAt(three.session));
    console.travel(SECURITY_KEY_CHALLENGE_TTL_MS);
    expect((await verify(three.session, late)).body['code']).toBe('mfa_code_invalid');
    const bob = await createPersonWithApp(console, 'viewer');
    const bobs = await bob.enroll((await bob.login()).session);
    const second = await add(key, {}, { person: bob, session: bobs.session });
    expect(second.answer.body['code']).toBe('mfa_state_conflict');
  });

  it('should win once of many uses at one instant', async () => {
    const { key } = await add();
    const half = await ann.login();
    const answered = key.use(await askedAt(half.session));
    const all = await Promise.all(Array.from({ length: 4 }, () => verify(half.session, answered)));
    expect(all.filter(({ status }) => status === 200).length).toBe(1);
  });

  it('should be guessed no more often than codes are', async () => {
    await add();
    const half = await ann.login();
    const codes: unknown[] = [];
    for (let guess = 0; guess < 6; guess += 1) {
      const strange = createSoftKey(party).use('AAAA');
      codes.push((await verify(half.session, strange)).body['code']);
    }
    expect(codes).toContain('mfa_locked');
  });
});

describe('attack 35: adding a security key', () => {
  it.each([
    { format: 'packed', statement: new Map([['x5c', [new Uint8Array(4)]]]) },
    { format: 'apple', statement: new Map([['x5c', [new Uint8Array(4)]]]) },
    { format: 'fido-u2f' },
    { origin: 'https://elsewhere.example' },
    { rpId: 'elsewhere.example' },
    { type: 'webauthn.get' },
    { challenge: 'AAAA' },
    { isAbsent: true },
    { framedBy: 'https://elsewhere.example' },
  ] satisfies Lies[])('should be refused with %o', async (lies) => {
    expect((await add(createSoftKey(party), lies)).answer.body['code']).toBe('mfa_code_invalid');
    const listed = await ann.call(session, '/auth/mfa/keys');
    expect(listed.body['items']).toEqual([]);
  });

  it('should take an answer once, and no bytes that are none', async () => {
    const { made, answer } = await add();
    expect(answer.status).toBe(201);
    const body = { name: 'again', security_key: made };
    const again = await ann.call(session, '/auth/mfa/keys', body);
    expect(again.body['code']).toBe('mfa_code_invalid');
    for (const attestationObject of ['', '!!!', Buffer.alloc(9_000, 0x81).toString('base64url')]) {
      await ann.call(session, '/auth/mfa/keys/begin', {});
      const bent = { ...made, response: { ...made.response, attestationObject } };
      const refused = await ann.call(session, '/auth/mfa/keys', { name: 'b', security_key: bent });
      expect(refused.body['code']).toBe('mfa_code_invalid');
    }
  });

  it('should need a second factor, a fresh login, a session, and be bounded', async () => {
    const bare = await createPersonWithApp(console, 'viewer');
    const without = await bare.call((await bare.login()).session, '/auth/mfa/keys/begin', {});
    expect(without.body['code']).toBe('mfa_state_conflict');
    for (let count = 0; count < SECURITY_KEYS_PER_USER_MAX; count += 1) {
      expect((await add()).answer.status).toBe(201);
    }
    expect((await add()).answer.body['code']).toBe('bound_reached');
    console.travel(FRESH_LOGIN_MS);
    for (const path of ['/auth/mfa/keys/begin', '/auth/mfa/keys'] as const) {
      const stale = await ann.call(session, path, { name: 'n', security_key: {} });
      expect(stale.body['code']).toBe('fresh_login_required');
    }
  });

  it('should not outlive the second factor it stands beside', async () => {
    const { key } = await add();
    console.travel(60_000);
    const code = codeOfApp(secret, console.time.now());
    const off = await ann.call(session, '/auth/mfa/disable', { password: PASSWORD, code });
    expect(off.status).toBe(200);
    const { securityKeys } = console.stores.relational;
    expect(await securityKeys.listOf(ann.userId)).toEqual([]);
    const on = await ann.enroll((await ann.login()).session);
    const taken = await add(key, {}, { person: ann, session: on.session });
    expect(taken.answer.status).toBe(201);
  });
});

describe('attack 35: what a security key is bound to', () => {
  it('should be a name over TLS, and never an address', () => {
    expect(relyingPartyOf('https://console.example:15483')).toEqual({
      id: 'console.example',
      origin: 'https://console.example:15483',
    });
    for (const none of ['https://192.0.2.1:15483', 'https://[::1]:1', 'http://a.example', 'x']) {
      expect(relyingPartyOf(none)).toBeNull();
    }
  });

  it('should count on, unless it never counts', () => {
    for (const [stored, shown, isFine] of [
      [0, 0, true],
      [0, 1, true],
      [1, 1, false],
      [2, 1, false],
      [1, 0, false],
      [1, NaN, false],
      [0, -1, false],
    ] as const) {
      expect(isCounterAcceptable({ stored, shown })).toBe(isFine);
    }
  });
});
