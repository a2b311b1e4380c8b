// What an operator decides about a sensor beside its trust: its tags, groups and declared role, and whose own list it is
// on. Who acts only on owned sensors changes those. decision: D43; invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { tagsOf } from '../../../machines/console/fleet/labels.rules.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import {
  GROUPS_PER_SENSOR_MAX,
  TAG_MAX_CHARS,
  TAGS_PER_SENSOR_MAX,
  USER_SENSORS_MAX,
} from '../../../machines/limits.ts';
import { Text, Uuid } from '../../../machines/wire/scalars.ts';
import type { SensorPatch, SensorPatchAsked } from '../../../storage/ports/fleet/teams.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, SensorPath, Strict } from '../plumbing/shapes.ts';
import { actOnEach, BulkAnswer, SensorIds } from './bulk.ts';
import type { FleetRouteDeps } from './fleet-deps.ts';
import { refuseUnknown } from './labels.ts';
import { SensorDetail } from './sensor-view.ts';
import { labelledDetail } from './sensors.ts';

const ROLE_MAX_CHARS = 64;
export const SensorChange = Strict({
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: TAG_MAX_CHARS }), {
      maxItems: 2 * TAGS_PER_SENSOR_MAX,
      description: 'replaces all; lower case letters, digits and . _ : / = - inside',
    }),
  ),
  group_ids: Type.Optional(
    Type.Array(Uuid, { maxItems: GROUPS_PER_SENSOR_MAX, description: 'replaces all' }),
  ),
  declared_role: Type.Optional(Nullable(Text(ROLE_MAX_CHARS))),
});
const TagList = Type.Array(Type.String({ minLength: 1, maxLength: TAG_MAX_CHARS }), {
  maxItems: TAGS_PER_SENSOR_MAX,
});
const GroupList = Type.Array(Uuid, { maxItems: GROUPS_PER_SENSOR_MAX });
export const BulkChange = Strict({
  sensor_ids: SensorIds,
  add_tags: Type.Optional(TagList),
  remove_tags: Type.Optional(TagList),
  add_group_ids: Type.Optional(GroupList),
  remove_group_ids: Type.Optional(GroupList),
});
const OwnList = Strict({ sensor_ids: Type.Array(Uuid, { maxItems: USER_SENSORS_MAX }) });
const UserPath = Strict({ id: Uuid });

const NO_SENSOR = refuse('not_found', 'There is no such sensor.');
const NO_USER = refuse('not_found', 'There is no such user.');
const FULL = refuse('bound_reached', 'A sensor, a group or a list has no room for more.');

type Change = Type.Static<typeof SensorChange>;

export function sensorChangeRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await changeRoutes(deps)(app, {});
    await ownListRoutes(deps)(app, {});
  };
}

function changeRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  const { teams } = deps;
  return async (app) => {
    app.patch('/sensors/:id', {
      config: { guard: { scope: 'sensors:write', owned: 'sensor' } },
      schema: {
        operationId: 'changeSensor',
        summary: 'Change the tags, groups and declared role of a sensor, together',
        tags: ['sensors'],
        params: SensorPath,
        body: SensorChange,
        response: { 200: SensorDetail, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id: sensorId } = request.params;
        const judged = patchOf(request.body);
        if ('code' in judged) return sendRefusal(reply, judged);
        const { actor } = operatorOf(request);
        const doing = { actor, from: request.ip, nowMs: deps.now() };
        const answer = await teams.changeSensor({ ...doing, sensorId, patch: judged });
        if (answer === 'too_many') return sendRefusal(reply, FULL);
        if (answer !== 'ok' && answer !== 'not_found') {
          return sendRefusal(reply, refuseUnknown(answer));
        }
        const row = answer === 'ok' ? await deps.registry.getSensor(sensorId) : null;
        return row === null ? sendRefusal(reply, NO_SENSOR) : labelledDetail(deps, row);
      },
    });

    app.post('/sensors/bulk-change', {
      config: { guard: { scope: 'sensors:write' } },
      schema: {
        operationId: 'changeSensors',
        summary: 'Add and remove tags and groups of many sensors, with a result for each',
        tags: ['sensors'],
        body: BulkChange,
        response: { 200: BulkAnswer, ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { sensor_ids: sensorIds, add_tags: addTags = [] } = request.body;
        const judged = patchOf({ tags: addTags });
        if ('code' in judged) return sendRefusal(reply, judged);
        const patch = movesOf(request.body);
        const operator = operatorOf(request);
        const doing = { actor: operator.actor, from: request.ip, nowMs: deps.now() };
        return actOnEach(teams, operator, sensorIds, async (sensorId) => {
          const answer = await teams.changeSensor({ ...doing, sensorId, patch });
          if (answer === 'ok') return null;
          if (answer === 'not_found') return NO_SENSOR;
          return answer === 'too_many' ? FULL : refuseUnknown(answer);
        });
      },
    });
  };
}

function ownListRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  const { teams, judgeReach } = deps;
  return async (app) => {
    app.get('/users/:id/sensors', {
      config: { guard: { scope: 'users:read' } },
      schema: {
        operationId: 'getUserSensors',
        summary: "The sensors of a user's own list, without those of its teams",
        tags: ['users'],
        params: UserPath,
        response: { 200: OwnList, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const list = await teams.userSensors(request.params.id);
        return list === null ? sendRefusal(reply, NO_USER) : { sensor_ids: [...list] };
      },
    });

    app.put('/users/:id/sensors', {
      config: { guard: { scope: 'users:write' } },
      schema: {
        operationId: 'setUserSensors',
        summary: "Replace a user's own list of sensors",
        tags: ['users'],
        params: UserPath,
        body: OwnList,
        response: { 200: OwnList, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id: userId } = request.params;
        const operator = operatorOf(request);
        const refusal = await judgeReach(operator, [userId]);
        if (refusal !== null) return sendRefusal(reply, refusal);
        const doing = { actor: operator.actor, from: request.ip, nowMs: deps.now() };
        const sensorIds = request.body.sensor_ids;
        const answer = await teams.setUserSensors({ ...doing, userId, sensorIds });
        if (answer === 'not_found') return sendRefusal(reply, NO_USER);
        if (answer === 'too_many') return sendRefusal(reply, FULL);
        if (answer !== 'ok') return sendRefusal(reply, refuseUnknown(answer));
        return { sensor_ids: [...new Set(sensorIds)].sort() };
      },
    });
  };
}

type BulkChange = Type.Static<typeof BulkChange>;

// Only what joins and what leaves: the store judges it on the row, so that changes at the same time all hold.
function movesOf({
  add_tags: addTags = [],
  remove_tags: removeTags = [],
  add_group_ids: addGroups = [],
  remove_group_ids: removeGroups = [],
}: BulkChange): SensorPatchAsked {
  return {
    moveTags: { add: addTags, remove: removeTags },
    moveGroups: { add: addGroups, remove: removeGroups },
  };
}

function patchOf({
  tags,
  group_ids: groupIds,
  declared_role: declaredRole,
}: Change): SensorPatch | Refusal {
  const judged = tags === undefined ? undefined : tagsOf(tags);
  if (judged?.ok === false) {
    if (judged.reason === 'too_many') return FULL;
    const detail = 'lower case letters, digits, and . _ : / = - inside';
    return refuse('schema_violation', 'This is no tag.', {
      errors: [{ pointer: `/tags/${judged.index}`, detail }],
    });
  }
  return {
    ...(judged === undefined ? {} : { tags: judged.tags }),
    ...(groupIds === undefined ? {} : { groupIds }),
    ...(declaredRole === undefined ? {} : { declaredRole }),
  };
}
