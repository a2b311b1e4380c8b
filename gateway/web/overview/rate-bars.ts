// What is drawn of the rate of events: a bar for every step, its severities one above the other.
import { SEVERITIES, type Severity } from '../../../machines/wire/event.ts';
import type { EventRate } from '../api/contract.ts';

export type Bar = {
  readonly at: string;
  readonly total: number;
  /** From the weightiest down, which stands on the ground. */
  readonly parts: readonly { readonly severity: Severity; readonly events: number }[];
};

/** Every step of the range, those without events too. */
export function barsOf({ from, to, step_seconds, items }: EventRate): readonly Bar[] {
  const [fromMs, stepMs] = [Date.parse(from), step_seconds * 1_000];
  const steps = Math.max(1, Math.ceil((Date.parse(to) - fromMs) / stepMs));
  const bars = Array.from({ length: steps }, (_, step) => ({
    at: new Date(fromMs + step * stepMs).toISOString(),
    counts: new Map<Severity, number>(),
  }));
  for (const { at, severity, events } of items) {
    bars[Math.floor((Date.parse(at) - fromMs) / stepMs)]?.counts.set(severity, events);
  }
  return bars.map(({ at, counts }) => {
    const parts = [...SEVERITIES].reverse().flatMap((severity) => {
      const events = counts.get(severity) ?? 0;
      return events === 0 ? [] : [{ severity, events }];
    });
    return { at, parts, total: parts.reduce((sum, { events }) => sum + events, 0) };
  });
}

/** How many there were of each severity in the whole range, the weightiest first. */
export function totalsOf({ items }: Pick<EventRate, 'items'>) {
  return [...SEVERITIES].reverse().map((severity) => ({
    severity,
    events: items
      .filter((one) => one.severity === severity)
      .reduce((sum, { events }) => sum + events, 0),
  }));
}
