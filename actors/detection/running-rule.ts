// One rule of the store as it runs in this Console, with what it cost and found lately; what is too much for one rule is
// said here. decision: D131
import {
  type CompiledRule,
  compileRule,
  type SensorLabels,
} from '../../machines/detection/rule-compile.ts';
import type { RuleFound } from '../../machines/detection/rule-found.ts';
import { createRuleRun, type RuleRun } from '../../machines/detection/rule-run.ts';
import {
  RULE_COST_RATIO_MAX,
  RULE_COST_WINDOW_MS,
  RULE_LIVE_ALERTS_MAX,
  RULE_MATCHES_PER_MINUTE_MAX,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { RulePause, RuleRow } from '../../storage/ports/detection/rule-store.ts';

export type RuleCost = {
  /** Events that it looked at since this Console began with it. */
  readonly events: number;
  readonly costMs: number;
  /** Of the time of the last whole window, how much of a core it used. */
  readonly ratio: number;
};
export type RunningRule = {
  readonly row: RuleRow;
  readonly rule: CompiledRule;
  /** Judges events in their order; what it found. `counted`: those that its alerts counted before. */
  judge(
    events: readonly StoredEvent[],
    labelsOf: LabelsOf,
    counted?: ReadonlySet<string>,
  ): readonly RuleFound[];
  cost(): RuleCost;
  /** Why it has to be paused; null while it is within its budget. */
  excess(nowMs: number, liveAlerts?: number): Pick<RulePause, 'reason' | 'detail'> | null;
};
const NOTHING: ReadonlySet<string> = new Set();
export type LabelsOf = (sensorId: string) => SensorLabels;

/** Begins with a rule; null when it cannot be read. */
export function createRunningRule(
  row: RuleRow,
  deps: { readonly now: () => number; readonly monotonicNow: () => number },
  isResumed: boolean,
): RunningRule | null {
  const compiled = compileRule(row.ruleId, row.spec);
  if (!compiled.ok) return null;
  const { rule } = compiled;
  const run: RuleRun = createRuleRun(rule, { isResumed });
  const window = { sinceMs: deps.now(), costMs: 0, matches: 0, ratio: 0 };
  let [events, costMs] = [0, 0];
  return {
    row,
    rule,
    judge(batch, labelsOf, counted = NOTHING) {
      const beganMs = deps.monotonicNow();
      const found: RuleFound[] = [];
      for (const event of batch) {
        const isCounted = counted.has(event.event_id);
        const one = run.take(event, labelsOf(event.sensor_id), isCounted);
        if (one !== null) found.push(one);
      }
      const spentMs = deps.monotonicNow() - beganMs;
      events += batch.length;
      costMs += spentMs;
      window.costMs += spentMs;
      for (const one of found) window.matches += one.events.length;
      return found;
    },
    cost: () => ({ events, costMs, ratio: window.ratio }),
    excess(nowMs, liveAlerts = 0) {
      if (liveAlerts > RULE_LIVE_ALERTS_MAX) {
        const detail = `more than ${RULE_LIVE_ALERTS_MAX} of its alerts are open`;
        return { reason: 'too_many_alerts', detail };
      }
      if (window.matches > RULE_MATCHES_PER_MINUTE_MAX) {
        const detail = `more than ${RULE_MATCHES_PER_MINUTE_MAX} events a minute matched`;
        return { reason: 'too_many_matches', detail };
      }
      const passedMs = nowMs - window.sinceMs;
      if (passedMs >= 0 && passedMs < RULE_COST_WINDOW_MS) return null;
      window.ratio = window.costMs / Math.max(passedMs, RULE_COST_WINDOW_MS);
      Object.assign(window, { sinceMs: nowMs, costMs: 0, matches: 0 });
      if (window.ratio <= RULE_COST_RATIO_MAX) return null;
      const percent = Math.round(window.ratio * 100);
      return { reason: 'too_costly', detail: `it used ${percent} % of a core for a minute` };
    },
  };
}
