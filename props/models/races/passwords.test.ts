// A person's access while several people work on it: changes of the password, a reset by link, sessions ended from
// outside, another role, a second factor, a key that is made, in every order of their calls. What answered with a refusal changed nothing,
// a reset is never undone, and nothing begun before an end outlives it. invariant: I11, I18; decision: D37
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiKeyService } from '../../../actors/access/api-key-service.ts';
import { createLoginService } from '../../../actors/access/login.ts';
import type { NeedOf } from '../../../actors/access/login-need.ts';
import { createPasswordService } from '../../../actors/access/own-password.ts';
import { createPasswords } from '../../../actors/access/passwords.ts';
import { createSessionService, type IssuedSession } from '../../../actors/access/sessions.ts';
import { formatSecret } from '../../../machines/trust/secret.rules.ts';
import { createCheapHasher } from '../../../storage/memory/access/password-hasher.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import { addUser, CONTEXT } from '../../contracts/people.ts';
import { NOW_MS } from '../../contracts/samples.ts';
import { begun, type Race, raced, scheduledPort } from './scheduled-port.ts';

const FIRST = 'the first of the long secrets';
const RESET = 'the one that the reset has set';
const STEPS = [
  ...(['change', 'change', 'reset', 'revoke', 'role', 'disable', 'key', 'login'] as const),
  'factor',
] as const;
const SEALED = 'the sealed secret of an app';
type Step = (typeof STEPS)[number];

async function start(race: Race) {
  const direct = createMemoryRelational();
  const hasher = createCheapHasher();
  const users = scheduledPort(race, direct.users);
  const userPasswords = scheduledPort(race, direct.userPasswords);
  const passwordLinks = scheduledPort(race, direct.passwordLinks);
  const loginFailures = scheduledPort(race, direct.loginFailures);
  const now = () => NOW_MS;
  const sessions = createSessionService({
    ...{ sessions: scheduledPort(race, direct.sessions), now },
    ...{ idleMs: () => 60_000, lifetimeMs: () => 60_000 },
  });
  const passwords = createPasswords({ hasher });
  const { audit } = direct;
  const needOf: NeedOf = ({ mfa }, { stage }) =>
    mfa.state === 'on' && stage !== 'full' ? 'totp' : null;
  const login = createLoginService({
    ...{ users, userPasswords, loginFailures, sessions, passwords, audit, now },
    ...{ needOf, siteOf: (address) => address },
  });
  const keys = scheduledPort(race, direct.apiKeys);
  const service = createPasswordService({
    ...{ users, userPasswords, passwordLinks, loginFailures, sessions, login, passwords },
    ...{ audit, now, apiKeys: keys, needOf },
  });
  const apiKeys = createApiKeyService({ apiKeys: keys, now });
  const passwordHash = String(await hasher.hash(FIRST));
  const user = await addUser(direct.users, { passwordHash, role: 'operator' });
  const secret = formatSecret('resetLink', Buffer.alloc(32, 9));
  const hash = createHash('sha256').update(secret).digest();
  const { userId, email } = user;
  await direct.passwordLinks.createLink({ ...CONTEXT, userId, hash, expiresAtMs: NOW_MS + 60_000 });
  await direct.secondFactors.beginTotp({ ...CONTEXT, userId, sealedSecret: SEALED });
  const secondFactors = scheduledPort(race, direct.secondFactors);
  return {
    direct,
    hasher,
    users,
    secondFactors,
    sessions,
    login,
    service,
    apiKeys,
    user,
    userId,
    email,
    secret,
  };
}
type Own = Awaited<ReturnType<typeof start>>;

