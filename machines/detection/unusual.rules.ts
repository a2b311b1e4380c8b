// Why an event is unusual: each respect in which its programs have habits, what the event showed there, and what is usual
// there by the baselines that the node told. The score itself is the node's. decision: D147
import type { Baseline } from '../wire/baseline.ts';
import type { RuntimeEvent } from '../wire/event.ts';
import { type Dimension, deedsOf } from './deeds.ts';

const NAMED_MAX = 5;
const USUAL_SHARE_MIN = 0.05;

export type Respect = {
  readonly binary: string;
  readonly dimension: Dimension;
  /** What the event showed. */
  readonly value: string;
  /** Null: nothing is known of this program. */
  readonly isLearned: boolean | null;
  /** The part of what was seen in this respect that was the same, from 0 to 1; null: nothing was seen. */
  readonly share: number | null;
  readonly isUnusual: boolean;
  readonly usual: readonly { readonly name: string; readonly share: number }[];
};

/** The programs whose habits an event says something of. */
export function programsOf(event: RuntimeEvent): readonly string[] {
  return [...new Set(deedsOf(event, atMsOf(event)).map(({ binary }) => binary))];
}

/** Every respect of an event, what is unusual first. */
export function respectsOf(
  event: RuntimeEvent,
  baselines: ReadonlyMap<string, Baseline>,
): readonly Respect[] {
  return deedsOf(event, atMsOf(event))
    .map(({ binary, dimension, value }): Respect => {
      const baseline = baselines.get(binary);
      const of = { binary, dimension, value };
      if (baseline === undefined) {
        return { ...of, isLearned: null, share: null, isUnusual: false, usual: [] };
      }
      const weights = weightsIn(baseline, dimension);
      const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
      const own = weights.find(([name]) => name === value)?.[1] ?? 0;
      const share = total === 0 ? null : own / total;
      return {
        ...{ ...of, isLearned: baseline.is_warm, share },
        isUnusual: baseline.is_warm && share !== null && share < USUAL_SHARE_MIN,
        usual: weights
          .toSorted(([, a], [, b]) => b - a)
          .slice(0, NAMED_MAX)
          .map(([name, weight]) => ({ name, share: total === 0 ? 0 : weight / total })),
      };
    })
    .sort((a, b) => Number(b.isUnusual) - Number(a.isUnusual));
}

function weightsIn(baseline: Baseline, dimension: Dimension): (readonly [string, number])[] {
  if (dimension !== 'hours') return baseline[dimension].map(({ name, weight }) => [name, weight]);
  return baseline.hours
    .map((weight, hour) => [String(hour), weight] as const)
    .filter(([, weight]) => weight > 0);
}

function atMsOf({ observed_at }: RuntimeEvent): number {
  const ms = Date.parse(observed_at);
  return Number.isFinite(ms) ? ms : 0;
}
