// The resource `sso-providers`: how admins set up logins through identity providers. The client secret goes in and never
// comes out again. decision: D40; invariant: I11
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type {
  ProviderPatch,
  ProviderService,
} from '../../../actors/access/sso/provider-service.ts';
import { SSO_KINDS } from '../../../machines/console/access/sso-provider.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import {
  SSO_CA_MAX_CHARS,
  SSO_DOMAINS_MAX,
  SSO_GROUPS_MAX,
  SSO_ISSUER_MAX_CHARS,
  SSO_SCOPES_MAX,
  SSO_SECRET_MAX_CHARS,
  SSO_TEXT_MAX_CHARS,
} from '../../../machines/limits.ts';
import { ROLES } from '../../../machines/trust/roles.rules.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SsoOptions, SsoProviderRow } from '../../../storage/ports/access/sso-store.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';

const Text = Type.String({ minLength: 1, maxLength: SSO_TEXT_MAX_CHARS });
const Secret = Type.String({ minLength: 1, maxLength: SSO_SECRET_MAX_CHARS });
const Role = Type.Enum([...ROLES]);
const Domains = Type.Array(Text, { maxItems: SSO_DOMAINS_MAX });
const OPTIONS = {
  groups_claim: Nullable(Text),
  group_roles: Type.Record(Type.String({ pattern: '^[\\s\\S]{1,256}$' }), Role, {
    additionalProperties: false,
    maxProperties: SSO_GROUPS_MAX,
  }),
  default_role: Nullable(Role),
  creates_users: Type.Boolean(),
  domains: Domains,
  link_domains: Domains,
  scopes: Type.Array(Text, { minItems: 1, maxItems: SSO_SCOPES_MAX }),
  ca_pem: Nullable(Type.String({ maxLength: SSO_CA_MAX_CHARS })),
  proxy_url: Nullable(Type.String({ maxLength: SSO_TEXT_MAX_CHARS })),
  required_acr: Type.Array(Text, {
    maxItems: SSO_SCOPES_MAX,
    description: 'any of these as `acr` proves a second factor',
  }),
  required_amr: Type.Array(Text, {
    maxItems: SSO_SCOPES_MAX,
    description:
      'all of these in `amr` prove a second factor; without proof the local one is asked',
  }),
  max_age_seconds: Nullable(
    Type.Integer({ minimum: 0, description: 'how long ago the login at the provider may be' }),
  ),
} as const;
const Options = Type.Partial(Strict(OPTIONS), { additionalProperties: false });

export const Provider = Type.Object({
  provider_id: Uuid,
  kind: Type.Enum([...SSO_KINDS]),
  name: Text,
  issuer: Type.String(),
  client_id: Type.String(),
  redirect_uri: Type.String({ description: 'What the provider has to be told' }),
  is_enabled: Type.Boolean(),
  options: Type.Object(OPTIONS),
  created_at: Time,
  changed_at: Time,
  revision: Type.Integer(),
});
export const NewProvider = Strict({
  kind: Type.Enum([...SSO_KINDS]),
  name: Text,
  issuer: Type.String({ minLength: 1, maxLength: SSO_ISSUER_MAX_CHARS }),
  client_id: Text,
  client_secret: Secret,
  is_enabled: Type.Optional(Type.Boolean({ default: true })),
  options: Type.Optional(Options),
});
export const Change = Strict({
  revision: Type.Integer({ minimum: 1, description: 'The one that was seen' }),
  name: Type.Optional(Text),
  client_id: Type.Optional(Text),
  client_secret: Type.Optional(Secret),
  is_enabled: Type.Optional(Type.Boolean()),
  options: Type.Optional(Options),
});
export const Check = Type.Object({
  is_working: Type.Boolean(),
  detail: Type.String(),
  authorization_endpoint: Nullable(Type.String()),
});
const Path = Strict({ id: Uuid });

type Deps = {
  readonly access: {
    readonly sso: { readonly providers: ProviderService; callbackUrl(providerId: string): string };
  };
  readonly now: () => number;
};

/** The routes; `sso:read` sees, `sso:write` changes. */
export function ssoRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const shared = sharedOf(deps);
  return async (app) => {
    await readingRoutes(shared)(app, {});
    await changingRoutes(shared)(app, {});
    await removalRoute(shared)(app, {});
  };
}

type Shared = ReturnType<typeof sharedOf>;

function sharedOf(deps: Deps) {
  const { providers, callbackUrl } = deps.access.sso;
  return {
    providers,
    view: (row: SsoProviderRow) => viewOf(row, callbackUrl(row.providerId)),
    doingOf(request: FastifyRequest) {
      const by = operatorOf(request);
      return { actor: by.actor, from: request.ip, nowMs: deps.now(), by };
    },
  };
}

