// Speaks OpenID Connect with the providers: discovery, the address a browser is sent to, and the exchange of the code that
// it brings back. State, nonce and PKCE are checked apart, `iss` of the answer and of the token both, and the token's
// signature against keys that are fetched for each login, so that a provider may change them at any time. decision: D40
import type { Agent } from 'node:https';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  type ServerMetadata,
} from 'openid-client';
import {
  type Claims,
  joinedClaims,
  lacksClaims,
} from '../../../machines/console/access/sso-login.rules.ts';
import {
  SSO_ANSWER_MAX_BYTES,
  SSO_METADATA_TTL_MS,
  SSO_REQUEST_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import type { SsoFlowRow, SsoProviderRow } from '../../../storage/ports/access/sso-store.ts';
import { policyOfList } from '../../outbound/address-rules.ts';
import { hostOf } from '../../outbound/guarded-connect.ts';
import { createGuardedFetch, type GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { proxyOf } from '../../outbound/outbound-post.ts';
import { DestinationUnreachable } from '../../outbound/unreachable.ts';

export type ProviderFailure = {
  readonly ok: false;
  /** Away: later it may work. Refused: what it said is not acceptable. */
  readonly kind: 'away' | 'refused';
  readonly reason: string;
};
export type Discovered = { readonly ok: true; readonly metadata: ServerMetadata } | ProviderFailure;
export type ProviderClient = {
  /** What the provider says of itself; remembered for a while unless `isFresh`. */
  discover(provider: SsoProviderRow, isFresh?: boolean): Promise<Discovered>;
  /** Where the browser is sent. */
  authorizationUrl(
    provider: SsoProviderRow,
    flow: Pick<SsoFlowRow, 'nonce' | 'codeVerifier'> & {
      readonly state: string;
      /** Credentials are to be shown now. */
      readonly isFresh?: boolean;
    },
    redirectUri: string,
  ): Promise<{ readonly ok: true; readonly url: string } | ProviderFailure>;
  /** Exchanges what the browser brought back for the claims of a genuine answer. */
  exchange(
    provider: SsoProviderRow,
    answer: {
      readonly flow: Pick<SsoFlowRow, 'nonce' | 'codeVerifier'>;
      readonly state: string;
      readonly clientSecret: string;
      /** The whole address the browser came back to. */
      readonly returnedTo: string;
    },
  ): Promise<{ readonly ok: true; readonly claims: Claims } | ProviderFailure>;
};
export type ProviderClientDeps = {
  readonly monotonicNow: () => number;
  /** Private names, addresses and networks that admins allow. */
  readonly allowList: () => readonly string[];
  readonly agent?: Agent | undefined;
  /** How long one request may take. */
  readonly timeoutMs?: number;
};

type Remembered = {
  readonly revision: number;
  readonly atMs: number;
  readonly discovered: Promise<Discovered>;
};

/** Makes the client of every provider. */
export function createProviderClient(deps: ProviderClientDeps): ProviderClient {
  const remembered = new Map<string, Remembered>();

  function discover(provider: SsoProviderRow, isFresh = false): Promise<Discovered> {
    const { providerId, revision } = provider;
    const known = remembered.get(providerId);
    const nowMs = deps.monotonicNow();
    const isGood = known?.revision === revision && nowMs - known.atMs < SSO_METADATA_TTL_MS;
    if (isGood && !isFresh) return known.discovered;
    const made: Remembered = { revision, atMs: nowMs, discovered: discoverNow(deps, provider) };
    remembered.set(providerId, made);
    // What failed is asked again by the next login, and those that came meanwhile share this one answer.
    void made.discovered.then(({ ok }) => {
      if (!ok && remembered.get(providerId) === made) remembered.delete(providerId);
    });
    return made.discovered;
  }

  return {
    discover,
    async authorizationUrl(provider, flow, redirectUri) {
      const discovered = await discover(provider);
      if (!discovered.ok) return discovered;
      return orFailure(async () => {
        const config = configurationOf(deps, provider, discovered.metadata, null);
        const url = buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: provider.options.scopes.join(' '),
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await calculatePKCECodeChallenge(flow.codeVerifier),
          code_challenge_method: 'S256',
          ...askedEvidence(provider),
          ...(flow.isFresh === true ? { prompt: 'login', max_age: '0' } : {}),
        });
        if (url.protocol !== 'https:')
          throw new Error('the login page of the provider is not https');
        return { ok: true, url: url.href };
      });
    },
    async exchange(provider, { flow, state, clientSecret, returnedTo }) {
      const discovered = await discover(provider);
      if (!discovered.ok) return discovered;
      const { groupsClaim } = provider.options;
      return orFailure(async () => {
        const config = configurationOf(deps, provider, discovered.metadata, clientSecret);
        const tokens = await authorizationCodeGrant(config, new URL(returnedTo), {
          pkceCodeVerifier: flow.codeVerifier,
          expectedState: state,
          expectedNonce: flow.nonce,
          idTokenExpected: true,
        });
        const told = tokens.claims();
        if (told === undefined) throw new Error('there is no ID token');
        const asks = lacksClaims(told, groupsClaim);
        if (!asks || discovered.metadata.userinfo_endpoint === undefined) {
          return { ok: true, claims: told };
        }
        const more: Claims = await fetchUserInfo(config, tokens.access_token, told.sub);
        return { ok: true, claims: joinedClaims(told, more) };
      });
    },
  };
}

