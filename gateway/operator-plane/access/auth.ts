// The resource `auth`: a person logs in with a password, sees and ends its own sessions, and sets its password. What a
// session lacks (a second factor) is said in `needs`. decision: D37; invariant: I11, I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { hashOfSession } from '../../../actors/access/sessions.ts';
import { refuse } from '../../../machines/errors.ts';
import { SECRET_TEXT_MAX_CHARS, USER_AGENT_MAX_CHARS } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import { endedSessionCookie, sessionCookie } from '../../access/cookies.ts';
import { sessionCookieOf } from '../../access/session-cookie.ts';
import { operatorOf, personOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import type { AccessDeps } from './access-deps.ts';
import {
  Email,
  Needs,
  SessionList,
  SinceLastLogin,
  sessionView,
  sinceLastLogin,
  User,
  userView,
} from './user-view.ts';

type AuthDeps = { readonly access: Pick<AccessDeps, 'people'> };

// Longer than any password may be: whoever tries one hears that it is wrong, and no more.
const Secret = Type.String({ minLength: 1, maxLength: SECRET_TEXT_MAX_CHARS });
const Standing = {
  stage: Type.Enum(['partial', 'full']),
  needs: Nullable(Needs),
  session_id: Uuid,
  expires_at: Time,
  user: User,
};
type StandingView = Type.Static<Type.TObject<typeof Standing>>;
export const LoggedIn = Type.Object({
  ...Standing,
  since_last_login: Nullable(SinceLastLogin),
});
const KeyLeft = Type.Object({
  key_id: Type.String(),
  name: Type.String(),
  status: Type.Enum(['usable', 'revoked']),
});
const Ended = Type.Object({ ended: Type.Integer({ description: 'how many sessions' }) });

export function authRoutes(deps: AuthDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await loginRoutes(deps)(app, {});
    await ownSessionRoutes(deps)(app, {});
    await passwordRoutes(deps)(app, {});
  };
}

function loginRoutes({ access: { people } }: AuthDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/auth/login', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'login',
        summary: 'Log in with e-mail address and password',
        description:
          'Sets the session cookie. `needs` says what is still to come before the session may do more.',
        tags: ['auth'],
        body: Strict({ email: Email, password: Secret }),
        response: { 200: LoggedIn, ...refusals(401, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const userAgent = (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX_CHARS);
        const { ip: address, body } = request;
        const before = sessionCookieOf(request.headers.cookie);
        const replaces = before === null ? null : hashOfSession(before);
        const answer = await people.login.login({ ...body, address, userAgent, replaces });
        if (!answer.ok) return sendRefusal(reply, answer);
        const { session, user, need, evidence } = answer;
        reply.header('set-cookie', sessionCookie(answer.secret));
        return {
          ...standingOf({ session, user, need }),
          since_last_login: evidence === null ? null : sinceLastLogin(evidence),
        };
      },
    });

    app.post('/auth/logout', {
      config: { guard: { partial: true } },
      schema: {
        operationId: 'logout',
        summary: 'End this session',
        tags: ['auth'],
        response: { 200: Ended, ...refusals(401, 403, 429, 503) },
      },
      handler: async (request, reply) => {
        const { hash, actor } = operatorOf(request);
        const isEnded = await people.sessions.end({ hash, actor, from: request.ip });
        reply.header('set-cookie', endedSessionCookie());
        return { ended: isEnded ? 1 : 0 };
      },
    });

    app.get('/auth/session', {
      config: { guard: { partial: true } },
      schema: {
        operationId: 'getSession',
        summary: 'Who is logged in, and what the session still lacks',
        tags: ['auth'],
        response: {
          200: Type.Object({ ...Standing, scopes: Type.Array(Type.String()) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async (request, reply) => {
        const { userId, hash, scopes, stage, need } = personOf(request);
        const [user, session] = [await people.users.get(userId), await people.sessions.find(hash)];
        if (user === null || session === null) return sendRefusal(reply, noSession());
        return {
          ...standingOf({ session: { ...session, stage }, user, need }),
          scopes: [...scopes],
        };
      },
    });
  };
}

function ownSessionRoutes({ access: { people } }: AuthDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/auth/sessions', {
      config: { guard: { self: true } },
      schema: {
        operationId: 'listOwnSessions',
        summary: 'The live sessions of whoever asks, newest first',
        tags: ['auth'],
        response: { 200: SessionList, ...refusals(401, 403, 429, 503) },
      },
      handler: async (request) => {
        const { userId, id } = personOf(request);
        const rows = await people.sessions.list(userId);
        return { items: rows.map((row) => sessionView(row, id)) };
      },
    });

    app.delete('/auth/sessions/:id', {
      config: { guard: { self: true } },
      schema: {
        operationId: 'endOwnSession',
        summary: 'End one of the own sessions',
        tags: ['auth'],
        params: Strict({ id: Uuid }),
        response: { 200: Ended, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { userId, actor } = personOf(request);
        const asked = { userId, actor, from: request.ip, sessionId: request.params.id };
        if (!(await people.sessions.endOf(asked))) {
          return sendRefusal(reply, refuse('not_found', 'There is no such live session.'));
        }
        return { ended: 1 };
      },
    });

    app.post('/auth/sessions/end-others', {
      config: { guard: { self: true } },
      schema: {
        operationId: 'endOtherSessions',
        summary: 'End every own session but this one',
        tags: ['auth'],
        response: { 200: Ended, ...refusals(401, 403, 429, 503) },
      },
      handler: async (request) => {
        const { userId, actor, hash: keep } = personOf(request);
        const asked = { userId, actor, from: request.ip, keep };
        return { ended: await people.sessions.endAllOf(asked) };
      },
    });
  };
}

