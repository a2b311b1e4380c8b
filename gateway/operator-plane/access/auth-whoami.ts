// Who a credential stands for: a session answers for its person, a key for its maker. Programs ask it before they begin, and
// people when they wonder which Console they speak to. decision: D36; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { operatorOf } from '../plumbing/guard.ts';
import { Nullable, refusals, Time } from '../plumbing/shapes.ts';
import { timeTextOrNull } from '../plumbing/time-range.ts';
import type { AccessDeps } from './access-deps.ts';
import { RoleName, User, userView } from './user-view.ts';

const WhoAmI = Type.Object({
  kind: Type.Enum(['session', 'api_key']),
  id: Type.String({ description: 'id of the session or of the key' }),
  name: Nullable(Type.String({ description: 'name of the key' })),
  actor: Type.String({ description: 'how the audit log names the caller' }),
  role: RoleName,
  scopes: Type.Array(Type.String({ description: 'what the caller may do now' })),
  expires_at: Nullable(Time),
  user: Nullable(User),
});
export type WhoAmIView = Type.Static<typeof WhoAmI>;

/** The route; for whoever is admitted. */
export function authWhoAmIRoutes({
  access: { people, apiKeys },
}: {
  readonly access: Pick<AccessDeps, 'people' | 'apiKeys'>;
}): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/auth/whoami', {
      config: { guard: { self: true, keys: true } },
      schema: {
        operationId: 'whoAmI',
        summary: 'Who asks, and what it may do',
        tags: ['auth'],
        response: { 200: WhoAmI, ...refusals(401, 403, 429, 503) },
      },
      handler: async (request): Promise<WhoAmIView> => {
        const { kind, id, actor, role, scopes, userId, hash } = operatorOf(request);
        const user = userId === null ? null : await people.users.get(userId);
        const key = kind === 'api_key' ? await apiKeys.findByHash(hash) : null;
        const session = kind === 'session' ? await people.sessions.find(hash) : null;
        return {
          ...{ kind, id, actor, role, name: key?.name ?? null },
          scopes: [...scopes],
          expires_at: timeTextOrNull(key?.expiresAtMs ?? session?.expiresAtMs ?? null),
          user: user === null ? null : userView(user),
        };
      },
    });
  };
}
