// One rule as it runs: events go in, in the order in which they became durable, and what they complete comes out. It knows
// no clock: everything follows from the events and their order, so that stored events tell what live ones told.
// decision: D131; invariant: I8, I10
import type { StoredEvent } from '../wire/event.ts';
import type { CompiledRule, SensorLabels } from './rule-compile.ts';
import type { RuleFound } from './rule-found.ts';
import { kindOf } from './rule-kinds/kinds.ts';

export type RuleRun = {
  /** Takes one event; `isCounted`: an alert of this rule counted it before. Never throws. */
  take(event: StoredEvent, labels: SensorLabels, isCounted?: boolean): RuleFound | null;
};

/** Begins a run that has seen nothing. `isResumed`: it goes on where another ended, so nothing is absent before it was seen. */
export function createRuleRun(
  rule: CompiledRule,
  { isResumed = false }: { readonly isResumed?: boolean } = {},
): RuleRun {
  const { detect } = rule.spec;
  const { seesAll } = kindOf(detect);
  const judge = kindOf(detect).judge(rule, detect, isResumed);
  return {
    take(event, labels, isCounted = false) {
      if (rule.kinds !== null && !rule.kinds.has(event.event_kind)) return null;
      // Most events are none of the rule's: times are read of the others alone.
      if (!seesAll && !rule.tests.some((test) => test(event))) return null;
      if (!rule.isMeant(labels)) return null;
      const atMs = Date.parse(event.observed_at);
      if (Date.parse(event.received_at) >= rule.expiresAtMs) return null;
      if (rule.isSilenced(event.sensor_id, labels, atMs)) return null;
      return judge(event, atMs, isCounted);
    },
  };
}
