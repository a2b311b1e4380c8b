// What a person does with a second factor, and what an admin may do to it. Every code takes a try before it is looked at,
// every accepted one turns the session to a new secret. decision: D39; invariant: I18
import { type Refusal, refuse } from '../../machines/errors.ts';
import { refusalOfReachAll } from '../../machines/trust/reach.rules.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../storage/ports/access/users.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import { systemChance } from '../trust/chance.ts';
import { contextOf, stepShown, triesKeyOf, tryOnce, useCode } from './factor-codes.ts';
import { evidenceOf } from './login-evidence.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import type {
  Answer,
  FactorAsking,
  SecondFactorDeps,
  SecondFactorService,
  ShownFactor,
} from './second-factor-service.ts';
import type { IssuedSession, Shown } from './sessions.ts';
import { newTotpSecret, qrSvgOf, totpAddress } from './totp-secret.ts';

const NONE = 'This account has no second factor.';
const ON = 'The second factor is on already.';
const ended = (): Refusal => refuse('credential_invalid', 'The session has ended meanwhile.');
const conflict = (detail: string): Refusal => refuse('mfa_state_conflict', detail);

/** Makes the service. */
export function createSecondFactorService(deps: SecondFactorDeps): SecondFactorService {
  return {
    view: (userId) => view(deps, userId),
    begin: (asking, given) => begin(deps, asking, given),
    confirm: (asking, code) => confirm(deps, asking, code),
    verify: (asking, shown) => verify(deps, asking, shown),
    replaceCodes: (asking, code) => replaceCodes(deps, asking, code),
    renew: (asking, given) => renew(deps, asking, given),
    disable: (asking, given) => disable(deps, asking, given),
    reset: (input) => reset(deps, input),
  };
}

type Asked<M extends keyof SecondFactorService> = ReturnType<SecondFactorService[M]>;

async function view(deps: SecondFactorDeps, userId: string): Asked<'view'> {
  const user = await deps.users.get(userId);
  if (user === null) return ended();
  const { state, changedAtMs } = user.mfa;
  const codesLeft = await deps.recoveryCodes.recoveryCodesLeft(userId);
  const isRequired = deps.requiredRoles().includes(user.role);
  return { ok: true, state, changedAtMs, codesLeft, isRequired };
}

async function begin(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  { password = '' }: { readonly password?: string | undefined },
): Asked<'begin'> {
  const user = await deps.users.get(asking.userId);
  if (user === null) return ended();
  const { userId, email } = user;
  if (user.mfa.state === 'on') return conflict(ON);
  // A login through a provider that proved no second factor sets up one here; later it is the provider's to change.
  if (user.passwordHash === null && asking.session.stage === 'full') {
    return conflict('This account logs in through a provider, whose second factor counts.');
  }
  const confirmed = await confirmOpen(deps, { asking, user, password });
  if (!confirmed.ok) return confirmed;
  const secret = newTotpSecret(deps.chance ?? systemChance);
  const sealedSecret = deps.sealer.seal(secret, contextOf(userId));
  const doing = doingOf(deps, asking);
  if (!(await deps.secondFactors.beginTotp({ ...doing, userId, sealedSecret })))
    return conflict(ON);
  const address = totpAddress({ secret, issuer: deps.issuer(), account: email });
  return { ok: true, secret, address, qrSvg: await qrSvgOf(address) };
}

/**
 * A session that was left open may not put somebody else's app in front of the account: it says the password again. So
 * does one that was whole until the role came to need a factor; without a password it ends, and a login begins another.
 */
async function confirmOpen(
  { login, sessions }: SecondFactorDeps,
  of: { readonly asking: FactorAsking; readonly user: UserRow; readonly password: string },
): Answer<object> {
  const { user, password } = of;
  const { session, actor, from } = of.asking;
  const row = await sessions.find(session.hash);
  if (row === null) return ended();
  if (row.stage === 'partial') return { ok: true };
  const isAsked = session.stage === 'full' || (user.passwordHash !== null && password !== '');
  if (isAsked) return login.confirm(user, { password, address: from });
  await sessions.end({ actor, from, hash: session.hash });
  return refuse('credential_invalid', 'Log in again to set up a second factor.');
}

