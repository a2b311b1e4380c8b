// Signing and verifying single policies with the Console's key. decision: D81
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refusalOfChecks } from '../../../actors/policy/pack-acts.ts';
import { checkPolicy } from '../../../actors/policy/pack-check.ts';
import { signerOf } from '../../../actors/runtime/policy-keys.ts';
import { isSigned } from '../../../actors/runtime/policy-pack.ts';
import { POLICY_NAME, policyMessage } from '../../../machines/trust/policy-signature.rules.ts';
import { KeyId, Signature } from '../../../machines/wire/policy.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict } from '../plumbing/shapes.ts';
import { doingOf, type PolicyRouteDeps, PolicyText } from './policy-deps.ts';

export function policyRoutes({
  book,
  keys: acts,
  now,
}: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/policies/sign', {
      config: { guard: { scope: 'policies:write' } },
      schema: {
        operationId: 'signPolicy',
        summary: 'The sidecar of a policy, by the key of this Console',
        tags: ['policies'],
        body: PolicyText,
        response: {
          200: Type.Object({ signature: Signature, key_id: KeyId }),
          ...refusals(401, 403, 409, 413, 422, 429, 503),
        },
      },
      handler: async (request, reply) => {
        const checked = checkPolicy(request.body);
        if (!checked.ok) return sendRefusal(reply, refusalOfChecks([checked]));
        const done = await acts.signPolicy({ ...doingOf(request, now), policy: request.body });
        if (!done.ok) return sendRefusal(reply, done);
        return { signature: done.answer.signature, key_id: done.answer.keyId };
      },
    });

    app.post('/policies/verify', {
      config: { guard: { scope: 'policies:read' } },
      schema: {
        operationId: 'verifyPolicy',
        summary: 'Whether a sidecar is by a key that nodes trust, for this name and content',
        tags: ['policies'],
        body: Strict({ ...PolicyText.properties, signature: Type.String({ maxLength: 128 }) }),
        response: {
          200: Type.Object({ ok: Type.Boolean(), key_id: Nullable(KeyId) }),
          ...refusals(401, 403, 413, 422, 429),
        },
      },
      handler: async (request) => {
        const { name, yaml, signature } = request.body;
        const { keys } = book.keys();
        if (!POLICY_NAME.test(name) || !isSigned({ name, yaml, signature }, keys)) {
          return { ok: false, key_id: null };
        }
        const message = policyMessage(name, Buffer.from(yaml));
        const key = signerOf(Buffer.from(signature, 'base64'), message, keys);
        return { ok: true, key_id: key?.id ?? null };
      },
    });
  };
}
