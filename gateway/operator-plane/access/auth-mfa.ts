// The resource `auth/mfa`: the caller's own second factor, and what an admin may do to somebody else's. Every accepted
// code answers with a session under a new secret. decision: D39; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type {
  SecondFactorService,
  ShownFactor,
} from '../../../actors/access/second-factor-service.ts';
import type { IssuedSession } from '../../../actors/access/sessions.ts';
import {
  MFA_CODE_MAX_CHARS,
  PASSWORD_MAX_CHARS,
  RECOVERY_CODES_COUNT,
} from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { sessionCookie } from '../../access/cookies.ts';
import { operatorOf, personOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeTextOrNull } from '../plumbing/time-range.ts';
import type { AccessDeps } from './access-deps.ts';
import { KeyAnswer } from './auth-security-keys.ts';
import { askingOfPerson } from './factor-asking.ts';
import { Needs, SinceLastLogin, sinceLastLogin } from './user-view.ts';

const Password = Type.String({ maxLength: PASSWORD_MAX_CHARS });
const Code = Type.String({
  maxLength: MFA_CODE_MAX_CHARS,
  description: 'Six digits of the app, or a recovery code; blanks and hyphens do not count',
});
const RecoveryCodes = Type.Array(Type.String(), {
  description: `${RECOVERY_CODES_COUNT} codes, told this once; each works once`,
});
export const Factor = Type.Object({
  state: Type.Enum(['off', 'pending', 'on']),
  changed_at: Nullable(Time),
  recovery_codes_left: Type.Integer(),
  required: Type.Boolean({ description: 'The role of the account needs a second factor' }),
});
const Next = {
  stage: Type.Enum(['partial', 'full'], {
    description: 'partial: the session may do what it needs and nothing else',
  }),
  needs: Nullable(Needs),
};
const tags = ['auth'];
type Access = Pick<AccessDeps, 'secondFactor' | 'people'>;
type App = Parameters<FastifyPluginAsyncTypebox>[0];

const Shown = { code: Type.Optional(Code), security_key: Type.Optional(KeyAnswer) };

/** What was shown; a security key counts before a code. */
function shownIn({
  code = '',
  security_key: key,
}: Type.Static<Type.TObject<typeof Shown>>): ShownFactor {
  return key === undefined ? code : (key as Exclude<ShownFactor, string>);
}

/** The routes; `{self}` and `{partial}` are people with a session, never keys. */
export function authMfaRoutes({ access }: { readonly access: Access }): FastifyPluginAsyncTypebox {
  const service = access.secondFactor;
  return async (app) => {
    lookingRoutes(app, service);
    enrollmentRoutes(app, access);
    codeRoutes(app, access);
    endingRoutes(app, access);
  };
}

function lookingRoutes(app: App, service: SecondFactorService): void {
  app.get('/auth/mfa', {
    config: { guard: { self: true } },
    schema: {
      ...{ operationId: 'getSecondFactor', summary: 'The second factor of the caller', tags },
      response: { 200: Factor, ...refusals(401, 403, 429, 503) },
    },
    handler: async (request, reply) => {
      const seen = await service.view(personOf(request).userId);
      if (!seen.ok) return sendRefusal(reply, seen);
      return {
        state: seen.state,
        changed_at: timeTextOrNull(seen.changedAtMs),
        recovery_codes_left: seen.codesLeft,
        required: seen.isRequired,
      };
    },
  });
}

