// What an assignment that monitors has matched and would have stopped, and the one act that enforces it. decision: D125
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Rehearsal, Rehearsals } from '../../../actors/policy/rehearsal.ts';
import { TARGET_KINDS, type Target } from '../../../machines/console/policy/book.rules.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { REHEARSAL_SENSORS_TOLD_MAX, REHEARSAL_TOLD_MS } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { INSTANT_PATTERN, parseInstant, timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { askEvents } from '../telemetry/ask-events.ts';
import type { SearchTurns } from '../telemetry/search-turns.ts';
import { Assignment, viewOf } from './assignments.ts';
import { doingOf, type PolicyRouteDeps } from './policy-deps.ts';

const Instant = Type.String({
  pattern: INSTANT_PATTERN,
  maxLength: 40,
  description: 'RFC 3339, or relative: now-1h',
});
const TargetPath = Strict({
  kind: Type.Enum([...TARGET_KINDS]),
  target: Type.String({ minLength: 1, maxLength: 128 }),
});
const Policy = Type.Object({
  name: Type.String(),
  matched: Type.Integer(),
  would_have_acted: Type.Integer(),
  acts: Type.Record(Type.String(), Type.Integer(), {
    description: 'what it would have done, such as sigkill, and how often',
  }),
  last_at: Nullable(Time),
  sensors: Type.Integer({ description: 'on which it matched' }),
  top_sensors: Type.Array(
    Type.Object({
      sensor_id: Uuid,
      matched: Type.Integer(),
      would_have_acted: Type.Integer(),
      last_at: Time,
    }),
  ),
});
const RehearsalShape = Type.Object({
  assignment: Assignment,
  from: Time,
  to: Time,
  sensors: Type.Integer({ description: 'that have it now' }),
  matched: Type.Integer(),
  would_have_acted: Type.Integer(),
  policies: Type.Array(Policy),
});
export type RehearsalView = Type.Static<typeof RehearsalShape>;
type Deps = PolicyRouteDeps & { readonly rehearsals: Rehearsals; readonly searches: SearchTurns };

const NOTHING = refuse('not_found', 'Nothing is assigned to it.');

export function rehearsalRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readingRoute(deps)(app, {});
    await enforcingRoute(deps)(app, {});
  };
}

function readingRoute(deps: Deps): FastifyPluginAsyncTypebox {
  const { rehearsals, searches, now } = deps;
  return async (app) => {
    app.get('/assignments/:kind/:target/rehearsal', {
      config: { guard: { scope: 'policies:read' } },
      schema: {
        operationId: 'getRehearsal',
        summary: 'What the policies of an assignment matched and would have stopped',
        tags: ['assignments'],
        params: TargetPath,
        querystring: Strict({ from: Type.Optional(Instant), to: Type.Optional(Instant) }),
        response: { 200: RehearsalShape, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const asked = spanOf(request.query, now());
        if (!asked.ok) return sendRefusal(reply, asked);
        const { span } = asked;
        const found = await askEvents(searches, request, (signal) =>
          rehearsals.of(targetOf(request.params), { ...span, signal }),
        );
        return found === null ? sendRefusal(reply, NOTHING) : rehearsalView(deps, found, span);
      },
    });
  };
}

function enforcingRoute(deps: Deps): FastifyPluginAsyncTypebox {
  const { rehearsals, searches, assignments, chance, now } = deps;
  return async (app) => {
    app.post('/assignments/:kind/:target/enforce', {
      config: { guard: { scope: 'assignments:write' } },
      schema: {
        operationId: 'enforceRehearsed',
        summary: 'Enforce what was rehearsed; says what it would have stopped in the last 7 days',
        tags: ['assignments'],
        params: TargetPath,
        body: Strict({
          assignment_id: Type.String({
            ...Uuid,
            description: 'what was looked at: another one meanwhile is refused',
          }),
          dry_run: Type.Optional(
            Type.Boolean({ description: 'say what it would have stopped, and change nothing' }),
          ),
        }),
        response: { 200: RehearsalShape, ...refusals(401, 403, 404, 409, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const target = targetOf(request.params);
        const { assignment_id: assignmentId, dry_run: isDryRun = false } = request.body;
        const toMs = now();
        const span = { fromMs: toMs - REHEARSAL_TOLD_MS, toMs };
        const found = await askEvents(searches, request, (signal) =>
          rehearsals.of(target, { ...span, signal }),
        );
        if (found === null) return sendRefusal(reply, NOTHING);
        const done = await assignments.enforce({
          ...{ ...doingOf(request, now), target, assignmentId, nextId: chance.newId(), isDryRun },
          wouldHaveActed: sumOf(found).would_have_acted,
        });
        if (!done.ok) return sendRefusal(reply, done);
        return rehearsalView(deps, { ...found, assignment: done.answer }, span);
      },
    });
  };
}

type Span = { readonly fromMs: number; readonly toMs: number };
type Asked = { readonly from?: string; readonly to?: string };

/** The last 7 days unless something else is asked. */
function spanOf(
  { from, to = 'now' }: Asked,
  nowMs: number,
): { readonly ok: true; readonly span: Span } | Refusal {
  const toMs = parseInstant(to, nowMs);
  const fromMs =
    from === undefined ? (toMs ?? nowMs) - REHEARSAL_TOLD_MS : parseInstant(from, nowMs);
  if (fromMs !== null && toMs !== null && fromMs <= toMs)
    return { ok: true, span: { fromMs, toMs } };
  return refuse('schema_violation', 'The time range cannot be used.', {
    errors: [{ pointer: '/query/from', detail: 'there is no such time, or it lies after `to`' }],
  });
}

function targetOf({ kind, target }: Type.Static<typeof TargetPath>): Target {
  return { kind, id: target };
}

function sumOf({ policies }: Rehearsal) {
  return {
    matched: policies.reduce((sum, one) => sum + one.matched, 0),
    would_have_acted: policies.reduce((sum, one) => sum + one.wouldHaveActed, 0),
  };
}

function rehearsalView(
  deps: Pick<PolicyRouteDeps, 'book'>,
  found: Rehearsal,
  { fromMs, toMs }: Span,
): RehearsalView {
  return {
    assignment: viewOf(deps, found.assignment),
    ...{ from: timeText(fromMs), to: timeText(toMs), sensors: found.sensors, ...sumOf(found) },
    policies: found.policies.map(({ name, matched, wouldHaveActed, acts, lastAtMs, sensors }) => ({
      ...{ name, matched, would_have_acted: wouldHaveActed, acts: { ...acts } },
      ...{ last_at: timeTextOrNull(lastAtMs), sensors: sensors.length },
      top_sensors: sensors.slice(0, REHEARSAL_SENSORS_TOLD_MAX).map((one) => ({
        ...{ sensor_id: one.sensorId, matched: one.matched },
        ...{ would_have_acted: one.wouldHaveActed, last_at: timeText(one.lastAtMs) },
      })),
    })),
  };
}
