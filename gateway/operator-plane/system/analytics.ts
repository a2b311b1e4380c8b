// The resource `analytics` of the system: how the database of events fares, as this Console saw it last. decision: D155
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Gauge, type Registry } from '@prometheus-io/client';
import Type from 'typebox';
import type { AnalyticsWatch } from '../../../actors/telemetry/analytics-watch.ts';
import {
  ANALYTICS_FINDINGS,
  FINDING_WORDS,
} from '../../../machines/console/telemetry/analytics-health.rules.ts';
import { Nullable, refusals, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

const Count = Nullable(Type.Number());
export const AnalyticsHealthAnswer = Type.Object({
  state: Type.String({ description: 'unknown, healthy, degraded or away' }),
  since: Time,
  looked_at: Nullable(Time),
  findings: Type.Array(
    Type.Object({ code: Type.Enum([...ANALYTICS_FINDINGS]), text: Type.String() }),
  ),
  ping_ms: Count,
  insert_ms: Count,
  query_ms: Count,
  parts: Count,
  parts_in_one_partition: Count,
  merges: Count,
  longest_merge_ms: Count,
  disk_free_bytes: Count,
  disk_total_bytes: Count,
  queued_rows: Count,
});
export type AnalyticsHealthAnswer = Type.Static<typeof AnalyticsHealthAnswer>;

/** The route; `system:read` sees. */
export function analyticsRoutes(watch: AnalyticsWatch): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/system/analytics', {
      config: { guard: { scope: 'system:read' } },
      schema: {
        operationId: 'getAnalyticsHealth',
        summary: 'How the database of events fares: latency, parts, merges, disk',
        tags: ['system'],
        response: { 200: AnalyticsHealthAnswer, ...refusals(401, 403, 429) },
      },
      handler: async () => answerOf(watch),
    });
  };
}

function answerOf(watch: AnalyticsWatch): AnalyticsHealthAnswer {
  const { value, context } = watch.snapshot();
  const { last, findings } = context;
  return {
    state: value,
    since: timeText(watch.sinceMs()),
    looked_at: timeTextOrNull(last?.atMs),
    findings: findings.map((code) => ({ code, text: FINDING_WORDS[code] })),
    ping_ms: last?.pingMs ?? null,
    insert_ms: last?.insertMs ?? null,
    query_ms: last?.queryMs ?? null,
    parts: last?.parts ?? null,
    parts_in_one_partition: last?.partsMost ?? null,
    merges: last?.merges ?? null,
    longest_merge_ms: last?.longestMergeMs ?? null,
    disk_free_bytes: last?.diskFreeBytes ?? null,
    disk_total_bytes: last?.diskTotalBytes ?? null,
    queued_rows: last?.queuedRows ?? null,
  };
}

/** Declares the metrics. */
export function measureAnalytics(registry: Registry, watch: AnalyticsWatch): void {
  const gauge = (name: string, help: string, read: () => number | null | undefined): void => {
    new Gauge({
      ...{ name, help, registers: [registry] },
      collect() {
        const value = read();
        if (value !== null && value !== undefined) this.set(value);
      },
    });
  };
  const last = () => watch.snapshot().context.last;
  gauge('service_analytics_healthy', '1 while the database of events is healthy.', () =>
    watch.snapshot().value === 'healthy' ? 1 : 0,
  );
  gauge('service_analytics_ping_seconds', 'How long its last ping took.', () =>
    seconds(last()?.pingMs),
  );
  gauge('service_analytics_insert_seconds', 'How long its last probe insert took.', () =>
    seconds(last()?.insertMs),
  );
  gauge('service_analytics_query_seconds', 'How long its last probe question took.', () =>
    seconds(last()?.queryMs),
  );
  gauge('service_analytics_parts', 'Active parts of its tables.', () => last()?.parts);
  gauge('service_analytics_merges', 'Merges that run.', () => last()?.merges);
  gauge('service_analytics_disk_free_bytes', 'What is free of its fullest disk.', () => {
    return last()?.diskFreeBytes;
  });
}

function seconds(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : ms / 1_000;
}
