// The resource `api-keys`: keys for programs. People make, list and revoke their own; a key sees the keys of its maker,
// revokes itself and makes none; whoever manages users sees and revokes all. decision: D36, D43; invariant: I11, I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { LABEL_NAME_MAX_CHARS, PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { KEY_SCOPES } from '../../../machines/trust/api-key.rules.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { ApiKeyPage, ApiKeyRow } from '../../../storage/ports/access/api-keys.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf, personOf, refusalOfStale } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageOf, PageQuery, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import type { AccessDeps } from './access-deps.ts';

const ApiKey = Type.Object({
  key_id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  user_id: Nullable(Uuid),
  status: Type.Enum(['usable', 'expired', 'revoked']),
  created_at: Time,
  expires_at: Nullable(Time),
  last_used_at: Nullable(Time),
  revoked_at: Nullable(Time),
});
const IssuedKey = Type.Intersect([ApiKey, Type.Object({ secret: Type.String() })]);
export const NewKey = Strict({
  name: Type.String({ minLength: 1, maxLength: LABEL_NAME_MAX_CHARS }),
  scopes: Type.Array(Type.Enum([...KEY_SCOPES]), { minItems: 1, uniqueItems: true }),
  expires_at: Type.Optional(Nullable(Time)),
});
const KeyPath = Strict({ id: Type.String({ minLength: 1, maxLength: 64 }) });
export type ApiKeyView = Type.Static<typeof ApiKey>;
export type IssuedKeyView = Type.Static<typeof IssuedKey>;
const NO_KEY = refuse('not_found', 'There is no such API key.');

/** A key as shown; never its secret. */
function keyView(row: ApiKeyRow, nowMs: number): ApiKeyView {
  const isOver = row.expiresAtMs !== null && nowMs >= row.expiresAtMs;
  return {
    key_id: row.keyId,
    name: row.name,
    scopes: [...row.scopes],
    user_id: row.userId,
    status: row.revokedAtMs !== null ? 'revoked' : isOver ? 'expired' : 'usable',
    created_at: timeText(row.createdAtMs),
    expires_at: timeTextOrNull(row.expiresAtMs),
    last_used_at: timeTextOrNull(row.lastUsedAtMs),
    revoked_at: timeTextOrNull(row.revokedAtMs),
  };
}

type Deps = {
  readonly access: Pick<AccessDeps, 'apiKeys' | 'people'>;
  readonly cursors: CursorSigner;
  readonly now: () => number;
};

export function apiKeyRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const keys = keysOf(deps);
  return async (app) => {
    await makingRoutes(keys)(app, {});
    await ownRoutes(keys)(app, {});
    await allRoutes(keys)(app, {});
  };
}

type Keys = ReturnType<typeof keysOf>;

/** What the routes share: the services, and how one key and a page of them are shown. */
function keysOf(deps: Deps) {
  const { apiKeys, people } = deps.access;
  const view = (row: ApiKeyRow) => keyView(row, deps.now());

  async function page(
    reply: FastifyReply,
    query: { readonly limit?: number; readonly cursor?: string },
    of: { readonly list: string } & Pick<ApiKeyPage, 'userId'>,
  ) {
    const { limit = PAGE_ITEMS_DEFAULT, cursor } = query;
    const filter = of.userId ?? null;
    const opened = cursor === undefined ? null : deps.cursors.open(of.list, filter, cursor);
    if (opened?.ok === false) return sendRefusal(reply, opened);
    const before = opened === null ? null : String(opened.position['id']);
    const owned = of.userId === undefined ? {} : { userId: of.userId };
    const rows = await apiKeys.list({ limit: limit + 1, before, ...owned });
    const items = rows.slice(0, limit).map(view);
    const last = items.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const next = hasMore ? deps.cursors.seal(of.list, filter, { id: last.key_id }) : null;
    return pageOf(reply, items, next);
  }

  return { apiKeys, people, now: deps.now, view, page };
}

function makingRoutes({ apiKeys, now, view }: Keys): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/api-keys', {
      config: { guard: { self: true } },
      schema: {
        operationId: 'createApiKey',
        summary: 'Make an API key of your own; its secret is told once',
        description:
          'A key holds at most what its maker holds, and always at most what its maker holds now. Without `expires_at` it lasts 90 days; only an admin makes one that never expires.',
        tags: ['api-keys'],
        body: NewKey,
        response: { 201: IssuedKey, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { userId, role, actor, hash: session } = personOf(request);
        // A key shows no credentials later on, so its maker shows them now. decision: D63
        const stale = refusalOfStale(personOf(request), now());
        if (stale !== null) return sendRefusal(reply, stale);
        const { name, scopes, expires_at: expires } = request.body;
        const expiresAtMs = typeof expires === 'string' ? Date.parse(expires) : expires;
        const made = await apiKeys.create(
          { name, scopes, expiresAtMs },
          { userId, role, actor, session, from: request.ip },
        );
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return { ...view(made.row), secret: made.secret };
      },
    });
  };
}

function ownRoutes({ apiKeys, view, page }: Keys): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/api-keys', {
      config: { guard: { self: true, keys: true } },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List your own API keys, newest first; a key lists those of its maker',
        tags: ['api-keys'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(ApiKey), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { userId, hash } = operatorOf(request);
        if (userId !== null) return page(reply, request.query, { list: 'own-keys', userId });
        // A key that the Console made for whoever started it has no maker to ask for.
        const own = await apiKeys.findByHash(hash);
        return pageOf(reply, own === null ? [] : [view(own)], null);
      },
    });

    app.delete('/api-keys/:id', {
      config: { guard: { self: true, keys: true } },
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key of your own; a key revokes only itself',
        tags: ['api-keys'],
        params: KeyPath,
        response: { 200: ApiKey, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { kind, id, userId, actor } = operatorOf(request);
        const { id: keyId } = request.params;
        if (kind === 'api_key' && keyId !== id) {
          return sendRefusal(reply, refuse('session_required', 'A key revokes only itself.'));
        }
        const owned = userId === null ? {} : { userId };
        const row = await apiKeys.revoke({ keyId, ...owned }, { actor, from: request.ip });
        return row === null ? sendRefusal(reply, NO_KEY) : view(row);
      },
    });
  };
}

function allRoutes({ apiKeys, people, view, page }: Keys): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/all-api-keys', {
      config: { guard: { scope: 'users:read' } },
      schema: {
        operationId: 'listAllApiKeys',
        summary: 'List the API keys of everybody, newest first',
        tags: ['api-keys'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(ApiKey), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: (request, reply) => page(reply, request.query, { list: 'all-keys' }),
    });

    app.delete('/all-api-keys/:id', {
      config: { guard: { scope: 'users:write' } },
      schema: {
        operationId: 'revokeAnyApiKey',
        summary: 'Revoke the API key of anybody',
        tags: ['api-keys'],
        params: KeyPath,
        response: { 200: ApiKey, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const operator = operatorOf(request);
        const { actor } = operator;
        const { id: keyId } = request.params;
        const known = await apiKeys.get(keyId);
        const refusal =
          known === null ? null : await people.service.judge(operator, [known.userId]);
        if (refusal !== null) return sendRefusal(reply, refusal);
        const row = await apiKeys.revoke({ keyId }, { actor, from: request.ip });
        return row === null ? sendRefusal(reply, NO_KEY) : view(row);
      },
    });
  };
}