function askedEvidence({ options }: SsoProviderRow): Record<string, string> {
  const { requiredAcr = [], maxAgeSeconds = null } = options;
  return {
    ...(requiredAcr.length === 0 ? {} : { acr_values: requiredAcr.join(' ') }),
    ...(maxAgeSeconds === null ? {} : { max_age: String(maxAgeSeconds) }),
  };
}

const USED_ENDPOINTS = [
  ...(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const),
] as const;

function isHttps(address: unknown): boolean {
  return typeof address === 'string' && URL.parse(address)?.protocol === 'https:';
}

function discoverNow(deps: ProviderClientDeps, provider: SsoProviderRow): Promise<Discovered> {
  return orFailure(async () => {
    const found = await discovery(new URL(provider.issuer), provider.clientId, undefined, None(), {
      [customFetch]: fetchOf(deps, provider),
      timeout: timeoutOf(deps) / 1_000,
    });
    const metadata = found.serverMetadata();
    // The library makes exceptions for some hosts; here there is none.
    if (metadata.issuer !== provider.issuer && metadata.issuer !== `${provider.issuer}/`) {
      throw new Error(`it calls itself ${metadata.issuer}`);
    }
    for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
      if (metadata[name] === undefined) throw new Error(`it names no ${name}`);
    }
    for (const name of USED_ENDPOINTS) {
      const address = metadata[name];
      if (address !== undefined && !isHttps(address)) {
        throw new Error(`its ${name} is not an address of https`);
      }
    }
    return { ok: true, metadata };
  });
}

/** A configuration for one login: with it goes the memory of the provider's keys. */
function configurationOf(
  deps: ProviderClientDeps,
  provider: SsoProviderRow,
  metadata: ServerMetadata,
  clientSecret: string | null,
): Configuration {
  const authentication = clientSecret === null ? None() : authenticationOf(metadata, clientSecret);
  const config = new Configuration(metadata, provider.clientId, undefined, authentication);
  config[customFetch] = fetchOf(deps, provider);
  config.timeout = timeoutOf(deps) / 1_000;
  enableNonRepudiationChecks(config);
  return config;
}

function authenticationOf(metadata: ServerMetadata, clientSecret: string): ClientAuth {
  const methods = metadata.token_endpoint_auth_methods_supported;
  const takesBasic = methods === undefined || methods.includes('client_secret_basic');
  return takesBasic ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}

// Its endpoints may lie on several hosts, and each is judged by its own name.
function fetchOf(deps: ProviderClientDeps, { options }: SsoProviderRow): GuardedFetch {
  const { agent } = deps;
  const { caPem, proxyUrl = null } = options;
  return (address, request) => {
    const allowList = deps.allowList();
    const ask = createGuardedFetch({
      ...policyOfList(allowList, hostOf(new URL(address))),
      ...{ caPem, agent, timeoutMs: timeoutOf(deps), answerMaxBytes: SSO_ANSWER_MAX_BYTES },
      proxy: proxyOf(proxyUrl, allowList),
    });
    return ask(address, request);
  };
}

function timeoutOf({ timeoutMs = SSO_REQUEST_TIMEOUT_MS }: ProviderClientDeps): number {
  return timeoutMs;
}

/** What the library throws as a value; our own mistakes among it are refusals too, with their message. */
async function orFailure<T>(run: () => Promise<T>): Promise<T | ProviderFailure> {
  try {
    return await run();
  } catch (error) {
    const away = causesOf(error).find(
      (one) => one instanceof DestinationUnreachable || isTimeOut(one),
    );
    if (away !== undefined) return { ok: false, kind: 'away', reason: textOf(away) };
    return { ok: false, kind: 'refused', reason: causesOf(error).map(textOf).join(': ') };
  }
}

function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let one = error; one instanceof Error && causes.length < 4; one = one.cause)
    causes.push(one);
  return causes.length === 0 ? [error] : causes;
}

function isTimeOut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'OAUTH_TIMEOUT';
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'error' in error && typeof error.error === 'string'
    ? `${error.message} (${error.error})`
    : error.message;
}
