// The resource `assignments`, and what one sensor has of policies: which pack and why, its own policies, the switch above
// all packs. decision: D83
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import {
  type AssignmentRow,
  TARGET_KINDS,
  type Target,
  targetId,
} from '../../../machines/console/policy/book.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import { ASSIGNMENT_PRIORITY_MAX } from '../../../machines/limits.ts';
import { PACK_POLICIES_MAX } from '../../../machines/policy/limits.ts';
import {
  ENFORCEMENT_MODES,
  NamespaceScope,
  PackVersion,
  PolicyMode,
  PolicyReport,
  Sha256,
  Signature,
} from '../../../machines/wire/policy.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import {
  Nullable,
  PageOf,
  PageQuery,
  refusals,
  SensorPath,
  Strict,
  Time,
} from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { doingOf, type PolicyRouteDeps, PolicyText, pageAmong } from './policy-deps.ts';

const TargetShape = Strict({
  kind: Type.Enum([...TARGET_KINDS]),
  id: Type.String({ minLength: 1, maxLength: 128, description: 'of the fleet: fleet' }),
});
const Unsupported = Type.Enum(['fail', 'skip']);
export const Assignment = Type.Object({
  assignment_id: Uuid,
  target: TargetShape,
  pack_id: Uuid,
  pack_name: Type.String(),
  version: PackVersion,
  mode: PolicyMode,
  namespace_scope: NamespaceScope,
  when_unsupported: Unsupported,
  priority: Type.Integer(),
  created_at: Time,
  created_by: Type.String(),
});
export const AssignmentBody = Strict({
  target: TargetShape,
  pack_id: Uuid,
  version: PackVersion,
  mode: PolicyMode,
  namespace_scope: Type.Optional(NamespaceScope),
  when_unsupported: Type.Optional(Unsupported),
  priority: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: ASSIGNMENT_PRIORITY_MAX,
      description: 'among groups the higher one wins',
    }),
  ),
});
const Named = Type.Object({ name: Type.String(), sha256: Sha256 });
const SensorPolicy = Type.Object({
  pack: Nullable(Type.Intersect([Assignment, Type.Object({ because: Type.String() })])),
  passed_over: Type.Array(Type.Intersect([Assignment, Type.Object({ because: Type.String() })])),
  enforcement: Type.Object({ revision: Type.Integer(), mode: Type.Enum([...ENFORCEMENT_MODES]) }),
  custom: Type.Object({ revision: Type.Integer(), policies: Type.Array(Named) }),
  reported: Nullable(PolicyReport),
});
const CustomBody = Strict({
  policies: Type.Array(Strict({ ...PolicyText.properties, signature: Type.Optional(Signature) }), {
    maxItems: PACK_POLICIES_MAX,
  }),
});

export type AssignmentView = Type.Static<typeof Assignment>;
export type SensorPolicyView = Type.Static<typeof SensorPolicy>;
const NO_SENSOR = refuse('not_found', 'There is no such sensor.');
const seen = refusals(401, 403, 404, 422, 429, 503);
const changed = refusals(401, 403, 404, 409, 413, 422, 429, 503);
const assigning = { config: { guard: { scope: 'assignments:write' as const } } };
const reading = { config: { guard: { scope: 'policies:read' as const } } };

export function assignmentRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await targetRoutes(deps)(app, {});
    await sensorPolicyRoutes(deps)(app, {});
  };
}

export function viewOf(
  { book }: Pick<PolicyRouteDeps, 'book'>,
  row: AssignmentRow,
): AssignmentView {
  return {
    assignment_id: row.assignmentId,
    target: { ...row.target },
    pack_id: row.packId,
    pack_name: book.book().packs.get(row.packId)?.name ?? '',
    version: row.version,
    mode: row.mode,
    namespace_scope: row.namespaceScope === null ? null : [...row.namespaceScope],
    when_unsupported: row.whenUnsupported,
    priority: row.priority,
    created_at: timeText(row.createdAtMs),
    created_by: row.createdBy,
  };
}

function targetRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await assignmentListRoute(deps)(app, {});
    await assigningRoutes(deps)(app, {});
  };
}

function assignmentListRoute(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  const { book, cursors } = deps;
  return async (app) => {
    app.get('/assignments', {
      ...reading,
      schema: {
        operationId: 'listAssignments',
        summary: 'Who is assigned which version',
        tags: ['assignments'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Assignment), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const rows = [...book.book().assignments.values()];
        const of = { path: 'assignments', cursors };
        const page = pageAmong(of, request.query, rows, ({ target }) => targetId(target));
        if (!page.ok) return sendRefusal(reply, page);
        return pageOf(
          reply,
          page.items.map((one) => viewOf(deps, one)),
          page.next,
        );
      },
    });
  };
}

