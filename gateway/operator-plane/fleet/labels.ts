// The resources `teams` and `groups`: one set of routes for both. Whoever is in a team owns its sensors; a group only
// gathers sensors. decision: D43; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { labelNameOf, nameKeyOf } from '../../../machines/console/fleet/labels.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import {
  LABEL_DESCRIPTION_MAX_CHARS,
  LABEL_NAME_MAX_CHARS,
  MEMBERSHIP_CHANGES_MAX,
  PAGE_ITEMS_DEFAULT,
} from '../../../machines/limits.ts';
import type { Scope } from '../../../machines/trust/roles.rules.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type {
  LabelRow,
  LabelStore,
  TeamMembers,
  Unknown,
} from '../../../storage/ports/fleet/teams.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import type { FleetRouteDeps } from './fleet-deps.ts';

const Label = Type.Object({
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  created_at: Time,
  users: Type.Optional(Type.Integer({ description: 'how many; of a team only' })),
  sensors: Type.Integer({ description: 'how many' }),
});
const LabelDetail = Type.Intersect([
  Label,
  Type.Object({ user_ids: Type.Optional(Type.Array(Uuid)), sensor_ids: Type.Array(Uuid) }),
]);
const Ids = Type.Optional(Type.Array(Uuid, { maxItems: MEMBERSHIP_CHANGES_MAX }));
const Sensors = { add_sensors: Ids, remove_sensors: Ids };
const Name = Type.String({ minLength: 1, maxLength: LABEL_NAME_MAX_CHARS });
const Description = Type.Optional(Type.String({ maxLength: LABEL_DESCRIPTION_MAX_CHARS }));
const Path = Strict({ id: Uuid });

type LabelKind = {
  readonly path: 'teams' | 'groups';
  readonly name: 'Team' | 'Group';
  readonly members: ReturnType<typeof Strict>;
  readonly read: Scope;
  readonly write: Scope;
};
const TEAMS: LabelKind = {
  ...{ path: 'teams', name: 'Team', read: 'teams:read', write: 'teams:write' },
  members: Strict({ add_users: Ids, remove_users: Ids, ...Sensors }),
};
const GROUPS: LabelKind = {
  ...{ path: 'groups', name: 'Group', read: 'groups:read', write: 'groups:write' },
  members: Strict(Sensors),
};

export type LabelView = Type.Static<typeof Label>;
export type LabelDetail = Type.Static<typeof LabelDetail>;
type MembersBody = {
  readonly [Name in 'add_users' | 'remove_users' | 'add_sensors' | 'remove_sensors']?: string[];
};

export function teamRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return labelRoutes(deps, TEAMS, deps.teams.teams);
}

export function groupRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return labelRoutes(deps, GROUPS, deps.teams.groups);
}

function labelRoutes(
  deps: FleetRouteDeps,
  kind: LabelKind,
  store: LabelStore,
): FastifyPluginAsyncTypebox {
  const resource = resourceOf(deps, kind, store);
  return async (app) => {
    await listingRoutes(resource)(app, {});
    await namingRoutes(resource)(app, {});
    await removalRoute(resource)(app, {});
    await memberRoute(resource)(app, {});
  };
}

type Resource = ReturnType<typeof resourceOf>;

/** What the routes of one kind share: its words, its refusals, and how a label is shown. */
function resourceOf(deps: FleetRouteDeps, kind: LabelKind, store: LabelStore) {
  const { path, name, read, write } = kind;
  const noun = name.toLowerCase();
  const tags = [path];
  const answers = { 200: LabelDetail, ...refusals(401, 403, 404, 409, 422, 429, 503) };
  const doing = (request: FastifyRequest) => ({
    actor: operatorOf(request).actor,
    from: request.ip,
    nowMs: deps.now(),
  });
  const absent = refuse('not_found', `There is no such ${noun}.`);
  const taken = refuse('name_taken', `Another ${noun} has this name.`);
  const full = refuse('bound_reached', `There is no room for more in the ${path}.`);

  function summaryOf(row: LabelRow): LabelView {
    const { id, name: called, description, createdAtMs, sensors, users } = row;
    const shown = { id, name: called, description, created_at: timeText(createdAtMs), sensors };
    return name === 'Team' ? { ...shown, users } : shown;
  }

  function detailOf(row: LabelRow & TeamMembers): LabelDetail {
    const sensor_ids = [...row.sensorIds];
    if (name === 'Group') return { ...summaryOf(row), sensor_ids };
    return { ...summaryOf(row), user_ids: [...row.userIds], sensor_ids };
  }

  async function answerDetail(reply: FastifyReply, id: string) {
    const row = await store.get(id);
    return row === null ? sendRefusal(reply, absent) : detailOf(row);
  }

  return {
    ...{ deps, store, path, name, noun, read, write, tags, answers, members: kind.members },
    ...{ doing, absent, taken, full, summaryOf, detailOf, answerDetail },
  };
}

