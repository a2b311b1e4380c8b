// The resource `users`: accounts, their roles, the links with which people set a password, and their sessions. An edit
// names the revision it was made on. decision: D37; invariant: I11, I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf, refusalOfStale } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import type { AccessDeps } from './access-deps.ts';
import {
  askingOf,
  DisplayName,
  Email,
  RoleName,
  SessionList,
  sessionView,
  User,
  UserTags,
  userView,
} from './user-view.ts';

type UserDeps = {
  readonly cursors: CursorSigner;
  readonly now: () => number;
  readonly access: Pick<AccessDeps, 'people'>;
};

const UserPath = Strict({ id: Uuid });
const ResetLink = Type.Object({
  secret: Type.String({ description: 'told once; POST /auth/reset takes it' }),
  expires_at: Time,
});
export const ChangedUser = Type.Object({
  ...User.properties,
  credentials_ended: Type.Boolean({
    description:
      'the role gives more: password, second factor and keys ended, and a reset link is the way in',
  }),
});
const Removed = Type.Object({ user_id: Uuid });
const Ended = Type.Object({ ended: Type.Integer({ description: 'how many sessions' }) });
export const NewUser = Strict({
  email: Email,
  display_name: Type.Optional(DisplayName),
  role: RoleName,
});
export const UserChange = Strict({
  revision: Type.Integer({ minimum: 1, description: 'the one that was seen' }),
  display_name: Type.Optional(DisplayName),
  role: Type.Optional(RoleName),
  status: Type.Optional(Type.Enum(['active', 'disabled'])),
  tags: Type.Optional(UserTags),
});
const RAISE_ENDS =
  'A role that gives more ends password, second factor and API keys, too: somebody else may have set them up.';
const NO_USER = refuse('not_found', 'There is no such account.');

export function userRoutes(deps: UserDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readingRoutes(deps)(app, {});
    await changingRoutes(deps)(app, {});
    await accessRoutes(deps)(app, {});
  };
}

function readingRoutes({ access: { people }, cursors }: UserDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/users', {
      config: { guard: { scope: 'users:read' } },
      schema: {
        operationId: 'listUsers',
        summary: 'List accounts by e-mail address',
        tags: ['users'],
        querystring: Strict({ email: Type.Optional(Email), ...PageQuery }),
        response: { 200: PageOf(User), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, email } = request.query;
        if (email !== undefined) {
          const user = await people.users.findByEmail(email);
          return pageOf(reply, user === null ? [] : [userView(user)], null);
        }
        const opened = cursor === undefined ? null : cursors.open('users', null, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const after = opened === null ? null : String(opened.position['e']);
        const rows = await people.users.list({ limit: limit + 1, after });
        const items = rows.slice(0, limit).map(userView);
        const e = rows.length > limit ? items.at(-1)?.email.toLowerCase() : undefined;
        return pageOf(reply, items, e === undefined ? null : cursors.seal('users', null, { e }));
      },
    });

    app.get('/users/:id', {
      config: { guard: { scope: 'users:read' } },
      schema: {
        operationId: 'getUser',
        summary: 'One account',
        tags: ['users'],
        params: UserPath,
        response: { 200: User, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const user = await people.users.get(request.params.id);
        return user === null ? sendRefusal(reply, NO_USER) : userView(user);
      },
    });
  };
}

function changingRoutes({ access: { people }, now }: UserDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/users', {
      config: { guard: { scope: 'users:write' } },
      schema: {
        operationId: 'createUser',
        summary: 'Make an account; it has no password until a link sets one',
        tags: ['users'],
        body: NewUser,
        response: { 201: User, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { email, display_name: displayName = '', role } = request.body;
        const stale = role === 'admin' ? refusalOfStale(operatorOf(request), now()) : null;
        if (stale !== null) return sendRefusal(reply, stale);
        const asking = askingOf(operatorOf(request), request.ip);
        const made = await people.service.create(asking, { email, displayName, role });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return userView(made.user);
      },
    });

    app.patch('/users/:id', {
      config: { guard: { scope: 'users:write' } },
      schema: {
        operationId: 'changeUser',
        summary: 'Change an account; another role and a disabling end its sessions',
        description: RAISE_ENDS,
        tags: ['users'],
        params: UserPath,
        body: UserChange,
        response: { 200: ChangedUser, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { revision, role, status } = request.body;
        // Also who lets somebody in again that may have been an admin.
        const givesPower = role === 'admin' || status === 'active';
        const stale = givesPower ? refusalOfStale(operatorOf(request), now()) : null;
        if (stale !== null) return sendRefusal(reply, stale);
        const asking = askingOf(operatorOf(request), request.ip);
        const { id: userId } = request.params;
        const changed = await people.service.change(asking, {
          ...{ userId, revision, patch: patchIn(request.body) },
        });
        if (!changed.ok) return sendRefusal(reply, changed);
        return { ...userView(changed.user), credentials_ended: changed.areCredentialsEnded };
      },
    });

    app.delete('/users/:id', {
      config: { guard: { scope: 'users:write' } },
      schema: {
        operationId: 'removeUser',
        summary: 'Remove an account with its sessions and keys',
        tags: ['users'],
        params: UserPath,
        response: { 200: Removed, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const removed = await people.service.remove(askingOf(operatorOf(request), request.ip), id);
        return removed.ok ? { user_id: id } : sendRefusal(reply, removed);
      },
    });
  };
}

function patchIn(body: Type.Static<typeof UserChange>) {
  const { display_name: displayName, role, status, tags } = body;
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(role === undefined ? {} : { role }),
    ...(status === undefined ? {} : { status }),
    ...(tags === undefined ? {} : { tags }),
  };
}

function accessRoutes({ access: { people } }: UserDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/users/:id/reset-link', {
      config: { guard: { scope: 'users:write', fresh: true } },
      schema: {
        operationId: 'createResetLink',
        summary: 'Make a one-time secret with which the person sets a password',
        description: 'It is told once; older ones of the account end.',
        tags: ['users'],
        params: UserPath,
        response: { 201: ResetLink, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const asking = askingOf(operatorOf(request), request.ip);
        const made = await people.service.makeLink(asking, request.params.id);
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        const { secret, expiresAtMs } = made.link;
        return { secret, expires_at: timeText(expiresAtMs) };
      },
    });

    app.get('/users/:id/sessions', {
      config: { guard: { scope: 'users:read' } },
      schema: {
        operationId: 'listUserSessions',
        summary: 'The live sessions of an account, newest first',
        tags: ['users'],
        params: UserPath,
        response: { 200: SessionList, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const user = await people.users.get(request.params.id);
        if (user === null) return sendRefusal(reply, NO_USER);
        const { id } = operatorOf(request);
        const rows = await people.sessions.list(user.userId);
        return { items: rows.map((row) => sessionView(row, id)) };
      },
    });

    app.delete('/users/:id/sessions', {
      config: { guard: { scope: 'users:write' } },
      schema: {
        operationId: 'endUserSessions',
        summary: 'End every session of an account',
        tags: ['users'],
        params: UserPath,
        response: { 200: Ended, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const user = await people.users.get(request.params.id);
        if (user === null) return sendRefusal(reply, NO_USER);
        const operator = operatorOf(request);
        const refusal = await people.service.judge(operator, [user.userId]);
        if (refusal !== null) return sendRefusal(reply, refusal);
        const { actor } = operator;
        const asked = { userId: user.userId, actor, from: request.ip, keep: null };
        return { ended: await people.sessions.endAllOf(asked) };
      },
    });
  };
}
