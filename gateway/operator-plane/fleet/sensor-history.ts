// A sensor's actor: what it is now, and every move it made, from the event store.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { type FleetEntry, fleetEntryAt } from '../../../actors/fleet/fleet-live-view.ts';
import { type PastSensor, pastSensorAt } from '../../../actors/fleet/past-sensor.ts';
import { ROWS_DROPPED, SENSOR_MACHINE_VERSION } from '../../../actors/fleet/transition-recorder.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { TransitionRow } from '../../../storage/ports/telemetry/event-store.ts';
import type { CursorPosition } from '../plumbing/cursor.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
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
import { INSTANT_PATTERN, parseInstant, timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { actorDetail, jsonSafe, timerView } from '../system/actor-view.ts';
import type { FleetRouteDeps } from './fleet-deps.ts';
import { Because, reasonsOf } from './health-reasons.ts';

const Instant = Type.String({
  pattern: INSTANT_PATTERN,
  maxLength: 40,
  description: 'RFC 3339, or relative: now-1h',
});
export const Move = Type.Object({
  region: Type.String(),
  from: Type.String(),
  to: Type.String(),
  event: Type.String(),
  facts: Type.Record(Type.String(), Type.Unknown()),
  at: Time,
});
const Timer = Type.Object({
  state: Type.String(),
  delay: Type.String(),
  targets: Type.Array(Type.String()),
  due: Nullable(Time),
});
/** A move as it is stored: with the actor whose move it was, and what that was after it. */
export const StoredMove = Type.Intersect([
  Move,
  Type.Object({
    kind: Type.String(),
    after: Nullable(
      Type.Object({
        value: Type.Unknown(),
        context: Type.Unknown(),
        timers: Type.Array(Timer),
        machine: Type.String(),
      }),
    ),
  }),
]);
export const ActorLineShape = {
  kind: Type.String(),
  id: Type.String(),
  value: Type.Unknown(),
  status: Type.String(),
  since: Time,
  last_event: Type.String(),
  restarts: Type.Integer(),
  about: Nullable(Type.Record(Type.String(), Type.Unknown())),
};
export const SensorActor = Type.Object({
  ...ActorLineShape,
  sensor_id: Uuid,
  context: Type.Unknown(),
  tags: Type.Array(Type.String()),
  timers: Type.Array(Timer),
  trust_state: Nullable(Type.String()),
  trust_health: Nullable(Type.String()),
  because: Type.Array(Because),
  last_heartbeat_at: Nullable(Time),
  recent_moves: Type.Array(Move),
  /** Version of the machine; another one draws another chart. */
  machine: Nullable(Type.String()),
  /** null for the live actor; else the instant that was asked for. */
  as_of: Nullable(Time),
  /** Rows that a full queue dropped: what the actor was from here on is not known. */
  gap: Nullable(Type.Object({ from: Time, until: Time, rows: Type.Integer() })),
});
type SensorActor = Type.Static<typeof SensorActor>;
export const NodeMachinesAnswer = Type.Object({
  items: Type.Array(
    Type.Object({
      machine: Type.String(),
      value: Type.String({ description: 'Dotted paths of the active states, a blank between two' }),
      since: Type.String(),
      due: Nullable(Type.String()),
      reported_at: Time,
    }),
  ),
});
const ActorQuery = Strict({ at: Type.Optional(Instant) });
const MovesQuery = Strict({
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  kind: Type.Optional(
    Type.String({ pattern: '^(sensor|node/[a-z]{1,32})$', description: 'sensor, node/<machine>' }),
  ),
  ...PageQuery,
});
/** Before this the wire has no instants. */
const FIRST_MS = 0;

export function sensorHistoryRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await actorRoutes(deps)(app, {});
    await movesRoute(deps)(app, {});
  };
}

