// A rule tried on stored events: what it would have told, without telling anybody. Bounded in events; what was left out is
// said. decision: D131
import type { CompiledRule, SensorLabels } from '../../machines/detection/rule-compile.ts';
import { createRuleRun, type RuleFound } from '../../machines/detection/rule-run.ts';
import { BACKTEST_EVENTS_MAX, BACKTEST_SAMPLES_MAX } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { type Arrivals, arrivalsFor } from './rule-replay.ts';

export type BacktestSample = {
  readonly sensorId: string;
  readonly group: Readonly<Record<string, string>>;
  readonly eventIds: readonly string[];
  readonly last: StoredEvent;
};
export type BacktestResult = {
  /** How often it would have found something. */
  readonly findings: number;
  /** Events in what was found. */
  readonly matched: number;
  /** Alerts, when nobody resolves one. */
  readonly alerts: number;
  readonly sensors: readonly { readonly sensorId: string; readonly findings: number }[];
  /** Findings in each part of the range, by the time of receipt. */
  readonly bars: readonly { readonly fromMs: number; readonly findings: number }[];
  readonly samples: readonly BacktestSample[];
  /** Events that were judged; of those that its conditions let through at all. */
  readonly judged: number;
  readonly isTruncated: boolean;
  readonly tookMs: number;
  /** Of them inside the rule. */
  readonly costMs: number;
};

/** Tries a rule on what was received from `fromMs` and before `toMs`. Rejects as the event store does. */
export async function backtest(
  deps: {
    readonly events: Arrivals;
    readonly labelsOf: (sensorId: string) => SensorLabels;
    readonly monotonicNow: () => number;
  },
  rule: CompiledRule,
  range: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly bars: number;
    readonly signal?: AbortSignal | undefined;
    readonly onFound?: (found: RuleFound) => void;
  },
): Promise<BacktestResult> {
  const beganMs = deps.monotonicNow();
  const run = createRuleRun(rule);
  const told = createTally(rule, range);
  let [judged, costMs, isTruncated] = [0, 0, false];
  for await (const page of arrivalsFor(deps.events, rule, range)) {
    const fromMs = deps.monotonicNow();
    for (const event of page) {
      const found = run.take(event, deps.labelsOf(event.sensor_id));
      if (found === null) continue;
      told.add(found);
      range.onFound?.(found);
    }
    judged += page.length;
    costMs += deps.monotonicNow() - fromMs;
    isTruncated = judged >= BACKTEST_EVENTS_MAX;
    if (isTruncated) break;
  }
  const tookMs = deps.monotonicNow() - beganMs;
  return { ...told.result(), judged, isTruncated, tookMs, costMs };
}

function createTally(
  { spec }: CompiledRule,
  { fromMs, toMs, bars }: { readonly fromMs: number; readonly toMs: number; readonly bars: number },
) {
  const stepMs = Math.max(1, Math.ceil((toMs - fromMs) / bars));
  const counts = Array.from({ length: bars }, () => 0);
  const sensors = new Map<string, number>();
  const keys = new Set<string>();
  const samples: BacktestSample[] = [];
  let [findings, matched] = [0, 0];
  return {
    add(found: RuleFound) {
      const { sensorId, key, group, events, last } = found;
      findings += 1;
      matched += events.length;
      sensors.set(sensorId, (sensors.get(sensorId) ?? 0) + 1);
      keys.add(spec.across === 'fleet' ? key : `${sensorId} ${key}`);
      const bar = Math.floor((Date.parse(last.received_at) - fromMs) / stepMs);
      counts[bar] = (counts[bar] ?? 0) + 1;
      if (samples.length >= BACKTEST_SAMPLES_MAX) return;
      samples.push({ sensorId, group, eventIds: events.map(({ id }) => id), last });
    },
    result: () => ({
      ...{ findings, matched, alerts: keys.size, samples },
      sensors: [...sensors]
        .map(([sensorId, count]) => ({ sensorId, findings: count }))
        .sort((a, b) => b.findings - a.findings || (a.sensorId < b.sensorId ? -1 : 1)),
      bars: counts.map((count, place) => ({ fromMs: fromMs + place * stepMs, findings: count })),
    }),
  };
}
