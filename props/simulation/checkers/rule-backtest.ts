// A backtest of what is stored tells what was told live, over crashes, repeats and late events. The rule is run again over
// the stored order of arrival, as a backtest runs it, and finds the events that the alerts count. Excuses: a rule that was
// changed, two Consoles that share a sensor, a store that forgot, a clock that was set, events that came more than an hour
// late, which may miss their window after a restart, events that no Console told their node to have, and windows over a batch that was stored twice: of its two places the
// store tells the later one, and what came between them was judged after it. decision: D131, D165
import { compileRule } from '../../../machines/detection/rule-compile.ts';
import { createRuleRun } from '../../../machines/detection/rule-run.ts';
import type { KeptRule } from '../world/observation.ts';
import { countedBy } from './alert-counts.ts';
import type { CheckerKind } from './checker.ts';
import { type DurableEvent, durableEventsOf, storingMs } from './durable-events.ts';
import { isMeant, keptRulesOf, pauseOf } from './kept-rules.ts';

const LATE_MS = 30 * 60_000;
const STORED_LATE_MS = 30_000;
const LABELS = { tags: [], groupIds: [], role: null };
const HAS_EVENTS: ReadonlySet<string> = new Set(['match', 'count', 'sequence']);

export const ruleBacktest: CheckerKind = {
  name: 'rule-backtest',
  promise: 'A backtest over the stored order of arrival tells what was told live.',
  make(fleet, report) {
    const events = durableEventsOf(fleet);
    const rules = keptRulesOf(fleet);

    function isComparable(): boolean {
      if (fleet.consoles.length > 1 || events.hasForgotten() || events.hasJumped()) return false;
      const newest = new Map<string, number>();
      return events.arrived().every((one: DurableEvent) => {
        const newestMs = Math.max(newest.get(one.sensor) ?? 0, one.observedMs);
        newest.set(one.sensor, newestMs);
        const isInTime = newestMs - one.observedMs < LATE_MS && storingMs(one) < STORED_LATE_MS;
        return isInTime && events.wasAcknowledged(one.id);
      });
    }

    /** Whether the store tells something behind what it was judged before. */
    function isMoved(rule: KeptRule): boolean {
      const newest = new Map<string, number>();
      const places = new Map<string, number>();
      return events.receipts().some((one) => {
        if (!isMeant(rule, one)) return false;
        const before = places.get(one.id);
        places.set(one.id, one.receivedMs);
        const newestMs = newest.get(one.sensor) ?? 0;
        newest.set(one.sensor, Math.max(newestMs, one.receivedMs));
        return before !== undefined && before !== one.receivedMs && newestMs > before;
      });
    }

    function foundAgain(ruleId: string): ReadonlySet<string> {
      const { relational, analytics } = fleet.stores;
      const row = relational.rules.list().find((one) => one.ruleId === ruleId);
      const compiled = row === undefined ? null : compileRule(ruleId, row.spec);
      if (row === undefined || compiled?.ok !== true) return new Set();
      const run = createRuleRun(compiled.rule);
      const arrived = analytics.rows.calls.arrivals({
        ...{ receivedFromMs: row.activeSinceMs, receivedToMs: Number.MAX_SAFE_INTEGER },
        limit: Number.MAX_SAFE_INTEGER,
      });
      const found = arrived.events.flatMap((event) => run.take(event, LABELS)?.events ?? []);
      return new Set(found.map(({ id }) => id));
    }

    return {
      finish() {
        if (fleet.keepers === 0 || !isComparable()) return;
        for (const { rule, words } of rules.values()) {
          const isChanged = words.some(({ muted }) => muted !== null);
          if (!HAS_EVENTS.has(rule.detects) || isChanged) continue;
          if (pauseOf(fleet, rule.id) !== null) continue;
          if (rule.detects !== 'match' && isMoved(rule)) continue;
          const [again, live] = [foundAgain(rule.id), countedBy(fleet, rule.id)];
          // What waited in the queue when the rule was asked for is judged live, and was received before.
          const missed = [...again].filter((id) => !live.has(id));
          if (missed.length > 0)
            report(`a backtest of ${rule.id} finds ${missed[0]} and ${missed.length - 1} more`);
          if (rule.detects !== 'match' && live.size !== again.size)
            report(`live ${rule.id} counted ${live.size}, and a backtest finds ${again.size}`);
        }
      },
    };
  },
};
