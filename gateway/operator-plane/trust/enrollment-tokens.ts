// The resource `enrollment-tokens`: one token enrols one Sensor; its secret is told once. invariant: I2, I11
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT, TOKEN_TTL_MAX_MS } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { TokenRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageOf, PageQuery, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import type { TrustRouteDeps } from './trust-deps.ts';

const Token = Type.Object({
  token_id: Uuid,
  kind: Type.Enum(['enroll', 'reenroll']),
  sensor_id: Nullable(Uuid),
  note: Type.String(),
  status: Type.Enum(['usable', 'consumed', 'revoked', 'expired']),
  created_at: Time,
  expires_at: Time,
  consumed_at: Nullable(Time),
  revoked_at: Nullable(Time),
});
export const IssuedToken = Type.Intersect([
  Token,
  Type.Object({ secret: Type.String(), enroll_command: Type.String() }),
]);
export const NewToken = Strict({
  note: Type.Optional(Type.String({ maxLength: 256 })),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: TOKEN_TTL_MAX_MS / 1_000 })),
});

/** A token as shown; never its secret. */
export function tokenView(row: TokenRow, nowMs: number): Type.Static<typeof Token> {
  return {
    token_id: row.tokenId,
    kind: row.kind,
    sensor_id: row.sensorId,
    note: row.note,
    status: statusOf(row, nowMs),
    created_at: timeText(row.createdAtMs),
    expires_at: timeText(row.expiresAtMs),
    consumed_at: timeTextOrNull(row.consumedAtMs),
    revoked_at: timeTextOrNull(row.revokedAtMs),
  };
}

/** The answer that tells a secret, once. */
export function issuedView(
  deps: Pick<TrustRouteDeps, 'now' | 'enrollLine'>,
  issued: { readonly secret: string; readonly token: TokenRow },
): Type.Static<typeof IssuedToken> {
  return {
    ...tokenView(issued.token, deps.now()),
    secret: issued.secret,
    enroll_command: deps.enrollLine(),
  };
}

export function enrollmentTokenRoutes(deps: TrustRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await issuingRoutes(deps)(app, {});
    await listingRoute(deps)(app, {});
  };
}

function issuingRoutes(deps: TrustRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/enrollment-tokens', {
      config: { guard: { scope: 'tokens:write' } },
      schema: {
        operationId: 'createEnrollmentToken',
        summary: 'Make a token that enrols one Sensor',
        tags: ['enrollment-tokens'],
        body: NewToken,
        response: { 201: IssuedToken, ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { note = '', ttl_seconds: ttl } = request.body;
        const issued = await deps.tokens.create({
          note,
          actor: operatorOf(request).actor,
          from: request.ip,
          ...(ttl === undefined ? {} : { ttlMs: ttl * 1_000 }),
        });
        reply.code(201);
        return issuedView(deps, issued);
      },
    });

    app.delete('/enrollment-tokens/:id', {
      config: { guard: { scope: 'tokens:write' } },
      schema: {
        operationId: 'revokeEnrollmentToken',
        summary: 'Revoke a token; one that was used stays used',
        tags: ['enrollment-tokens'],
        params: Strict({ id: Uuid }),
        response: { 200: Token, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const row = await deps.registry.revokeToken({
          tokenId: request.params.id,
          nowMs: deps.now(),
          actor: operatorOf(request).actor,
          from: request.ip,
        });
        if (row === null) return sendRefusal(reply, refuse('not_found', 'There is no such token.'));
        return tokenView(row, deps.now());
      },
    });
  };
}

function listingRoute(deps: TrustRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/enrollment-tokens', {
      config: { guard: { scope: 'tokens:read' } },
      schema: {
        operationId: 'listEnrollmentTokens',
        summary: 'List tokens, newest first',
        tags: ['enrollment-tokens'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Token), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open('tokens', null, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const rows = await deps.registry.listTokens({
          limit: limit + 1,
          before: opened === null ? null : String(opened.position['id']),
        });
        const items = rows.slice(0, limit).map((row) => tokenView(row, deps.now()));
        const last = items.at(-1);
        const hasMore = rows.length > limit && last !== undefined;
        return pageOf(
          reply,
          items,
          hasMore ? deps.cursors.seal('tokens', null, { id: last.token_id }) : null,
        );
      },
    });
  };
}

function statusOf(row: TokenRow, nowMs: number) {
  if (row.consumedAtMs !== null) return 'consumed';
  if (row.revokedAtMs !== null) return 'revoked';
  return nowMs >= row.expiresAtMs ? 'expired' : 'usable';
}