async function isThere(
  { sensors, teams }: Pick<PolicyRouteDeps, 'sensors' | 'teams'>,
  { kind, id }: Target,
): Promise<boolean> {
  if (kind === 'sensor') return (await sensors.getSensor(id)) !== null;
  if (kind === 'group') return (await teams.groups.get(id)) !== null;
  return kind === 'tag' || id === 'fleet';
}

function assigningRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  const { assignments, chance, now } = deps;
  return async (app) => {
    app.post('/assignments', {
      ...assigning,
      schema: {
        operationId: 'assignPack',
        summary:
          'Assign a version to a sensor, a group, a tag or the fleet, in place of what it had',
        tags: ['assignments'],
        body: AssignmentBody,
        response: { 200: Assignment, ...changed },
      },
      handler: async (request, reply) => {
        const { target, pack_id, version, mode, namespace_scope = null } = request.body;
        const { when_unsupported = 'fail', priority = 0 } = request.body;
        if (!(await isThere(deps, target))) {
          return sendRefusal(
            reply,
            refuse('reference_unknown', `There is no ${targetId(target)}.`),
          );
        }
        const done = await assignments.assign({
          ...doingOf(request, now),
          ...{ assignmentId: chance.newId(), target, packId: pack_id, version, mode },
          ...{ namespaceScope: namespace_scope, whenUnsupported: when_unsupported, priority },
        });
        return done.ok ? viewOf(deps, done.answer) : sendRefusal(reply, done);
      },
    });

    app.delete('/assignments/:kind/:target', {
      ...assigning,
      schema: {
        operationId: 'unassignPack',
        summary: 'Take away what is assigned to a target',
        tags: ['assignments'],
        params: Strict({
          kind: Type.Enum([...TARGET_KINDS]),
          target: Type.String({ minLength: 1, maxLength: 128 }),
        }),
        response: { 204: Type.Null(), ...seen },
      },
      handler: async (request, reply) => {
        const { kind, target: id } = request.params;
        const done = await assignments.unassign({ ...doingOf(request, now), target: { kind, id } });
        if (!done.ok) return sendRefusal(reply, done);
        if (done.answer) return reply.code(204).send(null);
        return sendRefusal(reply, refuse('not_found', 'Nothing is assigned to it.'));
      },
    });
  };
}

function sensorPolicyRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await sensorPolicyRoute(deps)(app, {});
    await ownPolicyRoutes(deps)(app, {});
  };
}

function answerOf(deps: PolicyRouteDeps, sensorId: string): SensorPolicyView {
  const { wanted, effective, report } = deps.wanted.get(sensorId);
  const [first, ...others] = effective.ranked.map(({ assignment, because }) => ({
    ...viewOf(deps, assignment),
    because,
  }));
  const { revision, policies } = wanted.custom;
  return {
    pack: first ?? null,
    passed_over: others,
    enforcement: { ...wanted.enforcement },
    custom: { revision, policies: [...policies] },
    reported: report,
  };
}

function sensorPolicyRoute(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/policy', {
      ...reading,
      schema: {
        operationId: 'getSensorPolicy',
        summary: 'Which pack a sensor has, why, and what it says of it',
        tags: ['assignments'],
        params: SensorPath,
        response: { 200: SensorPolicy, ...seen },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        if ((await deps.sensors.getSensor(id)) === null) return sendRefusal(reply, NO_SENSOR);
        return answerOf(deps, id);
      },
    });
  };
}

function ownPolicyRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  const { assignments, now } = deps;
  return async (app) => {
    app.put('/sensors/:id/policy/custom', {
      ...assigning,
      schema: {
        operationId: 'setSensorPolicies',
        summary: "Replace a sensor's own policies; what bears no signature is signed here",
        tags: ['assignments'],
        params: SensorPath,
        body: CustomBody,
        response: { 200: SensorPolicy, ...changed },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        if ((await deps.sensors.getSensor(id)) === null) return sendRefusal(reply, NO_SENSOR);
        const policies = request.body.policies.map(({ name, yaml, signature = null }) => ({
          ...{ name, yaml, signature },
        }));
        const doing = doingOf(request, now);
        const done = await assignments.setCustom({ ...doing, sensorId: id, policies });
        return done.ok ? answerOf(deps, id) : sendRefusal(reply, done);
      },
    });

    app.put('/sensors/:id/policy/enforcement', {
      ...assigning,
      schema: {
        operationId: 'setSensorEnforcement',
        summary: 'The switch above all packs of a sensor: enforce, only tell, or off',
        tags: ['assignments'],
        params: SensorPath,
        body: Strict({ mode: Type.Enum([...ENFORCEMENT_MODES]) }),
        response: { 200: SensorPolicy, ...changed },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        if ((await deps.sensors.getSensor(id)) === null) return sendRefusal(reply, NO_SENSOR);
        const { mode } = request.body;
        const doing = doingOf(request, now);
        const done = await assignments.setEnforcement({ ...doing, sensorId: id, mode });
        return done.ok ? answerOf(deps, id) : sendRefusal(reply, done);
      },
    });
  };
}
