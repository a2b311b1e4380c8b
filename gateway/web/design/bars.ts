// Counts over time as bars, their severities one above the other.
import type { Severity } from '../../../machines/wire/event.ts';
import { SEVERITIES } from '../../../machines/wire/words.ts';

export type Bar = {
  readonly at: string;
  readonly total: number;
  /** From the weightiest down, which stands on the ground. */
  readonly parts: readonly { readonly severity: Severity; readonly events: number }[];
};
type Counted = { readonly at: string; readonly severity: Severity; readonly events: number };
export type BarSpan = { readonly fromMs: number; readonly toMs: number; readonly stepMs: number };

/** A bar for every step of the range, those without events too. */
export function barsIn(
  { fromMs, toMs, stepMs }: BarSpan,
  items: readonly Counted[],
): readonly Bar[] {
  const steps = Math.max(1, Math.ceil((toMs - fromMs) / stepMs));
  const bars = Array.from({ length: steps }, (_, step) => ({
    at: new Date(fromMs + step * stepMs).toISOString(),
    counts: new Map<Severity, number>(),
  }));
  for (const { at, severity, events } of items) {
    const counts = bars[Math.floor((Date.parse(at) - fromMs) / stepMs)]?.counts;
    counts?.set(severity, (counts.get(severity) ?? 0) + events);
  }
  return bars.map(({ at, counts }) => {
    const parts = [...SEVERITIES].reverse().flatMap((severity) => {
      const events = counts.get(severity) ?? 0;
      return events === 0 ? [] : [{ severity, events }];
    });
    return { at, parts, total: parts.reduce((sum, { events }) => sum + events, 0) };
  });
}
