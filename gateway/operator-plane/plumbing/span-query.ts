// The time span of a question about what heartbeats told: the last day unless it says otherwise.
import Type from 'typebox';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import type { TimeSpan } from '../../../storage/ports/telemetry/telemetry-store.ts';
import { INSTANT_PATTERN, parseInstant } from './time-range.ts';

const HOUR_MS = 3_600_000;
const Instant = (fallback: string) =>
  Type.Optional(
    Type.String({
      pattern: INSTANT_PATTERN,
      maxLength: 40,
      default: fallback,
      description: 'RFC 3339, or relative: now-1h',
    }),
  );
export const SpanQuery = { from: Instant('now-24h'), to: Instant('now') };

/** Milliseconds of the span; `to` is exclusive, and now is in it. */
export function spanOf(
  query: { readonly from?: string; readonly to?: string },
  nowMs: number,
): ({ readonly ok: true } & TimeSpan) | Refusal {
  const fromMs = parseInstant(query.from ?? 'now-24h', nowMs);
  const toMs = parseInstant(query.to ?? 'now', nowMs);
  const errors = [
    ...(fromMs === null ? [{ pointer: '/query/from', detail: 'there is no such instant' }] : []),
    ...(toMs === null ? [{ pointer: '/query/to', detail: 'there is no such instant' }] : []),
  ];
  if (fromMs === null || toMs === null) {
    return refuse('schema_violation', 'The time range cannot be used.', { errors });
  }
  return { ok: true, fromMs, toMs: toMs + 1 };
}

/** The same, widened to whole hours: an hour is asked for by any instant in it. */
export function wholeHours({ fromMs, toMs }: TimeSpan): TimeSpan {
  return {
    fromMs: Math.floor(fromMs / HOUR_MS) * HOUR_MS,
    toMs: Math.ceil(toMs / HOUR_MS) * HOUR_MS,
  };
}
