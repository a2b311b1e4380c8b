// The resource `auth/mfa/keys`: the security keys of whoever asks. Adding and removing one asks for credentials shown
// lately; what a session is asked, it answers once, at `auth/mfa/verify` or `auth/reauthenticate`. decision: D73;
// invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import {
  SECURITY_KEY_NAME_MAX_CHARS,
  SECURITY_KEY_TEXT_MAX_CHARS,
} from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SecurityKeyRow } from '../../../storage/ports/access/security-keys.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import type { AccessDeps } from './access-deps.ts';
import { askingOfPerson } from './factor-asking.ts';

const tags = ['auth'];
const KeyText = Type.String({ maxLength: SECURITY_KEY_TEXT_MAX_CHARS });
const Transports = Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 });
const Attachment = Type.Optional(Type.Enum(['cross-platform', 'platform']));
// Browsers add fields of their own, so what is unknown is not refused here.
const Answered = {
  id: KeyText,
  rawId: KeyText,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
  authenticatorAttachment: Attachment,
};
const NewKeyAnswer = Type.Object({
  ...Answered,
  response: Type.Object({
    clientDataJSON: KeyText,
    attestationObject: KeyText,
    transports: Type.Optional(Transports),
  }),
});
/** What a browser gives of a key that was used, as WebAuthn lays it out in JSON. */
export const KeyAnswer = Type.Object(
  {
    ...Answered,
    response: Type.Object({
      clientDataJSON: KeyText,
      authenticatorData: KeyText,
      signature: KeyText,
      userHandle: Type.Optional(Nullable(KeyText)),
    }),
  },
  { description: 'what a security key answered to POST /auth/mfa/keys/ask' },
);
export const SecurityKey = Type.Object({
  key_id: Type.String(),
  name: Type.String(),
  transports: Type.Array(Type.String()),
  created_at: Time,
  last_used_at: Nullable(Time),
});
export const SecurityKeyList = Type.Object({ items: Type.Array(SecurityKey) });
const Options = Type.Object({
  options: Type.Unknown({ description: 'for navigator.credentials, in JSON' }),
});

/** The routes; for people with a session, never for keys of programs. */
export function securityKeyRoutes(deps: {
  readonly access: Pick<AccessDeps, 'securityKeys'>;
}): FastifyPluginAsyncTypebox {
  return async (app) => {
    await keepingRoutes(deps.access)(app, {});
    await askingRoutes(deps.access)(app, {});
  };
}

function keepingRoutes({
  securityKeys: service,
}: Pick<AccessDeps, 'securityKeys'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/auth/mfa/keys', {
      config: { guard: { self: true } },
      schema: {
        ...{ operationId: 'listSecurityKeys', summary: 'The own security keys', tags },
        response: { 200: SecurityKeyList, ...refusals(401, 403, 429, 503) },
      },
      handler: async (request) => listOf(await service.list(askingOfPerson(request).userId)),
    });

    app.post('/auth/mfa/keys', {
      config: { guard: { self: true, fresh: true } },
      schema: {
        operationId: 'addSecurityKey',
        summary: 'Add the security key that answered',
        tags,
        body: Strict({
          name: Type.String({ minLength: 1, maxLength: 2 * SECURITY_KEY_NAME_MAX_CHARS }),
          security_key: NewKeyAnswer,
        }),
        response: { 201: SecurityKeyList, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { name, security_key: response } = request.body;
        const added = await service.add(askingOfPerson(request), {
          name,
          response: response as Parameters<typeof service.add>[1]['response'],
        });
        if (!added.ok) return sendRefusal(reply, added);
        reply.code(201);
        return listOf(added.keys);
      },
    });

    app.delete('/auth/mfa/keys/:id', {
      config: { guard: { self: true, fresh: true } },
      schema: {
        ...{ operationId: 'removeSecurityKey', summary: 'Remove an own security key', tags },
        params: Strict({ id: Uuid }),
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const gone = await service.remove(askingOfPerson(request), request.params.id);
        return gone.ok ? reply.code(204).send(null) : sendRefusal(reply, gone);
      },
    });
  };
}

function askingRoutes({
  securityKeys: service,
}: Pick<AccessDeps, 'securityKeys'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/auth/mfa/keys/begin', {
      config: { guard: { self: true, fresh: true } },
      schema: {
        ...{ operationId: 'beginSecurityKey', summary: 'What to ask a new security key', tags },
        response: { 200: Options, ...refusals(401, 403, 409, 429, 503) },
      },
      handler: async (request, reply) => {
        const begun = await service.begin(askingOfPerson(request));
        return begun.ok ? { options: begun.options } : sendRefusal(reply, begun);
      },
    });

    app.post('/auth/mfa/keys/ask', {
      config: { guard: { partial: true, of: 'factor' } },
      schema: {
        ...{ operationId: 'askSecurityKey', summary: 'What to ask the own security keys', tags },
        response: { 200: Options, ...refusals(401, 403, 409, 429, 503) },
      },
      handler: async (request, reply) => {
        const asked = await service.ask(askingOfPerson(request));
        return asked.ok ? { options: asked.options } : sendRefusal(reply, asked);
      },
    });
  };
}

function listOf(rows: readonly SecurityKeyRow[]): Type.Static<typeof SecurityKeyList> {
  return {
    items: rows.map(({ keyId, name, transports, madeAtMs, usedAtMs }) => ({
      key_id: keyId,
      name,
      transports: [...transports],
      created_at: timeText(madeAtMs),
      last_used_at: timeTextOrNull(usedAtMs),
    })),
  };
}
