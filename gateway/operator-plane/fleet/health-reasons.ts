// Why a sensor is judged as it is, as the operator API, the live channel and the page tell it: each reason with since when
// it holds and the facts it was concluded from. decision: D14, D52
import Type from 'typebox';
import type { FleetEntry } from '../../../actors/fleet/fleet-live-view.ts';
import { HEALTH_REASONS, type HealthReason } from '../../../machines/trust/health.rules.ts';
import { Nullable, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

/** The engine never moves the health; what it lacks is told beside. decision: D52 */
export const BECAUSE_CODES = [...HEALTH_REASONS, 'engine_degraded'] as const;

export const Because = Type.Object({
  code: Type.Enum([...BECAUSE_CODES]),
  since: Nullable(Time),
  facts: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What it was concluded from; names that end in `_at` hold times',
  }),
});
export type Because = Type.Static<typeof Because>;

/** Every reason of an entry. `engine`: what its last heartbeat said of the engine, where the reader has it at hand. */
export function reasonsOf(
  entry: Pick<FleetEntry, 'because' | 'engine' | 'engine_since_ms'>,
  engine: unknown = null,
): Because[] {
  const own = entry.because.map(reasonView);
  if (entry.engine !== 'degraded') return own;
  const since = timeText(entry.engine_since_ms);
  return [...own, { code: 'engine_degraded', since, facts: engineFacts(engine) }];
}

/** That a revocation is the reason, whatever an actor knows of it. */
export function revokedBecause(atMs: number, reason: string | null): Because {
  return {
    ...{ code: 'revoked', since: timeText(atMs) },
    facts: { revoked_at: timeText(atMs), reason },
  };
}

function reasonView({ code, sinceMs, facts }: HealthReason): Because {
  const told = Object.entries(facts).map(([name, value]) => [
    name,
    name.endsWith('_at') && typeof value === 'number' ? timeText(value) : value,
  ]);
  return { code, since: timeTextOrNull(sinceMs), facts: Object.fromEntries(told) };
}

type Hook = { readonly hook?: unknown; readonly reason?: unknown; readonly missing?: unknown };

function engineFacts(engine: unknown): Because['facts'] {
  if (typeof engine !== 'object' || engine === null) return {};
  const { kind, disabled_hooks: hooks } = engine as Readonly<Record<string, unknown>>;
  const missing = (Array.isArray(hooks) ? (hooks as readonly Hook[]) : [])
    .filter((one) => one.missing === true)
    .map(({ hook, reason }) => ({ hook, reason }));
  return { engine_kind: kind ?? null, missing_hooks: missing };
}
