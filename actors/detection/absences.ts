// An absence is held against the store before it is told: events of one sensor may arrive at several Consoles, and each has
// judged only what came to it. What it missed is judged then, as if it had come here. decision: D131
import type { CompiledRule } from '../../machines/detection/rule-compile.ts';
import type { RuleFound } from '../../machines/detection/rule-found.ts';
import { RULE_LATE_MS } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { type Arrivals, meantFor } from './rule-replay.ts';
import type { LabelsOf, RunningRule } from './running-rule.ts';

type Deps = { readonly events: Arrivals; readonly labelsOf: LabelsOf };

/**
 * What of its kind the store has that a rule did not see before it called it absent; empty where it is absent indeed, and for
 * other findings. Rejects with StoreUnavailable.
 */
export async function seenElsewhere(
  deps: Deps,
  { rule }: RunningRule,
  found: RuleFound,
): Promise<readonly StoredEvent[]> {
  const { sinceMs } = found;
  if (sinceMs === null) return [];
  const missed = await missedOf(deps, rule, { found, sinceMs });
  return missed.some((event) => observedMs(event) <= sinceMs + rule.windowMs) ? missed : [];
}

/** Of its kind, observed since then, and received before the event that ended the wait. */
async function missedOf(
  { events, labelsOf }: Deps,
  rule: CompiledRule,
  { found, sinceMs }: { readonly found: RuleFound; readonly sinceMs: number },
): Promise<readonly StoredEvent[]> {
  const { last, sensorId } = found;
  const toMs = Date.parse(last.received_at);
  // A node whose clock is ahead was heard before the time that it tells.
  const aheadMs = Math.max(0, observedMs(last) - toMs);
  const labels = labelsOf(sensorId);
  if (!rule.isMeant(labels)) return [];
  const missed: StoredEvent[] = [];
  const range = { fromMs: sinceMs - aheadMs - RULE_LATE_MS, toMs, sensorId };
  for await (const page of meantFor(events, rule, range)) missed.push(...page);
  return missed.filter((event) => {
    const atMs = observedMs(event);
    return atMs > sinceMs && !rule.isSilenced(sensorId, labels, atMs);
  });
}

function observedMs({ observed_at }: StoredEvent): number {
  return Date.parse(observed_at);
}
