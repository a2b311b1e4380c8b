// The resource `auth/mfa`: the caller's own second factor, and what an admin may do to somebody else's. Every accepted
// code answers with a session under a new secret. decision: D39; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { FactorAsking, SecondFactorDesk } from '../../../actors/access/second-factor-desk.ts';
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

const Password = Type.String({ maxLength: PASSWORD_MAX_CHARS });
const Code = Type.String({
  maxLength: MFA_CODE_MAX_CHARS,
  description: 'Six digits of the app, or a recovery code; blanks and hyphens do not count',
});
const RecoveryCodes = Type.Array(Type.String(), {
  description: `${RECOVERY_CODES_COUNT} codes, told this once; each works once`,
});
const Factor = Type.Object({
  state: Type.Enum(['off', 'pending', 'on']),
  changed_at: Nullable(Time),
  recovery_codes_left: Type.Integer(),
  required: Type.Boolean({ description: 'The role of the account needs a second factor' }),
});
const Stage = Type.Enum(['partial', 'full'], {
  description: 'partial: the session may set up a second factor and nothing else',
});
const tags = ['auth'];
type App = Parameters<FastifyPluginAsyncTypebox>[0];

/** The routes; `{self}` and `{partial}` are people with a session, never keys. */
export function authMfaRoutes({
  access,
}: {
  readonly access: Pick<AccessDeps, 'secondFactor'>;
}): FastifyPluginAsyncTypebox {
  const desk = access.secondFactor;
  return async (app) => {
    lookingRoutes(app, desk);
    enrollmentRoutes(app, desk);
    codeRoutes(app, desk);
    endingRoutes(app, desk);
  };
}

function lookingRoutes(app: App, desk: SecondFactorDesk): void {
  app.get('/auth/mfa', {
    config: { guard: { self: true } },
    schema: {
      ...{ operationId: 'getSecondFactor', summary: 'The second factor of the caller', tags },
      response: { 200: Factor, ...refusals(401, 403, 429, 503) },
    },
    handler: async (request, reply) => {
      const seen = await desk.view(personOf(request).userId);
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

function enrollmentRoutes(app: App, desk: SecondFactorDesk): void {
  app.post('/auth/mfa/enroll', {
    config: { guard: { partial: true } },
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
      const begun = await desk.begin(askingOf(request), { password });
      if (!begun.ok) return sendRefusal(reply, begun);
      return { secret: begun.secret, otpauth_uri: begun.address, qr_svg: begun.qrSvg };
    },
  });

  app.post('/auth/mfa/confirm', {
    config: { guard: { partial: true } },
    schema: {
      operationId: 'confirmSecondFactor',
      summary: 'Turn the second factor on with the first code; other sessions end',
      ...{ tags, body: Strict({ code: Code }) },
      response: {
        200: Type.Object({ recovery_codes: RecoveryCodes, stage: Stage }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const on = await desk.confirm(askingOf(request), request.body.code);
      if (!on.ok) return sendRefusal(reply, on);
      return { recovery_codes: [...on.recoveryCodes], stage: turned(reply, on.issued) };
    },
  });
}

function codeRoutes(app: App, desk: SecondFactorDesk): void {
  app.post('/auth/mfa/verify', {
    config: { guard: { partial: true } },
    schema: {
      operationId: 'verifySecondFactor',
      summary: 'Finish a login with a code',
      ...{ tags, body: Strict({ code: Code }) },
      response: {
        200: Type.Object({
          method: Type.Enum(['totp', 'recovery']),
          recovery_codes_left: Type.Integer(),
          stage: Stage,
        }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const shown = await desk.verify(askingOf(request), request.body.code);
      if (!shown.ok) return sendRefusal(reply, shown);
      const stage = turned(reply, shown.issued);
      return { method: shown.by, recovery_codes_left: shown.codesLeft, stage };
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
      const made = await desk.replaceCodes(askingOf(request), request.body.code);
      return made.ok ? { recovery_codes: [...made.recoveryCodes] } : sendRefusal(reply, made);
    },
  });
}

function endingRoutes(app: App, desk: SecondFactorDesk): void {
  app.post('/auth/mfa/disable', {
    config: { guard: { self: true } },
    schema: {
      operationId: 'disableSecondFactor',
      summary: 'Turn the second factor off, with password and code; other sessions end',
      ...{ tags, body: Strict({ code: Code, password: Type.Optional(Password) }) },
      response: {
        200: Type.Object({ stage: Stage }),
        ...refusals(401, 403, 409, 422, 429, 503),
      },
    },
    handler: async (request, reply) => {
      const off = await desk.disable(askingOf(request), request.body);
      return off.ok ? { stage: turned(reply, off.issued) } : sendRefusal(reply, off);
    },
  });

  app.delete('/users/:id/mfa', {
    config: { guard: { scope: 'users:write' } },
    schema: {
      operationId: 'resetSecondFactor',
      summary: 'Take the second factor from somebody who lost it; their sessions end',
      ...{ tags: ['users'], params: Strict({ id: Uuid }) },
      response: { 204: Type.Null(), ...refusals(401, 403, 404, 409, 422, 429, 503) },
    },
    handler: async (request, reply) => {
      const { actor, userId: byUserId } = operatorOf(request);
      const userId = request.params.id.toLowerCase();
      const gone = await desk.reset({ actor, from: request.ip, userId, byUserId });
      return gone.ok ? reply.code(204).send(null) : sendRefusal(reply, gone);
    },
  });
}

function askingOf(request: FastifyRequest): FactorAsking {
  const { userId, hash, stage, actor } = personOf(request);
  return { userId, session: { hash, stage }, actor, from: request.ip };
}

/** Hands the new secret to the browser; the old one is dead. */
function turned(reply: FastifyReply, { secret, session }: IssuedSession) {
  reply.header('set-cookie', sessionCookie(secret));
  return session.stage;
}
