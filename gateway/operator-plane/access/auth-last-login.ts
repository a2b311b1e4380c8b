// What happened to an account before the login of the session that asks. Logins with a password tell it at once; who came
// through a provider was led on, and the page asks here. decision: D64; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { personOf } from '../plumbing/guard.ts';
import { Nullable, refusals } from '../plumbing/shapes.ts';
import type { AccessDeps } from './access-deps.ts';
import { SinceLastLogin, sinceLastLogin } from './user-view.ts';

export const LastLogin = Type.Object({ since_last_login: Nullable(SinceLastLogin) });

/** The route; for a person about itself. */
export function authLastLoginRoutes({
  access: { people },
}: {
  readonly access: Pick<AccessDeps, 'people'>;
}): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/auth/last-login', {
      config: { guard: { self: true } },
      schema: {
        operationId: 'getLastLogin',
        summary:
          'What happened to the own account between the login before and that of this session',
        description:
          'Null once the session goes on under another id, as after credentials were shown again.',
        tags: ['auth'],
        response: { 200: LastLogin, ...refusals(401, 403, 429, 503) },
      },
      handler: async (request) => {
        const { userId, id } = personOf(request);
        const evidence = await people.beforeLogin(userId, id);
        return { since_last_login: evidence === null ? null : sinceLastLogin(evidence) };
      },
    });
  };
}