function listingRoutes(resource: Resource): FastifyPluginAsyncTypebox {
  const { deps, store, path, name, noun, read, tags, summaryOf, answerDetail } = resource;
  return async (app) => {
    app.get(`/${path}`, {
      config: { guard: { scope: read } },
      schema: {
        operationId: `list${name}s`,
        summary: `List ${path} by name`,
        tags,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Label), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open(path, null, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const after = opened === null ? null : String(opened.position['n']);
        const rows = await store.list({ limit: limit + 1, after });
        const last = rows[limit - 1];
        const isMore = rows.length > limit && last !== undefined;
        const next = isMore ? deps.cursors.seal(path, null, { n: nameKeyOf(last.name) }) : null;
        return pageOf(reply, rows.slice(0, limit).map(summaryOf), next);
      },
    });

    app.get(`/${path}/:id`, {
      config: { guard: { scope: read } },
      schema: {
        operationId: `get${name}`,
        summary: `One ${noun} with its members`,
        tags,
        params: Path,
        response: { 200: LabelDetail, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: (request, reply) => answerDetail(reply, request.params.id),
    });
  };
}

function namingRoutes(resource: Resource): FastifyPluginAsyncTypebox {
  const { deps, store, path, name, noun, write, tags, answers, doing } = resource;
  const { absent, taken, full, detailOf, answerDetail } = resource;
  return async (app) => {
    app.post(`/${path}`, {
      config: { guard: { scope: write } },
      schema: {
        operationId: `create${name}`,
        summary: `Make a ${noun}`,
        tags,
        body: Strict({ name: Name, description: Description }),
        response: { 201: LabelDetail, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const called = labelNameOf(request.body.name);
        if (called === null) return sendRefusal(reply, NO_NAME);
        const { description = '' } = request.body;
        const row = { ...doing(request), id: deps.chance.newId(), name: called, description };
        const made = await store.create(row);
        if (made === 'name_taken') return sendRefusal(reply, taken);
        if (made === 'too_many') return sendRefusal(reply, full);
        reply.code(201);
        return detailOf({ ...made, userIds: [], sensorIds: [] });
      },
    });

    app.patch(`/${path}/:id`, {
      config: { guard: { scope: write } },
      schema: {
        operationId: `change${name}`,
        summary: `Rename or describe a ${noun}`,
        tags,
        params: Path,
        body: Strict({ name: Type.Optional(Name), description: Description }),
        response: answers,
      },
      handler: async (request, reply) => {
        const { name: asked, description } = request.body;
        const called = asked === undefined ? undefined : labelNameOf(asked);
        if (called === null) return sendRefusal(reply, NO_NAME);
        const { id } = request.params;
        const changed = await store.change({
          ...{ ...doing(request), id },
          ...(called === undefined ? {} : { name: called }),
          ...(description === undefined ? {} : { description }),
        });
        if (changed === 'not_found') return sendRefusal(reply, absent);
        if (changed === 'name_taken') return sendRefusal(reply, taken);
        return answerDetail(reply, id);
      },
    });
  };
}

function removalRoute(resource: Resource): FastifyPluginAsyncTypebox {
  const { store, path, name, noun, write, tags, doing, absent } = resource;
  return async (app) => {
    app.delete(`/${path}/:id`, {
      config: { guard: { scope: write } },
      schema: {
        operationId: `remove${name}`,
        summary: `Remove a ${noun}; its members stay`,
        tags,
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const isGone = await store.remove({ ...doing(request), id: request.params.id });
        return isGone ? reply.code(204).send(null) : sendRefusal(reply, absent);
      },
    });
  };
}

function memberRoute(resource: Resource): FastifyPluginAsyncTypebox {
  const { deps, store, path, name, noun, write, tags, answers, members } = resource;
  const { doing, absent, full, detailOf } = resource;
  return async (app) => {
    app.post(`/${path}/:id/members`, {
      config: { guard: { scope: write } },
      schema: {
        operationId: `change${name}Members`,
        summary: `Add and remove members of a ${noun}, all of them or none`,
        description: 'What is both removed and added is a member afterwards.',
        tags,
        params: Path,
        body: members,
        response: answers,
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const body = request.body as MembersBody;
        const { add_users = [], remove_users = [], add_sensors = [], remove_sensors = [] } = body;
        const touched = [...add_users, ...remove_users];
        const refusal = await deps.judgeReach(operatorOf(request), touched);
        if (refusal !== null) return sendRefusal(reply, refusal);
        const changed = await store.changeMembers({
          ...{ ...doing(request), id, addUsers: add_users, removeUsers: remove_users },
          ...{ addSensors: add_sensors, removeSensors: remove_sensors },
        });
        if (changed === 'not_found') return sendRefusal(reply, absent);
        if (changed === 'too_many') return sendRefusal(reply, full);
        if ('unknown' in changed) return sendRefusal(reply, refuseUnknown(changed));
        return detailOf(changed);
      },
    });
  };
}

const NO_NAME = refuse('schema_violation', 'This is no name.', {
  errors: [{ pointer: '/name', detail: 'must show letters and hold no control characters' }],
});
const UNKNOWN_TOLD_MAX = 10;

/** The refusal of a change that names what does not exist. */
export function refuseUnknown({ unknown }: Unknown) {
  const told = unknown.slice(0, UNKNOWN_TOLD_MAX).join(', ');
  const more =
    unknown.length > UNKNOWN_TOLD_MAX ? ` and ${unknown.length - UNKNOWN_TOLD_MAX} more` : '';
  return refuse('reference_unknown', `There is no ${told}${more}.`);
}