function readingRoutes({ providers, view }: Shared): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sso-providers', {
      config: { guard: { scope: 'sso:read' } },
      schema: {
        operationId: 'listSsoProviders',
        summary: 'Every identity provider',
        tags: ['sso-providers'],
        response: {
          200: Type.Object({ items: Type.Array(Provider) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async () => ({ items: (await providers.list()).map(view) }),
    });

    app.get('/sso-providers/:id', {
      config: { guard: { scope: 'sso:read' } },
      schema: {
        operationId: 'getSsoProvider',
        summary: 'One identity provider',
        tags: ['sso-providers'],
        params: Path,
        response: { 200: Provider, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await providers.get(request.params.id);
        return row === null ? sendRefusal(reply, unknown()) : view(row);
      },
    });

    app.post('/sso-providers/:id/test', {
      config: { guard: { scope: 'sso:write' } },
      schema: {
        operationId: 'testSsoProvider',
        summary: 'Ask an identity provider whether it is there and who it says it is',
        tags: ['sso-providers'],
        params: Path,
        response: { 200: Check, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const checked = await providers.check(request.params.id);
        if (checked === null) return sendRefusal(reply, unknown());
        return {
          is_working: checked.isWorking,
          detail: checked.detail,
          authorization_endpoint: checked.authorizationEndpoint,
        };
      },
    });
  };
}

function changingRoutes({ providers, view, doingOf }: Shared): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/sso-providers', {
      config: { guard: { scope: 'sso:write', fresh: true } },
      schema: {
        operationId: 'createSsoProvider',
        summary: 'Set up an identity provider; what is left out comes from its kind',
        tags: ['sso-providers'],
        body: NewProvider,
        response: { 201: Provider, ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const {
          kind,
          name,
          issuer,
          client_id: clientId,
          client_secret: clientSecret,
        } = request.body;
        const made = await providers.create({
          ...doingOf(request),
          ...{ kind, name, issuer, clientId, clientSecret },
          enabled: request.body.is_enabled ?? true,
          options: optionsIn(request.body.options),
        });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return view(made.provider);
      },
    });

    app.patch('/sso-providers/:id', {
      config: { guard: { scope: 'sso:write', fresh: true } },
      schema: {
        operationId: 'changeSsoProvider',
        summary: 'Change an identity provider; kind and issuer stay',
        tags: ['sso-providers'],
        params: Path,
        body: Change,
        response: { 200: Provider, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const changed = await providers.change({
          ...doingOf(request),
          providerId: request.params.id,
          revision: request.body.revision,
          patch: patchIn(request.body),
        });
        return changed.ok ? view(changed.provider) : sendRefusal(reply, changed);
      },
    });
  };
}

function removalRoute({ providers, doingOf }: Shared): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.delete('/sso-providers/:id', {
      config: { guard: { scope: 'sso:write', fresh: true } },
      schema: {
        operationId: 'removeSsoProvider',
        summary: 'Remove an identity provider, and who came through it with it; accounts stay',
        tags: ['sso-providers'],
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const removed = await providers.remove({
          ...doingOf(request),
          providerId: request.params.id,
        });
        return removed.ok ? reply.code(204).send(null) : sendRefusal(reply, removed);
      },
    });
  };
}

function unknown() {
  return refuse('not_found', 'There is no such identity provider.');
}

function viewOf(row: SsoProviderRow, redirectUri: string): Type.Static<typeof Provider> {
  const { options } = row;
  return {
    provider_id: row.providerId,
    kind: row.kind,
    name: row.name,
    issuer: row.issuer,
    client_id: row.clientId,
    redirect_uri: redirectUri,
    is_enabled: row.enabled,
    options: {
      groups_claim: options.groupsClaim,
      group_roles: { ...options.groupRoles },
      default_role: options.defaultRole,
      creates_users: options.createsUsers,
      domains: [...options.domains],
      link_domains: [...options.linkDomains],
      scopes: [...options.scopes],
      ca_pem: options.caPem,
      proxy_url: options.proxyUrl ?? null,
      required_acr: [...(options.requiredAcr ?? [])],
      required_amr: [...(options.requiredAmr ?? [])],
      max_age_seconds: options.maxAgeSeconds ?? null,
    },
    created_at: timeText(row.createdAtMs),
    changed_at: timeText(row.changedAtMs),
    revision: row.revision,
  };
}

function optionsIn(given: Type.Static<typeof Options> | undefined): Partial<SsoOptions> {
  const named = {
    groupsClaim: given?.groups_claim,
    groupRoles: given?.group_roles,
    defaultRole: given?.default_role,
    createsUsers: given?.creates_users,
    domains: given?.domains,
    linkDomains: given?.link_domains,
    scopes: given?.scopes,
    caPem: given?.ca_pem,
    proxyUrl: given?.proxy_url,
    requiredAcr: given?.required_acr,
    requiredAmr: given?.required_amr,
    maxAgeSeconds: given?.max_age_seconds,
  };
  const told = Object.entries(named).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told) as Partial<SsoOptions>;
}

function patchIn(body: Type.Static<typeof Change>): ProviderPatch {
  const { name, client_id: clientId, client_secret: clientSecret, is_enabled: enabled } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(body.options === undefined ? {} : { options: optionsIn(body.options) }),
  };
}