async function confirm(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  code: string,
): Asked<'confirm'> {
  const user = await deps.users.get(asking.userId);
  if (user === null) return ended();
  const { userId, mfa } = user;
  if (mfa.state !== 'pending') return conflict(mfa.state === 'on' ? ON : NONE);
  const { codes, hashes: recoveryHashes } = newRecoveryCodes(deps.chance ?? systemChance);
  const tried = await tryOnce(deps, asking, async () => {
    const step = stepShown(deps, user, code);
    if (step === null || mfa.sealedSecret === null) return null;
    const isOn = await deps.secondFactors.confirmTotp({
      ...{ ...doingOf(deps, asking), userId, step, sealedSecret: mfa.sealedSecret },
      ...{ recoveryHashes, keepSession: asking.session.hash },
    });
    return isOn ? true : null;
  });
  if (!tried.ok) return tried;
  const turned = await turn(deps, asking, { stage: 'full', shown: 'part' });
  if (!turned.ok) return turned;
  const { issued } = turned;
  const isLogin = asking.session.stage === 'partial';
  const evidence = isLogin ? await evidenceOf(deps.audit, user) : null;
  if (isLogin) await noteLogin(deps, asking, { issued, by: 'totp' });
  return { ok: true, recoveryCodes: codes, issued, evidence };
}

async function verify(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  shown: ShownFactor,
): Asked<'verify'> {
  const user = await deps.users.get(asking.userId);
  if (user === null) return ended();
  if (asking.session.stage === 'full') return conflict('This session lacks nothing.');
  if (user.mfa.state !== 'on') return conflict(NONE);
  const tried = await tryOnce(deps, asking, () => useShown(deps, user, { asking, shown }));
  if (!tried.ok) return tried;
  const turned = await turn(deps, asking, { stage: 'full', shown: 'credentials' });
  if (!turned.ok) return turned;
  const evidence = await evidenceOf(deps.audit, user);
  await noteLogin(deps, asking, { issued: turned.issued, by: tried.value });
  const codesLeft = await deps.recoveryCodes.recoveryCodesLeft(asking.userId);
  return { ok: true, by: tried.value, codesLeft, issued: turned.issued, evidence };
}

async function replaceCodes(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  code: string,
): Asked<'replaceCodes'> {
  const { userId } = asking;
  const user = await deps.users.get(userId);
  if (user === null) return ended();
  if (user.mfa.state !== 'on') return conflict(NONE);
  const doing = doingOf(deps, asking);
  const tried = await tryOnce(deps, asking, () => useCode(deps, user, { code, doing }));
  if (!tried.ok) return tried;
  const { codes, hashes } = newRecoveryCodes(deps.chance ?? systemChance);
  const isDone = await deps.recoveryCodes.replaceRecoveryCodes({ ...doing, userId, hashes });
  return isDone ? { ok: true, recoveryCodes: codes } : conflict(NONE);
}

async function renew(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  { code = '', password = '' }: Parameters<SecondFactorService['renew']>[1],
): Asked<'renew'> {
  const user = await deps.users.get(asking.userId);
  if (user === null) return ended();
  const hasFactor = user.mfa.state === 'on';
  if (user.passwordHash === null && !hasFactor) {
    return refuse('fresh_login_required', 'Log in again through the provider, with fresh=true.');
  }
  if (user.passwordHash !== null) {
    const confirmed = await deps.login.confirm(user, { password, address: asking.from });
    if (!confirmed.ok) return confirmed;
  }
  if (hasFactor) {
    const tried = await tryOnce(deps, asking, () => useShown(deps, user, { asking, shown: code }));
    if (!tried.ok) return tried;
  }
  const turned = await turn(deps, asking, { stage: 'full', shown: 'credentials' });
  if (!turned.ok) return turned;
  const { nowMs: atMs, ...who } = doingOf(deps, asking);
  const what = { action: 'user.reauthenticate' as const, target: user.userId, result: 'ok' };
  await deps.audit.append([
    { atMs, ...who, ...what, detail: { session: turned.issued.session.sessionId } },
  ]);
  return turned;
}

