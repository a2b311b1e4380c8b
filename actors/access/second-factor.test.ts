import { randomBytes, randomUUID } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { needOfLogin } from '../../machines/console/access/second-factor.rules.ts';
import { refuse } from '../../machines/errors.ts';
import { MFA_TRIES_MAX, MFA_TRIES_WINDOW_MS, TOTP_STEP_MS } from '../../machines/limits.ts';
import { ROLE_SCOPES, type Role } from '../../machines/trust/roles.rules.ts';
import { createMemoryPeople } from '../../storage/memory/access/people.ts';
import { createPlainSealer } from '../../storage/memory/access/plain-sealer.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';
import type { AuditEntry } from '../../storage/ports/audit/audit-log.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createSecondFactorService } from './second-factor.ts';
import type { FactorAsking } from './second-factor-service.ts';
import { createSessionService } from './sessions.ts';

const START_MS = Date.parse('2026-03-01T12:00:00.000Z');
const PASSWORD = 'a long password of its own';
const by = { actor: 'user:admin@example.org', from: '192.0.2.1' };
const ROOT = { role: 'admin', scopes: ROLE_SCOPES.admin, userId: null } as const;

/** One person with a password, and a service over the reference stores. */
async function open(role: Role = 'operator') {
  const state = { nowMs: START_MS, requiredRoles: [] as Role[], isKeyLost: false };
  const audit: AuditEntry[] = [];
  const people = createMemoryPeople((entry) => void audit.push(entry));
  const sealer = createPlainSealer();
  const userId = randomUUID();
  const email = 'ann@example.org';
  await people.users.create({
    ...{ ...by, nowMs: START_MS, userId, email, displayName: 'Ann', role },
    passwordHash: `hash of ${PASSWORD}`,
  });
  const service = createSecondFactorService({
    ...people,
    audit: {
      append: async (entries) => void audit.push(...entries),
      search: async () => [],
    },
    sessions: createSessionService({
      ...{ sessions: people.sessions, idleMs: () => 3_600_000, lifetimeMs: () => 3_600_000 },
      now: () => state.nowMs,
    }),
    login: {
      confirm: async (user, { password }) =>
        user.passwordHash === `hash of ${password}`
          ? { ok: true }
          : refuse('credentials_refused', 'Wrong.'),
    },
    securityKeys: { use: async () => false },
    sealer: {
      ...sealer,
      open: (text, context) => (state.isKeyLost ? null : sealer.open(text, context)),
    },
    requiredRoles: () => state.requiredRoles,
    needOf: ({ role, mfa }, { method, stage }) =>
      needOfLogin({ method, stage, state: mfa.state, role, requiredRoles: state.requiredRoles }),
    issuer: () => 'console.example',
    now: () => state.nowMs,
    logger: silentLogger,
  });
  async function login(stage: SessionStage): Promise<FactorAsking> {
    const hash = randomBytes(32);
    await people.sessions.create({
      ...{ hash, sessionId: randomUUID(), userId, stage, method: 'password' },
      ...{ address: '192.0.2.1', userAgent: '', createdAtMs: state.nowMs },
      authenticatedAtMs: state.nowMs,
      expiresAtMs: state.nowMs + 3_600_000,
    });
    return { userId, session: { hash, stage }, actor: `user:${email}`, from: '192.0.2.1' };
  }
  /** The code of an app with this secret, some steps from now. */
  const codeOf = (secret: string, steps = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: state.nowMs + steps * TOTP_STEP_MS,
    });
  async function enroll() {
    const asking = await login('full');
    const begun = good(await service.begin(asking, { password: PASSWORD }));
    const confirmed = good(await service.confirm(asking, codeOf(begun.secret)));
    state.nowMs += TOTP_STEP_MS;
    return { ...begun, ...confirmed };
  }
  const stageOf = async ({ session: { hash } }: FactorAsking) => {
    const row = await people.sessions.findByHash(hash);
    return row === null || row.endedAtMs !== null ? null : row.stage;
  };
  return { ...{ service, state, audit, people, userId, login, codeOf, enroll, stageOf } };
}

function good<T extends { readonly ok: boolean }>(answer: T): Extract<T, { ok: true }> {
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  return answer as Extract<T, { ok: true }>;
}
const codeIn = (answer: { readonly ok: boolean; readonly code?: string }) =>
  answer.ok ? 'ok' : answer.code;
const wrongCode = (right: string) => String((Number(right) + 1) % 1_000_000).padStart(6, '0');