function enrollmentRoutes(app: App, access: Access): void {
  const service = access.secondFactor;
  app.post('/auth/mfa/enroll', {
    config: { guard: { partial: true, of: 'factor' } },
    schema: {
      operationId: 'beginSecondFactor',
      summary: 'Show a new TOTP secret; the first code of it turns the second factor on',
      ...{ tags, body: Strict({ password: Type.Optional(Password) }) },
      response: {
        200: Type.Object({
          secret: Type.String({ description: 'Base32, for apps without a camera' }),
          otpauth_uri: Type.String(),
          qr_svg: Type.String({ description: 'The address as a QR code, an SVG document' }),
        }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const { password } = request.body;
      const begun = await service.begin(askingOfPerson(request), { password });
      if (!begun.ok) return sendRefusal(reply, begun);
      return { secret: begun.secret, otpauth_uri: begun.address, qr_svg: begun.qrSvg };
    },
  });

  app.post('/auth/mfa/confirm', {
    config: { guard: { partial: true, of: 'factor' } },
    schema: {
      operationId: 'confirmSecondFactor',
      summary: 'Turn the second factor on with the first code; other sessions end',
      ...{ tags, body: Strict({ code: Code }) },
      response: {
        200: Type.Object({
          recovery_codes: RecoveryCodes,
          ...Next,
          since_last_login: Nullable(SinceLastLogin),
        }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const on = await service.confirm(askingOfPerson(request), request.body.code);
      if (!on.ok) return sendRefusal(reply, on);
      return {
        recovery_codes: [...on.recoveryCodes],
        ...(await turned(access, reply, on.issued)),
        since_last_login: on.evidence === null ? null : sinceLastLogin(on.evidence),
      };
    },
  });
}

function codeRoutes(app: App, access: Access): void {
  const service = access.secondFactor;
  app.post('/auth/mfa/verify', {
    config: { guard: { partial: true, of: 'factor' } },
    schema: {
      operationId: 'verifySecondFactor',
      summary: 'Finish a login with a code',
      description: 'Takes a code, or what a security key answered to POST /auth/mfa/keys/ask.',
      ...{ tags, body: Strict(Shown) },
      response: {
        200: Type.Object({
          method: Type.Enum(['totp', 'recovery', 'security_key']),
          recovery_codes_left: Type.Integer(),
          ...Next,
          since_last_login: SinceLastLogin,
        }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const shown = await service.verify(askingOfPerson(request), shownIn(request.body));
      if (!shown.ok) return sendRefusal(reply, shown);
      const next = await turned(access, reply, shown.issued);
      return {
        ...{ method: shown.by, recovery_codes_left: shown.codesLeft, ...next },
        since_last_login: sinceLastLogin(shown.evidence),
      };
    },
  });

  app.post('/auth/mfa/recovery-codes', {
    config: { guard: { self: true } },
    schema: {
      operationId: 'replaceRecoveryCodes',
      summary: 'A fresh set of recovery codes; the old ones end',
      ...{ tags, body: Strict({ code: Code }) },
      response: {
        200: Type.Object({ recovery_codes: RecoveryCodes }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const made = await service.replaceCodes(askingOfPerson(request), request.body.code);
      return made.ok ? { recovery_codes: [...made.recoveryCodes] } : sendRefusal(reply, made);
    },
  });
}

function endingRoutes(app: App, access: Access): void {
  const service = access.secondFactor;
  app.post('/auth/reauthenticate', {
    config: { guard: { self: true } },
    schema: {
      operationId: 'reauthenticate',
      summary: 'Show password and code again, for what asks for a fresh login',
      ...{ tags, body: Strict({ ...Shown, password: Type.Optional(Password) }) },
      response: { 200: Type.Object(Next), ...refusals(401, 403, 409, 422, 429, 503) },
    },
    handler: async (request, reply) => {
      const again = await service.renew(askingOfPerson(request), {
        code: shownIn(request.body),
        password: request.body.password,
      });
      return again.ok ? turned(access, reply, again.issued) : sendRefusal(reply, again);
    },
  });

  app.post('/auth/mfa/disable', {
    config: { guard: { self: true } },
    schema: {
      operationId: 'disableSecondFactor',
      summary: 'Turn the second factor off, with password and code; other sessions end',
      ...{ tags, body: Strict({ code: Code, password: Type.Optional(Password) }) },
      response: {
        200: Type.Object(Next),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const off = await service.disable(askingOfPerson(request), request.body);
      return off.ok ? turned(access, reply, off.issued) : sendRefusal(reply, off);
    },
  });

  app.delete('/users/:id/mfa', {
    config: { guard: { scope: 'users:write', fresh: true } },
    schema: {
      operationId: 'resetSecondFactor',
      summary: 'Take the second factor from somebody who lost it; their sessions end',
      ...{ tags: ['users'], params: Strict({ id: Uuid }) },
      response: { 204: Type.Null(), ...refusals(401, 403, 404, 409, 422, 429, 503) },
    },
    handler: async (request, reply) => {
      const by = operatorOf(request);
      const userId = request.params.id.toLowerCase();
      const gone = await service.reset({ actor: by.actor, from: request.ip, userId, by });
      return gone.ok ? reply.code(204).send(null) : sendRefusal(reply, gone);
    },
  });
}

/** Hands the new secret to the browser, the old one is dead; what the session is now, and lacks. */
async function turned(
  { people }: Access,
  reply: FastifyReply,
  { secret, session }: IssuedSession,
): Promise<Type.Static<Type.TObject<typeof Next>>> {
  reply.header('set-cookie', sessionCookie(secret));
  const user = await people.users.get(session.userId);
  const needs = user === null ? null : people.needOf(user, session);
  return { stage: needs === null ? session.stage : 'partial', needs };
}
