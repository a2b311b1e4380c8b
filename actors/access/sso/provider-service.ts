// The identity providers as admins manage them: checked before they are stored, the client secret sealed and never told
// again, and a live check that asks the provider. Kind and issuer of a provider stay: its subjects mean somebody only at
// this issuer, so another issuer is another provider. decision: D40; invariant: I11
import {
  mistakesOfProvider,
  SSO_PRESETS,
  type SsoMistake,
} from '../../../machines/console/access/sso-provider.rules.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { SSO_PROVIDERS_MAX } from '../../../machines/limits.ts';
import { type Reach, refusalOfReachAll } from '../../../machines/trust/reach.rules.ts';
import type {
  SsoOptions,
  SsoProviderRow,
  SsoStore,
} from '../../../storage/ports/access/sso-store.ts';
import type { AuditContext } from '../../../storage/ports/plumbing/audit-context.ts';
import type { Sealer } from '../../../storage/ports/plumbing/sealer.ts';
import { policyOfList } from '../../outbound/address-rules.ts';
import { areCertificates } from '../../outbound/ca-pem.ts';
import { mistakeOfProxy } from '../../outbound/destination-mistakes.ts';
import { hostOf } from '../../outbound/guarded-connect.ts';
import { mistakeOfHost } from '../../outbound/judged-lookup.ts';
import type { Chance } from '../../trust/chance.ts';
import type { ProviderClient } from './provider-client.ts';
import { secretContextOf } from './sso-service.ts';

export type ProviderInput = Pick<SsoProviderRow, 'kind' | 'name' | 'issuer' | 'clientId'> & {
  readonly clientSecret: string;
  readonly enabled: boolean;
  readonly options: Partial<SsoOptions>;
};
export type ProviderPatch = Partial<Pick<SsoProviderRow, 'name' | 'clientId' | 'enabled'>> & {
  readonly clientSecret?: string;
  readonly options?: Partial<SsoOptions>;
};
export type ProviderCheck = {
  readonly isWorking: boolean;
  readonly detail: string;
  readonly authorizationEndpoint: string | null;
};
/** Who changes a provider, and what its credential holds. */
type By = AuditContext & { readonly by: Reach };
export type ProviderService = {
  list(): Promise<readonly SsoProviderRow[]>;
  get(providerId: string): Promise<SsoProviderRow | null>;
  /** For a whole admin, as below: a provider keeps the accounts it made, also when somebody raises them. decision: D169 */
  create(input: By & ProviderInput): Promise<{ ok: true; provider: SsoProviderRow } | Refusal>;
  /** For a whole admin: the accounts that are tied to a provider may hold anything. */
  change(
    input: By & {
      readonly providerId: string;
      readonly revision: number;
      readonly patch: ProviderPatch;
    },
  ): Promise<{ ok: true; provider: SsoProviderRow } | Refusal>;
  /** For a whole admin. */
  remove(input: By & { readonly providerId: string }): Promise<{ ok: true } | Refusal>;
  /** Asks the provider itself, past what is remembered. Null: there is none. */
  check(providerId: string): Promise<ProviderCheck | null>;
};
export type ProviderServiceDeps = {
  readonly sso: SsoStore;
  readonly sealer: Sealer;
  readonly client: Pick<ProviderClient, 'discover'>;
  /** Private names, addresses and networks that admins allow. */
  readonly allowList: () => readonly string[];
  readonly chance: Pick<Chance, 'newId'>;
};

/** Makes the service. Every method rejects with StoreUnavailable. */
export function createProviderService(deps: ProviderServiceDeps): ProviderService {
  const { sso, client } = deps;
  return {
    list: () => sso.listProviders(),
    get: (providerId) => sso.getProvider(providerId),
    create: (input) => create(deps, input),
    change: (input) => change(deps, input),
    remove: (input) => remove(deps, input),
    async check(providerId) {
      const provider = await sso.getProvider(providerId);
      if (provider === null) return null;
      const found = await client.discover(provider, true);
      if (!found.ok) {
        return { isWorking: false, detail: found.reason, authorizationEndpoint: null };
      }
      const { authorization_endpoint: endpoint = null } = found.metadata;
      return { isWorking: true, detail: 'The provider answers.', authorizationEndpoint: endpoint };
    },
  };
}