describe('second factor service', () => {
  it('should turn a factor on with its first code, and change the session', async () => {
    const { service, login, codeOf, userId, people, stageOf } = await open();
    const asking = await login('full');
    const other = await login('full');
    expect(codeIn(await service.begin(asking, {}))).toBe('credentials_refused');
    const { secret, address } = good(await service.begin(asking, { password: PASSWORD }));
    expect(address).toContain(`secret=${secret}`);
    expect((await people.users.get(userId))?.mfa).toMatchObject({ state: 'pending' });
    expect(good(await service.view(userId))).toMatchObject({ state: 'pending', codesLeft: 0 });
    expect(codeIn(await service.confirm(asking, wrongCode(codeOf(secret))))).toBe(
      'mfa_code_invalid',
    );
    const { recoveryCodes, issued } = good(await service.confirm(asking, codeOf(secret)));
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(issued.session.stage).toBe('full');
    expect(await stageOf(asking)).toBeNull();
    expect(await stageOf(other)).toBeNull();
    expect(good(await service.view(userId))).toMatchObject({ state: 'on', codesLeft: 10 });
    expect(codeIn(await service.begin(await login('full'), { password: PASSWORD }))).toBe(
      'mfa_state_conflict',
    );
  });

  it('should accept a code once, also from two at one instant, and none of an earlier step', async () => {
    const { service, enroll, login, codeOf, state, stageOf } = await open();
    const { secret } = await enroll();
    const [first, second, third] = [
      await login('partial'),
      await login('partial'),
      await login('partial'),
    ];
    const code = codeOf(secret);
    const answers = await Promise.all([service.verify(first, code), service.verify(second, code)]);
    expect(answers.map(codeIn).sort()).toEqual(['mfa_code_invalid', 'ok']);
    const late = (await stageOf(first)) === null ? second : first;
    expect(codeIn(await service.verify(late, code))).toBe('mfa_code_invalid');
    state.nowMs += 2 * TOTP_STEP_MS;
    expect(codeIn(await service.verify(late, codeOf(secret)))).toBe('ok');
    expect(codeIn(await service.verify(third, codeOf(secret, -1)))).toBe('mfa_code_invalid');
    expect(codeIn(await service.verify(third, codeOf(secret, 1)))).toBe('mfa_code_invalid');
    state.nowMs += TOTP_STEP_MS;
    expect(codeIn(await service.verify(third, codeOf(secret)))).toBe('ok');
  });

  it('should look at no more codes than the limit, however many come at one instant', async () => {
    const { service, enroll, login, codeOf, state, stageOf } = await open();
    const { secret } = await enroll();
    const asking = await login('partial');
    const right = codeOf(secret);
    const wrong = Array.from({ length: 200 }, () => service.verify(asking, wrongCode(right)));
    const answers = (await Promise.all(wrong)).map(codeIn);
    expect(answers.filter((one) => one === 'mfa_code_invalid').length).toBeLessThan(MFA_TRIES_MAX);
    expect(answers.filter((one) => one === 'mfa_locked').length).toBeGreaterThan(190);
    expect(await stageOf(asking)).toBeNull();
    const again = await login('partial');
    const locked = await service.verify(again, right);
    expect(locked).toMatchObject({ ok: false, code: 'mfa_locked' });
    expect(locked).toHaveProperty('retryAfterMs', MFA_TRIES_WINDOW_MS);
    expect(await stageOf(again)).toBeNull();
    state.nowMs += MFA_TRIES_WINDOW_MS;
    expect(codeIn(await service.verify(await login('partial'), codeOf(secret)))).toBe('ok');
  });

  it('should use a recovery code once, also from ten at one instant, in any spelling', async () => {
    const { service, enroll, login, userId, audit } = await open();
    const { recoveryCodes } = await enroll();
    const [code = '', next = ''] = recoveryCodes;
    const many = await Promise.all(Array.from({ length: 4 }, () => login('partial')));
    const answers = await Promise.all(many.map((asking) => service.verify(asking, code)));
    expect(answers.map(codeIn).filter((one) => one === 'ok')).toHaveLength(1);
    expect(good(await service.view(userId)).codesLeft).toBe(9);
    const spoken = next.toUpperCase().replaceAll('-', ' ');
    const used = good(await service.verify(await login('partial'), spoken));
    expect(used).toMatchObject({ by: 'recovery', codesLeft: 8 });
    expect(used.issued.session.stage).toBe('full');
    expect(audit.map(({ action }) => action)).toContain('mfa.recovery_code_used');
    expect(JSON.stringify(audit)).not.toContain(code.replaceAll('-', ''));
  });

  it('should replace recovery codes for a code, and end the old ones', async () => {
    const { service, enroll, login, codeOf, state } = await open();
    const { secret, recoveryCodes: old } = await enroll();
    const asking = await login('full');
    expect(codeIn(await service.replaceCodes(asking, '000000'))).toBe('mfa_code_invalid');
    const { recoveryCodes } = good(await service.replaceCodes(asking, codeOf(secret)));
    expect(codeIn(await service.verify(await login('partial'), old[0] ?? ''))).toBe(
      'mfa_code_invalid',
    );
    state.nowMs += MFA_TRIES_WINDOW_MS;
    expect(codeIn(await service.verify(await login('partial'), recoveryCodes[0] ?? ''))).toBe('ok');
  });

  it('should turn off with password and code only, and never use a code up for a wrong password', async () => {
    const { service, enroll, login, codeOf, userId } = await open();
    const { secret } = await enroll();
    const asking = await login('full');
    const code = codeOf(secret);
    const refused = [
      await service.disable(asking, { code, password: 'not it' }),
      await service.disable(asking, { code }),
      await service.disable(asking, { code: wrongCode(code), password: PASSWORD }),
    ];
    expect(refused.map(codeIn)).toEqual([
      ...['credentials_refused', 'credentials_refused', 'mfa_code_invalid'],
    ]);
    const { issued } = good(await service.disable(asking, { code, password: PASSWORD }));
    expect(issued.session.stage).toBe('full');
    expect(good(await service.view(userId))).toMatchObject({ state: 'off', codesLeft: 0 });
    expect(codeIn(await service.disable(await login('full'), { code, password: PASSWORD }))).toBe(
      'mfa_state_conflict',
    );
  });

  it('should let a role that needs a factor do nothing but set one up', async () => {
    const { service, enroll, login, codeOf, state, people, userId } = await open('admin');
    state.requiredRoles = ['admin'];
    const asking = await login('partial');
    // The password was right a moment ago.
    const { secret } = good(await service.begin(asking, {}));
    const { issued } = good(await service.confirm(asking, codeOf(secret)));
    expect(issued.session.stage).toBe('full');
    const now = await people.users.get(userId);
    expect(now?.lastLoginAtMs).toBe(state.nowMs);
    state.nowMs += TOTP_STEP_MS;
    const code = codeOf(secret);
    const off = good(await service.disable(await login('full'), { code, password: PASSWORD }));
    expect(off.issued.session.stage).toBe('partial');
    await enroll();
  });

  it('should let an admin reset the factor of somebody else, locked or not, and end the sessions', async () => {
    const { service, enroll, login, codeOf, userId, stageOf, audit } = await open();
    const { secret } = await enroll();
    const asking = await login('partial');
    const wrong = wrongCode(codeOf(secret));
    for (let guess = 0; guess < MFA_TRIES_MAX; guess += 1) await service.verify(asking, wrong);
    const full = await login('full');
    const doing = { ...by, userId };
    expect(codeIn(await service.reset({ ...doing, by: { ...ROOT, userId } }))).toBe(
      'mfa_state_conflict',
    );
    expect(await stageOf(full)).toBe('full');
    expect(codeIn(await service.reset({ ...doing, by: ROOT }))).toBe('ok');
    expect(await stageOf(full)).toBeNull();
    expect(audit.at(-1)).toMatchObject({ action: 'mfa.disable', actor: by.actor, target: userId });
    expect(codeIn(await service.reset({ ...doing, by: ROOT }))).toBe('mfa_state_conflict');
    const nobody = { ...doing, userId: randomUUID(), by: ROOT };
    expect(codeIn(await service.reset(nobody))).toBe('not_found');
    await enroll();
  });

  it('should go on with recovery codes when the secret can no longer be read', async () => {
    const { service, enroll, login, codeOf, state } = await open();
    const { secret, recoveryCodes } = await enroll();
    state.isKeyLost = true;
    const asking = await login('partial');
    expect(codeIn(await service.verify(asking, codeOf(secret)))).toBe('mfa_code_invalid');
    expect(codeIn(await service.verify(asking, recoveryCodes[3] ?? ''))).toBe('ok');
  });

  it('should refuse what is out of order, and whose session has ended', async () => {
    const { service, login, people, userId, enroll, codeOf, state } = await open();
    const full = await login('full');
    expect(codeIn(await service.confirm(full, '123456'))).toBe('mfa_state_conflict');
    expect(codeIn(await service.verify(full, '123456'))).toBe('mfa_state_conflict');
    expect(codeIn(await service.verify(await login('partial'), '123456'))).toBe(
      'mfa_state_conflict',
    );
    expect(codeIn(await service.replaceCodes(full, '123456'))).toBe('mfa_state_conflict');
    const { secret } = await enroll();
    const asking = await login('partial');
    const nowMs = state.nowMs;
    await people.sessions.endAllOf({ ...by, nowMs, userId, keep: null });
    expect(codeIn(await service.verify(asking, codeOf(secret)))).toBe('credential_invalid');
    await people.users.remove({ ...by, nowMs, userId });
    expect(codeIn(await service.verify(asking, codeOf(secret)))).toBe('credential_invalid');
    expect(codeIn(await service.view(userId))).toBe('credential_invalid');
  });

  it('should leave accounts of a provider to their provider', async () => {
    const { service, people, login, state } = await open();
    const userId = randomUUID();
    const person = { userId, email: 'bo@example.org', displayName: 'Bo', role: 'viewer' as const };
    await people.users.create({ ...by, nowMs: state.nowMs, ...person, passwordHash: null });
    const asking = { ...(await login('full')), userId };
    expect(codeIn(await service.begin(asking, {}))).toBe('mfa_state_conflict');
  });
});
