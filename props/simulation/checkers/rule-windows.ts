// Rules that count or wait for steps. At the end no window of a sensor is left with as many uncounted starts as the rule
// asks for, nor with a first step before a second one; and what is counted was counted in whole windows. Judged without
// the product's windows: by what is left over. With two Consoles a sensor's events may be spread over both, each of which
// counts its own. Excuses: as for `alert-counts`, and what arrived more than an hour apart. decision: D131, D165
import type { KeptRule } from '../world/observation.ts';
import { countedBy } from './alert-counts.ts';
import type { CheckerKind } from './checker.ts';
import { type DurableEvent, durableEventsOf } from './durable-events.ts';
import { isMeant, keptRulesOf, mustJudge, pauseOf } from './kept-rules.ts';

const HOUR_MS = 3_600_000;
/** So many waiting steps are kept. */
const STEPS_KEPT = 60;

export const ruleWindows: CheckerKind = {
  name: 'rule-windows',
  promise: 'A rule that counts or waits for steps leaves no whole window untold.',
  make(fleet, report) {
    const events = durableEventsOf(fleet);
    const rules = keptRulesOf(fleet);
    const isSingle = fleet.consoles.length === 1;
    // What comes again after it was forgotten is counted by name and waits anew.
    const isOnce = () => isSingle && !events.hasForgotten() && !events.hasJumped();

    return {
      finish() {
        for (const own of rules.values()) {
          const { rule } = own;
          if (rule.detects !== 'count' && rule.detects !== 'sequence') continue;
          const counted = countedBy(fleet, rule.id);
          const size = rule.detects === 'count' ? rule.threshold : rule.binaries.length;
          if (isOnce() && counted.size % size !== 0)
            report(`rule ${rule.id} counts ${counted.size} events, ${size} to a window`);
          if (!isSingle || pauseOf(fleet, rule.id) !== null) continue;
          const meant = events.arrived().filter((one) => isMeant(rule, one));
          for (const [sensor, all] of Map.groupBy(meant, (one) => one.sensor)) {
            const left = leftOver(
              rule,
              all,
              (one) => counted.has(one.id) || !mustJudge(own, events, one),
            );
            if (left.length === 0) continue;
            const ids = left.map(({ id, observedMs }) => `${id} at ${observedMs}`).join(', ');
            report(`rule ${rule.id} told nothing of ${ids} on ${sensor}`);
          }
        }
      },
    };
  },
};

/** The first whole window that nothing was told of; empty when there is none. */
function leftOver(
  rule: KeptRule,
  arrived: readonly DurableEvent[],
  isExcused: (one: DurableEvent) => boolean,
): readonly DurableEvent[] {
  let newestMs = Number.NEGATIVE_INFINITY;
  let free: DurableEvent[] = [];
  let steps = 0;
  for (const one of arrived) {
    newestMs = Math.max(newestMs, one.observedMs);
    const horizonMs = newestMs - 2 * rule.windowMs;
    free = free.filter(({ observedMs }) => observedMs >= horizonMs);
    if (one.observedMs < horizonMs) continue;
    steps += 1;
    if (isExcused(one)) continue;
    const near = free.filter(({ receivedMs }) => one.receivedMs - receivedMs < HOUR_MS);
    const found = rule.detects === 'count' ? countOf(rule, near, one) : stepsOf(rule, near, one);
    if (found.length > 0 && steps < STEPS_KEPT) return found;
    free.push(one);
  }
  return [];
}

function countOf(
  { threshold, windowMs }: KeptRule,
  free: readonly DurableEvent[],
  one: DurableEvent,
): readonly DurableEvent[] {
  const all = [...free, one].sort((a, b) => a.observedMs - b.observedMs);
  for (let at = 0; at + threshold <= all.length; at += 1) {
    const part = all.slice(at, at + threshold);
    const spanMs = (part.at(-1)?.observedMs ?? 0) - (part[0]?.observedMs ?? 0);
    if (part.includes(one) && spanMs <= windowMs) return part;
  }
  return [];
}

function stepsOf(
  { binaries, windowMs }: KeptRule,
  free: readonly DurableEvent[],
  one: DurableEvent,
): readonly DurableEvent[] {
  const [first, second] = binaries;
  const other = free.find((before) => {
    const [a, b] = one.started === second ? [before, one] : [one, before];
    const gapMs = b.observedMs - a.observedMs;
    return a.started === first && b.started === second && gapMs >= 0 && gapMs <= windowMs;
  });
  return other === undefined ? [] : [other, one];
}
