// What the parts of the engine share: what they are given, and findings of a rule as the inbox takes them. decision: D131
import type { Finding } from '../../machines/console/detection/finding.ts';
import { findingOfRule } from '../../machines/console/detection/rule-alert.ts';
import type { CompiledRule } from '../../machines/detection/rule-compile.ts';
import type { RuleFound } from '../../machines/detection/rule-found.ts';
import type { AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { RulePause, RuleRow, RuleStore } from '../../storage/ports/detection/rule-store.ts';
import type { SinkFloors } from '../../storage/ports/siem/sink-floors.ts';
import type { Chance } from '../trust/chance.ts';
import type { Alerts } from './alerts.ts';
import type { Arrivals } from './rule-replay.ts';
import type { LabelsOf } from './running-rule.ts';

export type RuleDeps = {
  readonly rules: Pick<RuleStore, 'list' | 'cursor' | 'advance' | 'cursors' | 'dropCursor'>;
  readonly events: Arrivals;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly inbox: Pick<AlertStore, 'counted' | 'liveByRule'>;
  /** Where nothing that was received before appears any more. */
  readonly horizon: SinkFloors['horizon'];
  readonly labelsOf: LabelsOf;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** Pauses a rule and says so. */
  readonly pause: (row: RuleRow, why: Pick<RulePause, 'reason' | 'detail'>) => Promise<void>;
};

export function findingsOf(
  { chance, labelsOf }: Pick<RuleDeps, 'chance' | 'labelsOf'>,
  rule: CompiledRule,
  found: readonly RuleFound[],
): readonly Finding[] {
  return found.map((one) =>
    findingOfRule(rule, one, { alertId: chance.newId(), labels: labelsOf(one.sensorId) }),
  );
}

/** Findings of one alert as one: many matches are written at once. */
export function joined(found: readonly Finding[]): readonly Finding[] {
  const byKey = new Map<
    string,
    { readonly first: Finding; readonly matches: Finding['matches'][] }
  >();
  for (const one of found) {
    const before = byKey.get(one.alert.dedupKey);
    if (before === undefined) byKey.set(one.alert.dedupKey, { first: one, matches: [one.matches] });
    else before.matches.push(one.matches);
  }
  return [...byKey.values()].map(({ first, matches }) => ({ ...first, matches: matches.flat() }));
}
