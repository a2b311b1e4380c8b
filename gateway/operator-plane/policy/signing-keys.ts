// The keys that nodes trust for policies, and the statements that change them. decision: D81
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { rotationsOf } from '../../../machines/console/policy/book.rules.ts';
import { SIGNING_KEYS_MAX } from '../../../machines/policy/limits.ts';
import { KeyId, KeyRotation } from '../../../machines/wire/policy.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict } from '../plumbing/shapes.ts';
import { doingOf, type PolicyRouteDeps } from './policy-deps.ts';

const Keys = Type.Object({
  own_key_id: Nullable(KeyId),
  signing_keys_sha256: Type.String(),
  sequence: Type.Integer({ description: 'of the newest statement' }),
  keys: Type.Array(Type.Object({ key_id: KeyId, public_key_pem: Type.String() })),
  retired_key_ids: Type.Array(KeyId),
  rotations: Type.Array(KeyRotation),
});
export type SigningKeysView = Type.Static<typeof Keys>;

export function signingKeyRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  const { book, keys, ownKeyId, now } = deps;
  function answer(): SigningKeysView {
    const { trusted, sha256 } = book.keys();
    return {
      own_key_id: ownKeyId(),
      signing_keys_sha256: sha256,
      sequence: trusted.sequence,
      keys: trusted.keys.map(({ id, pem }) => ({ key_id: id, public_key_pem: pem })),
      retired_key_ids: [...trusted.retired],
      rotations: [...rotationsOf(book.book())],
    };
  }
  return async (app) => {
    app.get('/signing-keys', {
      config: { guard: { scope: 'policies:read' } },
      schema: {
        operationId: 'listSigningKeys',
        summary: 'The keys that nodes trust, and how they came to be',
        tags: ['signing-keys'],
        response: { 200: Keys, ...refusals(401, 403, 429) },
      },
      handler: async () => answer(),
    });

    app.post('/signing-keys/rotations', {
      config: { guard: { scope: 'signing-keys:write', fresh: true } },
      schema: {
        operationId: 'rotateSigningKey',
        summary: 'Take a statement that was signed elsewhere',
        tags: ['signing-keys'],
        body: KeyRotation,
        response: { 200: Keys, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const done = await keys.rotate({ ...doingOf(request, now), statement: request.body });
        return done.ok ? answer() : sendRefusal(reply, done);
      },
    });

    app.post('/signing-keys', {
      config: { guard: { scope: 'signing-keys:write', fresh: true } },
      schema: {
        operationId: 'addSigningKey',
        summary: "Sign a statement with this Console's key: a new key, and those it retires",
        tags: ['signing-keys'],
        body: Strict({
          public_key_pem: Type.String({ maxLength: 1_024 }),
          retired_key_ids: Type.Optional(Type.Array(KeyId, { maxItems: SIGNING_KEYS_MAX })),
        }),
        response: { 200: Keys, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { public_key_pem: newKeyPem, retired_key_ids: retiredKeyIds = [] } = request.body;
        const doing = doingOf(request, now);
        const done = await keys.signRotation({ ...doing, newKeyPem, retiredKeyIds });
        return done.ok ? answer() : sendRefusal(reply, done);
      },
    });
  };
}
