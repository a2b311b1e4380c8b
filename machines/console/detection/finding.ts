// What whoever found something hands over: an alert as it would be when it is new, and the matches that it is made of. A
// match has a name that is its rule's alone, so that the same match handed over again counts once. decision: D130
import type { Alert } from '../delivery/alert.ts';
import type { MatchedFacts } from './alert.machine.ts';

export type FoundMatch = {
  /** Of an event its id; of anything else a name that says which occurrence it is. */
  readonly matchId: string;
  readonly isEvent: boolean;
  /** When it happened. */
  readonly atMs: number;
};

export type Finding = {
  /** Its id is used when it is a new one; its `dedupKey` says of which alert it would be one more match. */
  readonly alert: Alert;
  /** At least one. */
  readonly matches: readonly FoundMatch[];
  /** What it is grouped by, for people. */
  readonly group: Readonly<Record<string, string>>;
  /** How long after it was resolved a match is still counted there. */
  readonly quietMs: number;
  /** Webhooks are told of further matches, too. */
  readonly isToldAgain: boolean;
};

/** What is counted of some matches; null without any. */
export function matchedOf({ alert }: Finding, matches: readonly FoundMatch[]): MatchedFacts | null {
  if (matches.length === 0) return null;
  let [firstAtMs, lastAtMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { atMs } of matches) {
    firstAtMs = Math.min(firstAtMs, atMs);
    lastAtMs = Math.max(lastAtMs, atMs);
  }
  const eventIds = matches.filter(({ isEvent }) => isEvent).map(({ matchId }) => matchId);
  return { count: matches.length, firstAtMs, lastAtMs, severity: alert.severity, eventIds };
}

/** A finding of something that happened once and is no event, with the name of that occurrence. */
export function findingOf(
  alert: Alert,
  occurrence: string,
  more: Partial<Pick<Finding, 'group' | 'quietMs' | 'isToldAgain'>> = {},
): Finding {
  return {
    ...{ alert, group: {}, quietMs: 0, isToldAgain: false },
    matches: [{ matchId: occurrence, isEvent: false, atMs: alert.occurredAtMs }],
    ...more,
  };
}
