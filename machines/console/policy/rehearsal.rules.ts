// What a pack that only monitors matched, and what it would have stopped had it been enforced: counted from the events that
// its policies left, by policy and sensor. decision: D125
import { MONITORED_TAG } from '../../wire/event.ts';

/** Events of one policy on one sensor with one action. */
export type PolicyMatch = {
  readonly sensorId: string;
  readonly policy: string;
  readonly action: string;
  readonly events: number;
  readonly lastAtMs: number;
};
export type RehearsedSensor = {
  readonly sensorId: string;
  readonly matched: number;
  readonly wouldHaveActed: number;
  readonly lastAtMs: number;
};
export type RehearsedPolicy = {
  readonly name: string;
  readonly matched: number;
  readonly wouldHaveActed: number;
  /** Such as `sigkill`: how often the policy would have done it. */
  readonly acts: Readonly<Record<string, number>>;
  readonly lastAtMs: number | null;
  /** Those with most of what would have been stopped first. */
  readonly sensors: readonly RehearsedSensor[];
};

/** What a policy would have done; null when an event says that it only matched, or that it did it. */
export function actInStore(action: string): string | null {
  return action.startsWith(MONITORED_TAG) ? action.slice(MONITORED_TAG.length) : null;
}

/** Every policy of the pack, those without any match too, in the order of their names. */
export function rehearsedOf(
  names: readonly string[],
  matches: readonly PolicyMatch[],
): readonly RehearsedPolicy[] {
  const byPolicy = Map.groupBy(matches, ({ policy }) => policy);
  return [...names].sort().map((name) => policyOf(name, byPolicy.get(name) ?? []));
}

function policyOf(name: string, matches: readonly PolicyMatch[]): RehearsedPolicy {
  const acts: Record<string, number> = {};
  for (const { action, events } of matches) {
    const act = actInStore(action);
    if (act !== null) acts[act] = (acts[act] ?? 0) + events;
  }
  const sensors = [...Map.groupBy(matches, ({ sensorId }) => sensorId)].map(([sensorId, own]) => ({
    sensorId,
    ...summed(own),
  }));
  sensors.sort(
    (a, b) =>
      b.wouldHaveActed - a.wouldHaveActed ||
      b.matched - a.matched ||
      (a.sensorId < b.sensorId ? -1 : 1),
  );
  const { matched, wouldHaveActed, lastAtMs } = summed(matches);
  return {
    ...{ name, matched, wouldHaveActed, acts, sensors },
    lastAtMs: matches.length === 0 ? null : lastAtMs,
  };
}

function summed(matches: readonly PolicyMatch[]) {
  let [matched, wouldHaveActed, lastAtMs] = [0, 0, 0];
  for (const { action, events, lastAtMs: at } of matches) {
    matched += events;
    if (actInStore(action) !== null) wouldHaveActed += events;
    lastAtMs = Math.max(lastAtMs, at);
  }
  return { matched, wouldHaveActed, lastAtMs };
}
