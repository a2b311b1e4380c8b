// What is drawn of the rate of events: a bar for every step, its severities one above the other.
import { SEVERITIES } from '../../../machines/wire/words.ts';
import type { EventRate } from '../api/contract.ts';
import { type Bar, barsIn } from '../design/bars.ts';

/** Every step of the range, those without events too. */
export function barsOf({ from, to, step_seconds, items }: EventRate): readonly Bar[] {
  const span = { fromMs: Date.parse(from), toMs: Date.parse(to), stepMs: step_seconds * 1_000 };
  return barsIn(span, items);
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