function passwordRoutes({ access: { people } }: AuthDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/auth/password', {
      config: { guard: { partial: true, of: 'password' } },
      schema: {
        operationId: 'changePassword',
        summary: 'Set a new password; the session gets a new id and every other one ends',
        tags: ['auth'],
        body: Strict({ current_password: Secret, new_password: Secret }),
        response: {
          200: Type.Object({
            session_id: Uuid,
            expires_at: Time,
            stage: Standing.stage,
            needs: Standing.needs,
            since_last_login: Nullable(SinceLastLogin),
          }),
          ...refusals(401, 403, 422, 429, 503),
        },
      },
      handler: async (request, reply) => {
        const { userId, hash, stage } = personOf(request);
        const { current_password: current, new_password: next } = request.body;
        const changed = await people.passwords.change({
          ...{ userId, session: { hash, stage }, current, next, from: request.ip },
        });
        if (!changed.ok) return sendRefusal(reply, changed);
        const { need, evidence, session } = changed;
        return {
          ...renewed(reply, changed),
          ...{ stage: session.stage, needs: need },
          since_last_login: evidence === null ? null : sinceLastLogin(evidence),
        };
      },
    });

    app.post('/auth/reset', {
      config: { guard: { public: true } },
      schema: {
        operationId: 'resetPassword',
        summary:
          'Set a password with a one-time link; every session and API key of the account ends',
        tags: ['auth'],
        body: Strict({
          secret: Secret,
          password: Secret,
          keep_api_keys: Type.Optional(
            Type.Boolean({ description: 'keys go on working; else they are revoked' }),
          ),
        }),
        response: {
          200: Type.Object({ email: Type.String(), api_keys: Type.Array(KeyLeft) }),
          ...refusals(410, 422, 429, 503),
        },
      },
      handler: async (request, reply) => {
        const { secret, password, keep_api_keys: keepsKeys = false } = request.body;
        const from = request.ip;
        const answer = await people.passwords.reset({ secret, password, keepsKeys, from });
        if (!answer.ok) return sendRefusal(reply, answer);
        const status = keepsKeys ? ('usable' as const) : ('revoked' as const);
        const api_keys = answer.keys.map(({ keyId, name }) => ({ key_id: keyId, name, status }));
        return { email: answer.user.email, api_keys };
      },
    });
  };
}

type Issued = {
  readonly secret: string;
  readonly session: { readonly sessionId: string; readonly expiresAtMs: number };
};

/** Gives the browser the new secret of its session. */
function renewed(reply: FastifyReply, { secret, session }: Issued) {
  reply.header('set-cookie', sessionCookie(secret));
  return { session_id: session.sessionId, expires_at: timeText(session.expiresAtMs) };
}

function standingOf(at: {
  readonly session: Issued['session'] & { readonly stage: 'partial' | 'full' };
  readonly user: UserRow;
  readonly need: StandingView['needs'];
}): StandingView {
  const { session, user, need } = at;
  return {
    stage: session.stage,
    needs: need,
    session_id: session.sessionId,
    expires_at: timeText(session.expiresAtMs),
    user: userView(user),
  };
}

function noSession() {
  return refuse('credential_invalid', 'The session is not known or ended.');
}
