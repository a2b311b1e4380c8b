// Logins through identity providers: where a browser is sent, and what becomes of it when it comes back. A login belongs
// to the browser that began it, is taken out of the database once, and ends in a new session or in a refusal that is
// audited with its reason; the person is told the code alone. decision: D40; invariant: I18
import { createHash, timingSafeEqual } from 'node:crypto';
import { emailKeyOf } from '../../../machines/console/access/account.rules.ts';
import type { SsoExchanged } from '../../../machines/console/access/sso-login.machine.ts';
import {
  authenticatedAtIn,
  type Claims,
  evidenceIn,
  localPathOf,
  methodOfSso,
  personOf,
  type SsoPerson,
} from '../../../machines/console/access/sso-login.rules.ts';
import { ERRORS, type Refusal, refuse } from '../../../machines/errors.ts';
import {
  RETRY_AFTER_STORE_MS,
  SSO_FLOW_TTL_MS,
  SSO_RANDOM_BYTES,
  SSO_RETRY_AFTER_MS,
} from '../../../machines/limits.ts';
import type {
  SsoFlowRow,
  SsoProviderRow,
  SsoStore,
} from '../../../storage/ports/access/sso-store.ts';
import type { AuditEntry, AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { Sealer } from '../../../storage/ports/plumbing/sealer.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { WheelClock } from '../../runtime/wheel-clock.ts';
import { type Chance, systemChance } from '../../trust/chance.ts';
import type { ProviderClient, ProviderFailure } from './provider-client.ts';
import { type AccountDeps, admitPerson, findAccounts } from './sso-accounts.ts';
import { runSsoLogin, type SsoLoginEnd } from './sso-login.actor.ts';

const RANDOM = /^[0-9A-Za-z_-]{43}$/;

export type SsoReturn = {
  /** Whose way back it took. */
  readonly providerId: string;
  /** The query the browser came back with, as it came. */
  readonly query: string;
  /** What the browser holds in the cookie of its login. */
  readonly browser: string | null;
  /** SHA-256 of the session the browser had before. */
  readonly replaces: Buffer | null;
  readonly from: string;
  readonly userAgent: string;
};
export type SsoService = {
  /** Those one can log in with. */
  offered(): Promise<readonly SsoProviderRow[]>;
  /** Begins a login. Rejects with StoreUnavailable. */
  start(input: {
    readonly providerId: string;
    readonly returnTo: string | undefined;
    /** The provider is to ask for credentials, also of whom it knows, and to say when it did. */
    readonly isFresh?: boolean;
    readonly browser: string | null;
  }): Promise<{ readonly ok: true; readonly location: string; readonly browser: string } | Refusal>;
  /** Ends a login. Rejects with StoreUnavailable. */
  finish(input: SsoReturn): Promise<
    | {
        readonly ok: true;
        readonly returnTo: string;
        /** The secret of the new session. */
        readonly secret: string;
      }
    | Refusal
  >;
};
export type SsoServiceDeps = Omit<AccountDeps, 'sso'> & {
  readonly sso: SsoStore;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly client: ProviderClient;
  readonly sealer: Sealer;
  readonly clock: WheelClock;
  readonly logger: Logger;
  readonly now: () => number;
  /** Where providers send browsers back to. */
  readonly callbackUrl: (providerId: string) => string;
  readonly chance?: Chance;
};

/** For whom a client secret is sealed. */
export function secretContextOf(providerId: string): string {
  return `sso:${providerId}`;
}

/** Makes the service. */
export function createSsoService(deps: SsoServiceDeps): SsoService {
  return {
    async offered() {
      return (await deps.sso.listProviders()).filter(({ enabled }) => enabled);
    },
    start: (input) => start(deps, input),
    finish: (input) => finish(deps, input),
  };
}

async function start(
  deps: SsoServiceDeps,
  input: Parameters<SsoService['start']>[0],
): ReturnType<SsoService['start']> {
  const provider = await deps.sso.getProvider(input.providerId);
  if (provider === null || !provider.enabled) {
    return refuse('not_found', 'There is no such identity provider.');
  }
  const { browser: held } = input;
  // One value serves several logins of a browser, so that two tabs do not end each other's.
  const newText = () => randomText(deps.chance);
  const browser = held !== null && RANDOM.test(held) ? held : newText();
  const [state, nonce, codeVerifier] = [newText(), newText(), newText()];
  const flow = { state, nonce, codeVerifier };
  const sent = await deps.client.authorizationUrl(
    provider,
    { ...flow, isFresh: input.isFresh === true },
    deps.callbackUrl(provider.providerId),
  );
  if (!sent.ok) {
    const { providerId } = provider;
    deps.logger.warn({ providerId, reason: sent.reason }, 'a login could not begin');
    return unavailable();
  }
  await deps.sso.saveFlow({
    stateHash: hashOf(state),
    providerId: provider.providerId,
    browserHash: hashOf(browser),
    nonce,
    codeVerifier,
    returnTo: localPathOf(input.returnTo),
    expiresAtMs: deps.now() + SSO_FLOW_TTL_MS,
  });
  return { ok: true, location: sent.url, browser };
}

async function finish(deps: SsoServiceDeps, input: SsoReturn): ReturnType<SsoService['finish']> {
  const nowMs = deps.now();
  const parameters = new URLSearchParams(input.query);
  const [state = '', ...others] = parameters.getAll('state');
  const isOne = others.length === 0 && RANDOM.test(state);
  const flow = isOne ? await deps.sso.takeFlow(hashOf(state), nowMs) : null;
  const provider = flow === null ? null : await deps.sso.getProvider(flow.providerId);
  const isItsWay = provider?.providerId === input.providerId;
  if (flow === null || provider === null || !isItsWay || !provider.enabled) {
    return refuse('sso_login_refused', 'No such login is under way.');
  }
  const begun: Returned['begun'] = { secret: null, method: '', authenticatedAtMs: 0 };
  const end = await runSsoLogin(
    deps,
    { policy: provider.options, expiresAtMs: flow.expiresAtMs },
    {
      atMs: nowMs,
      isSameBrowser: input.browser !== null && isHashOf(flow.browserHash, input.browser),
      isDenied: parameters.has('error'),
    },
    effectsOf(deps, { provider, flow, state, input, nowMs, begun }),
  );
  if (end.ok && begun.secret !== null) {
    return { ok: true, returnTo: flow.returnTo, secret: begun.secret };
  }
  if (end.ok) throw new Error('a login ended well without a session');
  await auditRefusal(deps, provider, input.from, end);
  return refusalOf(end);
}

type Returned = {
  readonly provider: SsoProviderRow;
  readonly flow: SsoFlowRow;
  readonly state: string;
  readonly input: SsoReturn;
  readonly nowMs: number;
  readonly begun: { secret: string | null; method: string; authenticatedAtMs: number };
};

function effectsOf(deps: SsoServiceDeps, returned: Returned): Parameters<typeof runSsoLogin>[3] {
  const { provider, flow, state, input, nowMs, begun } = returned;
  const { providerId } = provider;
  return {
    async exchange() {
      const clientSecret = deps.sealer.open(
        provider.clientSecretSealed,
        secretContextOf(providerId),
      );
      if (clientSecret === null) {
        const reason = 'its client secret cannot be opened with the key of this Console';
        return { ok: false, code: 'sso_provider_unavailable', reason };
      }
      const returnedTo = `${deps.callbackUrl(providerId)}?${input.query}`;
      const answer = { flow, state, clientSecret, returnedTo };
      const exchanged = await deps.client.exchange(provider, answer);
      if (!exchanged.ok) return failedExchange(exchanged);
      const evidence = evidenceIn(exchanged.claims, provider.options, nowMs);
      if (evidence === null) {
        const reason = 'the login at the provider is too long ago, or it does not say when it was';
        return { ok: false, code: 'sso_answer_refused', reason };
      }
      begun.method = methodOfSso(providerId, evidence);
      begun.authenticatedAtMs = authenticatedAtIn(exchanged.claims, nowMs);
      return personIn(provider, exchanged.claims);
    },
    find: (person) =>
      orAway(async () => ({
        ok: true as const,
        known: await findAccounts(deps, providerId, person),
      })),
    admit: (person, verdict) =>
      orAway(async () => {
        // A provider may take its time with an answer; what an admin took from it meanwhile, it does not give any more.
        const now = await deps.sso.getProvider(providerId);
        if (now?.enabled !== true || now.revision !== provider.revision) return changedMeanwhile();
        const { from, replaces, userAgent } = input;
        const doing = { actor: `sso:${providerId}`, from, nowMs };
        const onBegun = (secret: string): void => {
          begun.secret = secret;
        };
        return admitPerson(deps, {
          ...{ doing, providerId, person, verdict, userAgent, replaces, onBegun },
          method: begun.method,
          authenticatedAtMs: begun.authenticatedAtMs,
        });
      }),
  };
}

function changedMeanwhile() {
  const reason = 'the provider was changed meanwhile';
  return { ok: false, code: 'sso_answer_refused', reason } as const;
}

function personIn({ kind, options }: SsoProviderRow, claims: Claims): SsoExchanged {
  const person = personOf(kind, claims, options.groupsClaim);
  if (person !== null) return { ok: true, person };
  return { ok: false, code: 'sso_answer_refused', reason: 'the subject cannot be used' };
}

function failedExchange({ kind, reason }: ProviderFailure): SsoExchanged {
  const code = kind === 'away' ? 'sso_provider_unavailable' : 'sso_answer_refused';
  return { ok: false, code, reason };
}

async function orAway<T>(
  run: () => Promise<T>,
): Promise<
  T | { readonly ok: false; readonly code: 'store_unavailable'; readonly reason: string }
> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { ok: false, code: 'store_unavailable', reason: error.message };
  }
}