/** Uses up whatever was shown; null when it does not count. */
async function useShown(
  deps: SecondFactorDeps,
  user: UserRow,
  { asking, shown }: { readonly asking: FactorAsking; readonly shown: ShownFactor },
): Promise<'totp' | 'recovery' | 'security_key' | null> {
  if (typeof shown === 'string') {
    return useCode(deps, user, { code: shown, doing: doingOf(deps, asking) });
  }
  return (await deps.securityKeys.use(asking, shown)) ? 'security_key' : null;
}

async function disable(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  { code, password = '' }: { readonly code: string; readonly password?: string | undefined },
): Asked<'disable'> {
  const user = await deps.users.get(asking.userId);
  if (user === null) return ended();
  if (user.mfa.state !== 'on') return conflict(NONE);
  const doing = doingOf(deps, asking);
  if (user.passwordHash !== null) {
    // Before the code, which a mistyped password must not use up.
    const confirmed = await deps.login.confirm(user, { password, address: asking.from });
    if (!confirmed.ok) return confirmed;
  }
  const tried = await tryOnce(deps, asking, () => useCode(deps, user, { code, doing }));
  if (!tried.ok) return tried;
  const keepSession = asking.session.hash;
  const isRemoved = await deps.secondFactors.removeTotp({
    ...doing,
    userId: user.userId,
    keepSession,
  });
  if (!isRemoved) return conflict(NONE);
  // Whose role demands a second factor may now do one thing: set up another.
  const session = await deps.sessions.find(keepSession);
  if (session === null) return ended();
  const without = { ...user, mfa: { ...user.mfa, state: 'off' as const } };
  const need = deps.needOf(without, { method: session.method, stage: 'full' });
  return turn(deps, asking, { stage: need === null ? 'full' : 'partial', shown: 'part' });
}

async function reset(
  { users, secondFactors, loginFailures, now }: SecondFactorDeps,
  { userId, by, ...who }: Parameters<SecondFactorService['reset']>[0],
): Asked<'reset'> {
  if (userId === by.userId) {
    return conflict('Your own second factor is turned off with a code, not reset.');
  }
  const judgedRole = (await users.get(userId))?.role;
  if (judgedRole === undefined) return refuse('not_found', 'There is no such user.');
  const refusal = refusalOfReachAll(by, [judgedRole]);
  if (refusal !== null) return refusal;
  const isRemoved = await secondFactors.removeTotp({
    ...{ ...who, nowMs: now(), userId, judgedRole, keepSession: null },
  });
  if (!isRemoved) return conflict(NONE);
  await loginFailures.forgetFailures([triesKeyOf(userId)]);
  return { ok: true };
}

function doingOf({ now }: SecondFactorDeps, { actor, from }: FactorAsking): AuditContext {
  return { actor, from, nowMs: now() };
}

async function turn(
  { sessions }: SecondFactorDeps,
  { session: { hash } }: FactorAsking,
  { stage, shown }: { readonly stage: SessionStage; readonly shown: Shown },
): Answer<{ readonly issued: IssuedSession }> {
  const issued = await sessions.turn(hash, stage, shown);
  return issued === null ? ended() : { ok: true, issued };
}

async function noteLogin(
  deps: SecondFactorDeps,
  asking: FactorAsking,
  login: { readonly issued: IssuedSession; readonly by: 'totp' | 'recovery' | 'security_key' },
): Promise<void> {
  const { userId } = asking;
  const { method: first, sessionId: session } = login.issued.session;
  const method = `${first}+${login.by}`;
  await deps.users.noteLogin({ ...doingOf(deps, asking), userId, method, session });
}
