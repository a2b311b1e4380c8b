// A rule tried on stored events: what it would have told, without telling anybody. Bounded in events; what was left out is
// said. decision: D131
import type { CompiledRule, SensorLabels } from '../../machines/detection/rule-compile.ts';
import type { RuleFound } from '../../machines/detection/rule-found.ts';
import { createRuleRun } from '../../machines/detection/rule-run.ts';
import {
  BACKTEST_EVENTS_MAX,
  BACKTEST_SAMPLES_MAX,
  RULES_MOMENT_MS,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { Time } from '../../storage/ports/plumbing/clock.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import { type Arrivals, arrivalsFor } from './rule-replay.ts';

/** How often the clock is asked. */
const LOOK_EVENTS = 500;

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
    readonly events: Arrivals & Pick<EventStore, 'search'>;
    readonly labelsOf: (sensorId: string) => SensorLabels;
    readonly time: Pick<Time, 'monotonicNow' | 'setTimeout'>;
  },
  rule: CompiledRule,
  range: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly bars: number;
    readonly signal?: AbortSignal | undefined;
    /** Its last event has what the rule reads, and no more. */
    readonly onFound?: (found: RuleFound) => void;
  },
): Promise<BacktestResult> {
  const { monotonicNow } = deps.time;
  const beganMs = monotonicNow();
  const run = createRuleRun(rule);
  const told = createTally(rule, range);
  let [judged, costMs, sinceMs] = [0, 0, beganMs];
  const { fromMs, toMs, signal } = range;
  const asked = { fromMs, toMs, signal, triedMax: BACKTEST_EVENTS_MAX };
  for await (const page of arrivalsFor(deps.events, rule, asked)) {
    sinceMs = monotonicNow();
    for (const [place, event] of page.entries()) {
      const found = run.take(event, deps.labelsOf(event.sensor_id));
      if (found !== null) {
        told.add(found);
        range.onFound?.(found);
      }
      if (place % LOOK_EVENTS > 0 || monotonicNow() - sinceMs < RULES_MOMENT_MS) continue;
      costMs += monotonicNow() - sinceMs;
      await turnOfOthers(deps.time);
      sinceMs = monotonicNow();
    }
    judged += page.length;
    costMs += monotonicNow() - sinceMs;
  }
  const result = told.result();
  const samples = await withWhole(deps.events, result.samples, signal);
  const isTruncated = judged >= BACKTEST_EVENTS_MAX;
  return { ...result, samples, judged, isTruncated, tookMs: monotonicNow() - beganMs, costMs };
}

/** The gateway takes in what came meanwhile. */
function turnOfOthers({ setTimeout }: Pick<Time, 'setTimeout'>): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0));
}

/** Samples with every part of their events, of which the rule read only some. */
async function withWhole(
  events: Pick<EventStore, 'search'>,
  samples: readonly BacktestSample[],
  signal: AbortSignal | undefined,
): Promise<readonly BacktestSample[]> {
  if (samples.length === 0) return samples;
  const times = samples.map(({ last }) => Date.parse(last.observed_at));
  const found = await events.search({
    ...{ fromMs: Math.min(...times), toMs: Math.max(...times) + 1, limit: samples.length },
    condition: {
      is: 'all',
      of: (['sensor_id', 'event_id'] as const).map((field) => ({
        ...{ is: 'among', field },
        values: [...new Set(samples.map(({ last }) => last[field]))],
      })),
    },
    ...(signal === undefined ? {} : { signal }),
  });
  const keyOf = (event: StoredEvent) => `${event.sensor_id} ${event.event_id}`;
  const whole = new Map(found.map((event) => [keyOf(event), event]));
  return samples.map((one) => {
    const { received_at } = one.last;
    return { ...one, last: { ...one.last, ...whole.get(keyOf(one.last)), received_at } };
  });
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