/** One step of somebody; whether it was done, and what it began. */
async function take(own: Own, step: Step, by: IssuedSession, at: number): Promise<boolean> {
  const { userId, users, direct } = own;
  const session = { hash: by.session.hash, stage: 'full' as const };
  const from = '192.0.2.1';
  if (step === 'change') {
    const next = `a long secret of change ${at}`;
    return (await own.service.change({ userId, session, current: FIRST, next, from })).ok;
  }
  if (step === 'reset') {
    return (await own.service.reset({ secret: own.secret, password: RESET, from })).ok;
  }
  if (step === 'revoke') {
    await own.sessions.endAllOf({ actor: 'admin', userId, keep: null });
    return true;
  }
  if (step === 'key') {
    const request = { name: `key ${at}`, scopes: ['events:read'] as const };
    const maker = { actor: 'p', from, userId, role: 'operator' as const, session: session.hash };
    return (await own.apiKeys.create(request, maker)).ok;
  }
  if (step === 'login') {
    const given = { email: own.email, password: FIRST, address: from, userAgent: '' };
    return (await own.login.login(given)).ok;
  }
  if (step === 'factor') {
    return own.secondFactors.confirmTotp({
      ...{ ...CONTEXT, userId, sealedSecret: SEALED, step: 1, recoveryHashes: [] },
      keepSession: session.hash,
    });
  }
  const patch = step === 'role' ? ({ role: 'viewer' } as const) : ({ status: 'disabled' } as const);
  const revision = (await direct.users.get(userId))?.revision ?? 0;
  const changed = await users.change({ ...CONTEXT, userId, revision, patch });
  return typeof changed !== 'string';
}

const inForce = async ({ direct, userId }: Own) => (await direct.users.get(userId))?.passwordHash;

describe('the access of a person, in every order', () => {
  it('keeps what a reset set, changes nothing by a refusal, and ends what was begun before', async () => {
    const all = fc.array(fc.constantFrom(...STEPS), { minLength: 2, maxLength: 5 });
    await raced(
      all,
      async (scheduler, steps) => {
        const own = await start(scheduler);
        const givens = await scheduler.waitFor(
          Promise.all(
            steps.map(() =>
              own.sessions.begin({
                ...{ userId: own.userId, stage: 'full', method: 'password' },
                ...{ address: '', userAgent: '' },
              }),
            ),
          ),
        );
        const doing = steps.map((step, at) =>
          begun(scheduler, `${step} ${at}`, () => {
            const by = givens[at];
            if (by === null || by === undefined) throw new Error('no session');
            return take(own, step, by, at);
          }),
        );
        const done = await scheduler.waitFor(Promise.all(doing));
        await scheduler.waitIdle();
        await check(own, steps, { done, givens });
      },
      300,
    );
  });
});

type Done = {
  readonly done: readonly boolean[];
  readonly givens: readonly (IssuedSession | null)[];
};

async function check(own: Own, steps: readonly Step[], { done, givens }: Done): Promise<void> {
  const did = (step: Step) => steps.flatMap((one, at) => (one === step && done[at] ? [at] : []));
  const [changes, isReset] = [did('change'), did('reset').length > 0];
  // One password is changed once: whoever knew it before knows it no longer.
  expect(changes.length).toBeLessThanOrEqual(1);
  expect(isReset && changes.length > 0).toBe(false);
  const [changed] = changes;
  const next = changed === undefined ? FIRST : `a long secret of change ${changed}`;
  expect(await inForce(own)).toBe(await own.hasher.hash(isReset ? RESET : next));
  const live = await own.direct.sessions.listOf(own.userId, NOW_MS);
  const user = await own.direct.users.get(own.userId);
  const keys = await own.direct.apiKeys.list({ userId: own.userId, limit: 9, before: null });
  if (isReset) expect(keys.filter(({ revokedAtMs }) => revokedAtMs === null)).toEqual([]);
  if (isReset || user?.status === 'disabled') expect(live).toEqual([]);
  // Whoever logged in without the factor is not in any more.
  const kept = did('factor').map((at) => givens[at]?.session.hash);
  const whole = live.filter(({ stage }) => stage === 'full').map(({ hash }) => hash);
  if (kept.length > 0) expect(kept).toEqual(expect.arrayContaining(whole));
  const isOne = ({ stage }: { readonly stage: string }) => stage === 'full';
  if (changes.length > 0) expect(live.filter(isOne).length).toBeLessThanOrEqual(1);
}