function actorRoutes(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/actor', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'getSensorActor',
        summary: 'The live actor of a sensor',
        tags: ['sensors', 'actors'],
        params: SensorPath,
        querystring: ActorQuery,
        response: { 200: SensorActor, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const answer =
          request.query.at === undefined
            ? await liveActor(deps, id)
            : await pastActor(deps, id, request.query.at);
        return 'ok' in answer ? sendRefusal(reply, answer) : answer;
      },
    });

    app.get('/sensors/:id/machines', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensorMachines',
        summary: 'The statecharts on the node of a sensor, as it last reported them',
        description:
          'A state counts once it was held for a second. Times are of the node, but for `reported_at`.',
        tags: ['sensors', 'actors'],
        params: SensorPath,
        response: { 200: NodeMachinesAnswer, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        if ((await deps.registry.getSensor(id)) === null) {
          return sendRefusal(reply, refuse('not_found', 'There is no such sensor.'));
        }
        return {
          items: deps.nodeMachines.of(id).map(({ due = null, reportedAtMs, ...report }) => ({
            ...report,
            due,
            reported_at: timeText(reportedAtMs),
          })),
        };
      },
    });
  };
}

function movesRoute(deps: FleetRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/transitions', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listSensorTransitions',
        summary: 'Every recorded move of a sensor, newest first',
        description: 'Of its actor here, and of the machines on its node, told apart by `kind`.',
        tags: ['sensors', 'actors'],
        params: SensorPath,
        querystring: MovesQuery,
        response: { 200: PageOf(StoredMove), ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, ...filter } = request.query;
        const { id } = request.params;
        const about = { id, ...filter };
        const opened =
          cursor === undefined ? null : deps.cursors.open('transitions', about, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const span = spanOf(filter, opened?.position ?? null, deps.now());
        if ('ok' in span) return sendRefusal(reply, span);
        if ((await deps.registry.getSensor(id)) === null) {
          return sendRefusal(reply, refuse('not_found', 'There is no such sensor.'));
        }
        const rows = await withinDeadline(
          deps.events.transitionsOf({
            ...{ sensorId: id, limit: limit + 1, ...span },
            ...(filter.kind === undefined ? {} : { actorKind: filter.kind }),
          }),
        );
        const { page, nextBeforeMs } = pageByInstant(rows, limit);
        return pageOf(
          reply,
          page.map(storedMoveView),
          nextBeforeMs === null
            ? null
            : deps.cursors.seal('transitions', about, { b: nextBeforeMs, f: span.fromMs }),
        );
      },
    });
  };
}

async function liveActor(deps: FleetRouteDeps, id: string): Promise<SensorActor | Refusal> {
  const view = deps.sensorActors.ask(id);
  if (view === 'absent') return refuse('not_found', 'No actor of this sensor lives here.');
  const live = deps.fleet.get(id);
  return {
    sensor_id: id,
    ...actorDetail(deps.sensorActors.kind, view),
    trust_state: live?.trust_state ?? null,
    trust_health: live?.trust_health ?? null,
    because: await becauseOf(deps, id),
    last_heartbeat_at: timeTextOrNull(live?.last_heartbeat_at_ms),
    recent_moves: deps.feed.recentOf(deps.sensorActors.kind, id).map(moveView),
    machine: SENSOR_MACHINE_VERSION,
    as_of: null,
    gap: null,
  };
}

async function pastActor(
  deps: FleetRouteDeps,
  id: string,
  at: string,
): Promise<SensorActor | Refusal> {
  const nowMs = deps.now();
  const askedMs = parseInstant(at, nowMs);
  if (askedMs === null) return noInstant('at');
  if ((await deps.registry.getSensor(id)) === null) {
    return refuse('not_found', 'There is no such sensor.');
  }
  // What comes is not known yet: later than now is now.
  const atMs = Math.min(askedMs, nowMs);
  const stored = await withinDeadline(
    deps.events.transitionsOf({
      ...{ sensorId: id, limit: 1, beforeMs: atMs + 1, actorKind: 'sensor' },
    }),
  );
  const past = pastSensorAt([...deps.recorder.queuedOf(id)].reverse().concat(stored), atMs);
  return past === null
    ? refuse(
        'not_found',
        'Nothing of this sensor is recorded up to that instant; take a later one.',
      )
    : pastView(id, past, atMs);
}

