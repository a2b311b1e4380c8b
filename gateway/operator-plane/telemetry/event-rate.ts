// How many events there were over time, by severity: what the overview draws. decision: D96
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { SEVERITIES } from '../../../machines/wire/event.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { EventFilter, questionOf } from './event-query.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

const STEPS = 60;
const SPAN_DEFAULT = 'now-1h';
const SECOND_MS = 1_000;

const { order: _order, ...filter } = EventFilter.properties;
export const RateQuery = Strict(filter);
export const EventRate = Type.Object({
  from: Time,
  to: Time,
  step_seconds: Type.Integer({ description: 'how long each of the steps is, 60 at most' }),
  items: Type.Array(
    Type.Object({
      at: Time,
      severity: Type.Enum([...SEVERITIES]),
      events: Type.Integer({ description: 'each once; an estimate where there are very many' }),
    }),
    { description: 'steps and severities that had some' },
  ),
});

export function eventRateRoutes(
  deps: Pick<TelemetryRouteDeps, 'now' | 'cursors'> & {
    readonly events: Pick<EventStore, 'histogram'>;
  },
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/events/rate', {
      config: { guard: { scope: 'events:read' } },
      schema: {
        operationId: 'rateEvents',
        summary: 'How many runtime events there were over time, by severity',
        tags: ['events'],
        querystring: RateQuery,
        response: { 200: EventRate, ...refusals(401, 403, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const nowMs = deps.now();
        const asked = { from: SPAN_DEFAULT, ...request.query };
        const resolved = questionOf({
          ...{ filter: asked, cursor: undefined, cursors: deps.cursors, nowMs },
        });
        if (!resolved.ok) return sendRefusal(reply, resolved);
        const {
          fromMs = nowMs,
          toMs = nowMs,
          order: _unused,
          after: _none,
          ...only
        } = resolved.question;
        const untilMs = Math.max(toMs, fromMs);
        const stepMs = SECOND_MS * Math.max(1, Math.ceil((untilMs - fromMs) / STEPS / SECOND_MS));
        const found = await withinDeadline(
          deps.events.histogram({ ...only, fromMs, toMs: untilMs, bucketMs: stepMs }),
        );
        return {
          ...{ from: timeText(fromMs), to: timeText(untilMs), step_seconds: stepMs / SECOND_MS },
          items: found.flatMap(({ fromMs: atMs, bySeverity }) =>
            SEVERITIES.flatMap((severity) => {
              const { [severity]: events } = bySeverity;
              return events === undefined ? [] : [{ at: timeText(atMs), severity, events }];
            }),
          ),
        };
      },
    });
  };
}