/** Whose account a refused login was about: that of the subject, or of the address, as every refused login names it. */
async function targetOf(
  { sso, users }: SsoServiceDeps,
  providerId: string,
  person: SsoPerson | null,
): Promise<string> {
  if (person === null) return '';
  try {
    const linkedId = await sso.findIdentity(providerId, person.subject);
    const linked = linkedId === null ? null : await users.get(linkedId);
    return emailKeyOf(linked?.email ?? person.email ?? '');
  } catch (error) {
    if (error instanceof StoreUnavailable) return emailKeyOf(person.email ?? '');
    throw error;
  }
}

async function auditRefusal(
  deps: SsoServiceDeps,
  { providerId }: SsoProviderRow,
  from: string,
  { code, reason, person }: Extract<SsoLoginEnd, { readonly ok: false }>,
): Promise<void> {
  const { audit, logger, now } = deps;
  const entry: AuditEntry = {
    atMs: now(),
    actor: `sso:${providerId}`,
    action: 'user.login',
    target: await targetOf(deps, providerId, person),
    result: code,
    from,
    detail: { method: `sso:${providerId}`, reason, subject: person?.subject ?? null },
  };
  try {
    await audit.append([entry]);
  } catch (error) {
    logger.warn({ error: String(error), ...entry }, 'a refused login could not be audited');
  }
}

function refusalOf({ code }: Extract<SsoLoginEnd, { readonly ok: false }>): Refusal {
  if (code === 'sso_provider_unavailable') return unavailable();
  const more = code === 'store_unavailable' ? { retryAfterMs: RETRY_AFTER_STORE_MS } : {};
  return refuse(code, ERRORS[code].action, more);
}

function unavailable(): Refusal {
  return refuse('sso_provider_unavailable', ERRORS.sso_provider_unavailable.action, {
    retryAfterMs: SSO_RETRY_AFTER_MS,
  });
}

function randomText(chance: Chance = systemChance): string {
  return chance.randomBytes(SSO_RANDOM_BYTES).toString('base64url');
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function isHashOf(hash: Buffer, text: string): boolean {
  return timingSafeEqual(hash, hashOf(text));
}
