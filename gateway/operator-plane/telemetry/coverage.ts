// Coverage: of what a sensor's node produced, the share that the Console has, and where the rest was lost. By hour for one
// sensor, as sums for the fleet. decision: D48; invariant: I19

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { refuse } from '../../../machines/errors.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { LOSS_PLACES } from '../../../machines/wire/loss.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SettledCounts } from '../../../storage/ports/telemetry/telemetry-store.ts';
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
import { SpanQuery, spanOf, wholeHours } from '../plumbing/span-query.ts';
import { timeText } from '../plumbing/time-range.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

const Losses = Type.Object({
  kernel_lost: Type.Integer(),
  engine_lost: Type.Integer(),
  reader_skipped: Type.Integer(),
  pipeline_dropped: Type.Integer(),
  spool_discarded: Type.Integer(),
  console_refused: Type.Integer(),
});
const Coverage = {
  seen: Type.Integer({ description: 'events that the Console confirmed' }),
  lost: Type.Integer({ description: 'the sum of `losses`' }),
  coverage: Nullable(
    Type.Number({ description: 'seen / (seen + lost); null when there was nothing' }),
  ),
  losses: Losses,
};
export const CoverageHour = Type.Object({ hour: Time, ...Coverage });
export const SensorCoverage = Type.Object({
  sensor_id: Uuid,
  from: Time,
  to: Time,
  ...Coverage,
  hours: Type.Array(CoverageHour),
});
export const FleetCoverage = Type.Object({ sensor_id: Uuid, ...Coverage });
export type CoverageHour = Type.Static<typeof CoverageHour>;
export type SensorCoverage = Type.Static<typeof SensorCoverage>;
export type FleetCoverage = Type.Static<typeof FleetCoverage>;

const NOTHING: SettledCounts = {
  ...{ seen: 0, kernel_lost: 0, engine_lost: 0, reader_skipped: 0 },
  ...{ pipeline_dropped: 0, spool_discarded: 0, console_refused: 0 },
};

export function coverageRoutes(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await sensorCoverageRoute(deps)(app, {});
    await fleetCoverageRoute(deps)(app, {});
  };
}

function sensorCoverageRoute(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/sensors/:id/coverage', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'getSensorCoverage',
        summary: 'What of a sensor reached the Console, and where the rest was lost, by hour',
        description: 'Hours are those of the node, in which the fate of an event was decided.',
        tags: ['sensors'],
        params: SensorPath,
        querystring: Strict(SpanQuery),
        response: { 200: SensorCoverage, ...refusals(401, 403, 404, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const span = spanOf(request.query, deps.now());
        if (!span.ok) return sendRefusal(reply, span);
        if ((await deps.registry.getSensor(id)) === null) {
          return sendRefusal(reply, refuse('not_found', 'There is no such sensor.'));
        }
        const whole = wholeHours(span);
        const rows = await withinDeadline(deps.telemetry.coverageOf({ sensorId: id, ...whole }));
        return {
          sensor_id: id,
          from: timeText(whole.fromMs),
          to: timeText(whole.toMs),
          ...coverageView(rows.reduce(plus, NOTHING)),
          hours: rows.map((row) => ({ hour: timeText(row.hourMs), ...coverageView(row) })),
        };
      },
    });
  };
}

function fleetCoverageRoute(deps: TelemetryRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/coverage', {
      config: { guard: { scope: 'sensors:read' } },
      schema: {
        operationId: 'listCoverage',
        summary: 'Coverage of every sensor over a span of time',
        description: 'Sensors that reported nothing in the span are not in the list.',
        tags: ['sensors'],
        querystring: Strict({ ...SpanQuery, ...PageQuery }),
        response: { 200: PageOf(FleetCoverage), ...refusals(401, 403, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor, ...filter } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open('coverage', filter, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        // A relative span is made absolute once: pages of one question look at one span.
        const span =
          opened === null
            ? spanOf(filter, deps.now())
            : {
                ok: true as const,
                fromMs: Number(opened.position['f']),
                toMs: Number(opened.position['t']),
              };
        if (!span.ok) return sendRefusal(reply, span);
        const { fromMs, toMs } = wholeHours(span);
        const rows = await withinDeadline(
          deps.telemetry.coverageOfFleet({
            ...{ fromMs, toMs, limit: limit + 1 },
            afterSensorId: opened === null ? null : String(opened.position['s']),
          }),
        );
        const page = rows.slice(0, limit);
        const last = page.at(-1);
        const items = page.map((row) => ({ sensor_id: row.sensorId, ...coverageView(row) }));
        const next =
          rows.length > limit && last !== undefined
            ? deps.cursors.seal('coverage', filter, { f: fromMs, t: toMs, s: last.sensorId })
            : null;
        return pageOf(reply, items, next);
      },
    });
  };
}

function coverageView(counts: SettledCounts) {
  const { kernel_lost, engine_lost, reader_skipped, pipeline_dropped } = counts;
  const { seen, spool_discarded, console_refused } = counts;
  const lost = LOSS_PLACES.reduce((sum, place) => sum + counts[place], 0);
  return {
    ...{ seen, lost },
    coverage: seen + lost === 0 ? null : seen / (seen + lost),
    losses: {
      ...{ kernel_lost, engine_lost, reader_skipped, pipeline_dropped },
      ...{ spool_discarded, console_refused },
    },
  };
}

function plus(sum: SettledCounts, more: SettledCounts): SettledCounts {
  const counts = { seen: sum.seen + more.seen } as Record<keyof SettledCounts, number>;
  for (const place of LOSS_PLACES) counts[place] = sum[place] + more[place];
  return counts;
}