function pastView(id: string, past: PastSensor, atMs: number): SensorActor {
  const { row, standing, snapshot } = past;
  const entry = snapshot === null ? null : fleetEntryAt(snapshot, atMs, undefined);
  return {
    sensor_id: id,
    ...{ kind: row.actorKind, id, status: 'past', restarts: 0, about: null },
    value: standing === null ? {} : jsonSafe(standing.value),
    context: standing === null ? null : jsonSafe(standing.context),
    since: timeText(row.atMs),
    last_event: row.event,
    tags: snapshot === null ? [] : [...snapshot.tags].sort(),
    timers: (standing?.timers ?? []).map(timerView),
    trust_state: entry?.trust_state ?? null,
    trust_health: entry?.trust_health ?? null,
    because: entry === null ? [] : reasonsThen(entry),
    last_heartbeat_at: timeTextOrNull(entry?.last_heartbeat_at_ms),
    recent_moves: [],
    machine: standing?.machine ?? null,
    as_of: timeText(atMs),
    gap: gapOf(row),
  };
}

function gapOf({ event, facts, atMs }: TransitionRow): SensorActor['gap'] {
  if (event !== ROWS_DROPPED) return null;
  const until = timeText(Number(facts['untilMs']));
  return { from: timeText(atMs), until, rows: Number(facts['rows']) };
}

function spanOf(
  filter: { readonly from?: string; readonly to?: string },
  position: CursorPosition | null,
  nowMs: number,
): { readonly fromMs: number; readonly beforeMs?: number } | Refusal {
  if (position !== null) return { fromMs: Number(position['f']), beforeMs: Number(position['b']) };
  const fromMs = filter.from === undefined ? FIRST_MS : parseInstant(filter.from, nowMs);
  const beforeMs = filter.to === undefined ? undefined : parseInstant(filter.to, nowMs);
  if (fromMs === null) return noInstant('from');
  if (beforeMs === null) return noInstant('to');
  return { fromMs, ...(beforeMs === undefined ? {} : { beforeMs }) };
}

function noInstant(name: string): Refusal {
  const errors = [{ pointer: `/query/${name}`, detail: 'there is no such instant' }];
  return refuse('schema_violation', 'The time cannot be used.', { errors });
}

/**
 * Cuts a page between two instants, since the store pages by instant: moves of one instant stay together unless they
 * alone fill the page.
 */
export function pageByInstant(
  rows: readonly TransitionRow[],
  limit: number,
): { readonly page: readonly TransitionRow[]; readonly nextBeforeMs: number | null } {
  const extra = rows[limit];
  if (extra === undefined) return { page: rows, nextBeforeMs: null };
  let end = limit;
  while (end > 0 && rows[end - 1]?.atMs === extra.atMs) end -= 1;
  const page = rows.slice(0, end === 0 ? limit : end);
  return { page, nextBeforeMs: page.at(-1)?.atMs ?? null };
}

/** The row is read only where an engine lacks something: its words stand there. */
// Since when an engine was degraded is known of the live one only.
function reasonsThen(entry: FleetEntry): Because[] {
  return reasonsOf(entry).map((one) =>
    one.code === 'engine_degraded' ? { ...one, since: null } : one,
  );
}

async function becauseOf({ fleet, registry }: FleetRouteDeps, id: string): Promise<Because[]> {
  const live = fleet.get(id);
  if (live === undefined) return [];
  const row = live.engine === 'degraded' ? await registry.getSensor(id) : null;
  return reasonsOf(live, row?.facts?.engine);
}

type AnyMove = Pick<TransitionRow, 'region' | 'from' | 'to' | 'event' | 'facts' | 'atMs'>;

function moveView(move: AnyMove): Type.Static<typeof Move> {
  return {
    region: move.region,
    from: move.from,
    to: move.to,
    event: move.event,
    facts: jsonSafe(move.facts) as Record<string, unknown>,
    at: timeText(move.atMs),
  };
}

function storedMoveView(row: TransitionRow): Type.Static<typeof StoredMove> {
  const { after } = row;
  return {
    ...moveView(row),
    kind: row.actorKind,
    after:
      after === null
        ? null
        : {
            value: jsonSafe(after.value),
            context: jsonSafe(after.context),
            timers: after.timers.map(timerView),
            machine: after.machine,
          },
  };
}
