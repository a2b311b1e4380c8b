// The resource `auth/sso`: which providers one can log in with, the way there, and the way back. The way back is the only
// route that gives a session for a GET; the cookie of the browser that began is what keeps others from it. decision: D40;
// invariant: I18
import { fastifyCookie } from '@fastify/cookie';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { hashOfSession } from '../../../actors/access/sessions.ts';
import type { SsoService } from '../../../actors/access/sso/sso-service.ts';
import { SSO_KINDS } from '../../../machines/console/access/sso-provider.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import { SSO_FLOW_TTL_MS } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { sessionCookie } from '../../access/cookies.ts';
import { sessionCookieOf } from '../../access/session-cookie.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';

export const SSO_COOKIE = '__Host-service_sso';
const COOKIE_ATTRIBUTES = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;
const RETURN_TO_MAX_CHARS = 1_024;

export const Offered = Type.Object({
  items: Type.Array(
    Type.Object({
      provider_id: Uuid,
      kind: Type.Enum([...SSO_KINDS]),
      name: Type.String(),
      start_url: Type.String(),
    }),
  ),
});
const StartQuery = Strict({
  provider: Uuid,
  return_to: Type.Optional(
    Type.String({
      maxLength: RETURN_TO_MAX_CHARS,
      description: 'A path of this Console; anything else leads to the start page',
    }),
  ),
  fresh: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'The provider asks for credentials, also of whom it knows',
    }),
  ),
});
// Providers add parameters of their own, so what is unknown is not refused here.
const CallbackQuery = Type.Object({ state: Type.Optional(Type.String()) });

/** The routes; open to everybody. */
export function authSsoRoutes({
  access,
}: {
  readonly access: { readonly sso: { readonly service: SsoService } };
}): FastifyPluginAsyncTypebox {
  const { service } = access.sso;
  return async (app) => {
    await offeringRoute(service)(app, {});
    await flowRoutes(service)(app, {});
  };
}

function offeringRoute(service: SsoService): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/auth/sso/providers', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'listLoginProviders',
        summary: 'The identity providers one can log in with',
        tags: ['auth'],
        response: { 200: Offered, ...refusals(429, 503) },
      },
      handler: async () => ({
        items: (await service.offered()).map(({ providerId, kind, name }) => ({
          provider_id: providerId,
          kind,
          name,
          start_url: `/api/v2/auth/sso/start?provider=${providerId}`,
        })),
      }),
    });
  };
}

function flowRoutes(service: SsoService): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/auth/sso/start', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'startSsoLogin',
        summary: 'Go to an identity provider to log in',
        tags: ['auth'],
        querystring: StartQuery,
        response: { 303: Type.Null(), ...refusals(403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        // A page of somebody else may not put its visitors into a session here. Browsers say where a request begins.
        const { 'sec-fetch-site': site = 'none' } = request.headers;
        if (site !== 'none' && site !== 'same-origin') return sendRefusal(reply, begunElsewhere());
        const browser = ssoCookieOf(request.headers.cookie);
        const started = await service.start({ ...askedIn(request.query), browser });
        if (!started.ok) return sendRefusal(reply, started);
        reply.header('set-cookie', ssoCookie(started.browser, SSO_FLOW_TTL_MS));
        return reply.code(303).header('location', started.location).send(null);
      },
    });

    // A way back of its own for each provider: what one of them answers cannot be shown as another's.
    app.get('/auth/sso/callback/:id', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'finishSsoLogin',
        summary: 'Come back from an identity provider; a session begins',
        tags: ['auth'],
        params: Strict({ id: Uuid }),
        querystring: CallbackQuery,
        response: { 303: Type.Null(), ...refusals(403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { cookie, 'user-agent': userAgent = '' } = request.headers;
        const before = sessionCookieOf(cookie);
        const at = request.url.indexOf('?');
        const finished = await service.finish({
          providerId: request.params.id.toLowerCase(),
          query: at < 0 ? '' : request.url.slice(at + 1),
          browser: ssoCookieOf(cookie),
          replaces: before === null ? null : hashOfSession(before),
          from: request.ip,
          userAgent,
        });
        if (!finished.ok) return sendRefusal(reply, finished);
        reply.header('set-cookie', [sessionCookie(finished.secret), ssoCookie('', 0)]);
        return reply.code(303).header('location', finished.returnTo).send(null);
      },
    });
  };
}

function askedIn({
  provider: providerId,
  return_to: returnTo,
  fresh,
}: Type.Static<typeof StartQuery>) {
  return { providerId, returnTo, isFresh: fresh === 'true' };
}

function begunElsewhere() {
  return refuse('csrf_refused', 'The login was begun by another site; begin it on the login page.');
}

function ssoCookie(value: string, lifetimeMs: number): string {
  return fastifyCookie.serialize(SSO_COOKIE, value, {
    ...COOKIE_ATTRIBUTES,
    maxAge: lifetimeMs / 1_000,
  });
}

function ssoCookieOf(header: string | undefined): string | null {
  return header === undefined ? null : (fastifyCookie.parse(header)[SSO_COOKIE] ?? null);
}