async function create(
  deps: ProviderServiceDeps,
  input: Parameters<ProviderService['create']>[0],
): ReturnType<ProviderService['create']> {
  const { actor, from, nowMs, kind, name, issuer, clientId, clientSecret, enabled, by } = input;
  const preset = SSO_PRESETS[kind];
  const options: SsoOptions = {
    groupsClaim: preset.groupsClaim,
    groupRoles: {},
    defaultRole: null,
    createsUsers: true,
    domains: [],
    linkDomains: [],
    scopes: preset.scopes,
    caPem: null,
    ...input.options,
  };
  const refusal = refusalOfReachAll(by, ['admin']) ?? refusalOf(deps, { kind, issuer, options });
  if (refusal !== null) return refusal;
  if ((await deps.sso.listProviders()).length >= SSO_PROVIDERS_MAX) {
    return refuse('sso_provider_refused', `There are ${SSO_PROVIDERS_MAX} providers already.`);
  }
  const providerId = deps.chance.newId();
  const clientSecretSealed = deps.sealer.seal(clientSecret, secretContextOf(providerId));
  const provider = await deps.sso.createProvider({
    ...{ actor, from, nowMs },
    provider: { providerId, kind, name, issuer, clientId, clientSecretSealed, options, enabled },
  });
  return { ok: true, provider };
}

async function change(
  deps: ProviderServiceDeps,
  input: Parameters<ProviderService['change']>[0],
): ReturnType<ProviderService['change']> {
  const { providerId, revision, actor, from, nowMs } = input;
  const beyond = refusalOfReachAll(input.by, ['admin']);
  if (beyond !== null) return beyond;
  const { clientSecret, options: wanted, ...plain } = input.patch;
  const before = await deps.sso.getProvider(providerId);
  if (before === null) return unknown();
  const options = { ...before.options, ...wanted };
  const refusal = refusalOf(deps, { ...before, options });
  if (refusal !== null) return refusal;
  const sealed =
    clientSecret === undefined
      ? {}
      : { clientSecretSealed: deps.sealer.seal(clientSecret, secretContextOf(providerId)) };
  const patch = { ...plain, ...sealed, options };
  const changed = await deps.sso.changeProvider({
    ...{ actor, from, nowMs, providerId, revision, patch },
  });
  if (changed === 'not_found') return unknown();
  if (changed === 'conflict') {
    return refuse('sso_provider_conflict', `Its revision is not ${revision} any more.`);
  }
  return { ok: true, provider: changed };
}

async function remove(
  { sso }: ProviderServiceDeps,
  { by, ...input }: Parameters<ProviderService['remove']>[0],
): ReturnType<ProviderService['remove']> {
  const beyond = refusalOfReachAll(by, ['admin']);
  if (beyond !== null) return beyond;
  return (await sso.removeProvider(input)) ? { ok: true } : unknown();
}

function unknown(): Refusal {
  return refuse('not_found', 'There is no such identity provider.');
}

function refusalOf(
  { allowList }: ProviderServiceDeps,
  provider: Pick<SsoProviderRow, 'kind' | 'issuer' | 'options'>,
): Refusal | null {
  const mistakes: SsoMistake[] = [...mistakesOfProvider(provider)];
  const { caPem, proxyUrl = null } = provider.options;
  if (caPem !== null && !areCertificates(caPem)) {
    mistakes.push({ pointer: '/ca_pem', detail: 'certificates in PEM, and nothing else' });
  }
  const list = allowList();
  if (!mistakes.some(({ pointer }) => pointer === '/issuer')) {
    const host = hostOf(new URL(provider.issuer));
    const detail = mistakeOfHost(host, policyOfList(list, host));
    if (detail !== null) mistakes.push({ pointer: '/issuer', detail });
  }
  const detail = proxyUrl === null ? null : mistakeOfProxy(proxyUrl, list);
  if (detail !== null) mistakes.push({ pointer: '/proxy_url', detail });
  if (mistakes.length === 0) return null;
  return refuse('sso_provider_refused', 'Some fields cannot be used together.', {
    errors: mistakes,
  });
}
