// A rule that can be run: its conditions read and compiled, its times parsed, what it needs at least known. decision: D131
import type { Condition } from './condition.ts';
import { parseCondition } from './condition-parser.ts';
import { type FieldName, fieldNamed } from './fields.ts';
import { predicateOf } from './predicate.ts';
import { kindsOf } from './prefilter.ts';
import type { JudgedRule } from './rule-found.ts';
import { kindOf } from './rule-kinds/kinds.ts';
import type { RuleScope, RuleSpec } from './rule-spec.ts';

export type RuleFault = { readonly pointer: string; readonly detail: string };
export type SensorLabels = {
  readonly tags: readonly string[];
  readonly groupIds: readonly string[];
  readonly role: string | null;
};
export type CompiledRule = JudgedRule & {
  readonly ruleId: string;
  readonly spec: RuleSpec;
  /** One, or each step's. */
  readonly conditions: readonly Condition[];
  /** Null: every kind. */
  readonly kinds: ReadonlySet<string> | null;
  /** Whether a sensor is meant. */
  readonly isMeant: (labels: SensorLabels) => boolean;
  /** Whether what a sensor observed at an instant counts for nothing. */
  readonly isSilenced: (sensorId: string, labels: SensorLabels, atMs: number) => boolean;
  readonly expiresAtMs: number;
  /** Judges how unusual events are. */
  readonly isOfScore: boolean;
};
export type CompiledOrFaults =
  | { readonly ok: true; readonly rule: CompiledRule }
  | { readonly ok: false; readonly faults: readonly RuleFault[] };

/** Compiles a rule. Never throws. */
export function compileRule(ruleId: string, spec: RuleSpec): CompiledOrFaults {
  const { detect } = spec;
  const kind = kindOf(detect);
  if (kind === undefined) {
    // Of a later version, say.
    const detail = `there is no kind ${detect.kind}`;
    return { ok: false, faults: [{ pointer: '/detect/kind', detail }] };
  }
  const faults: RuleFault[] = [];
  const conditions = kind.conditions(detect).flatMap(({ pointer, text }) => {
    const parsed = parseCondition(text);
    if (parsed.ok) return [parsed.condition];
    faults.push({
      pointer: `/detect${pointer}`,
      detail: `character ${parsed.at + 1}: ${parsed.detail}`,
    });
    return [];
  });
  const groupBy = (spec.group_by ?? []).flatMap((name, place) => {
    const field = fieldNamed(name);
    if (field !== undefined) return [field];
    faults.push({ pointer: `/group_by/${place}`, detail: `no event has a field ${name}` });
    return [];
  });
  for (const [place, { from, until }] of (spec.maintenance ?? []).entries()) {
    if (Date.parse(from) < Date.parse(until)) continue;
    faults.push({ pointer: `/maintenance/${place}/until`, detail: 'it ends before it begins' });
  }
  if (spec.across === 'fleet' && !kind.mayBeOfFleet) {
    const detail = `a rule over the fleet matches or counts; ${detect.kind} is judged for each sensor`;
    faults.push({ pointer: '/across', detail });
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, rule: joined(ruleId, spec, conditions, groupBy) };
}

function joined(
  ruleId: string,
  spec: RuleSpec,
  conditions: readonly Condition[],
  groupBy: readonly FieldName[],
): CompiledRule {
  const mutes = new Map(
    (spec.mutes ?? []).map((one) => [one.sensor_id, timeOf(one.until)] as const),
  );
  const pauses = (spec.maintenance ?? []).map(({ from, until, scope }) => ({
    ...{ fromMs: Date.parse(from), untilMs: Date.parse(until), isMeant: scopeTest(scope) },
  }));
  const { detect } = spec;
  const kind = kindOf(detect);
  const kinds = kind.seesAll ? null : kindsOf({ is: 'either', of: conditions });
  return {
    ...{ ruleId, spec, conditions, groupBy, kinds },
    tests: conditions.map(predicateOf),
    ...{ windowMs: kind.windowSecs(detect) * 1_000, isOfFleet: spec.across === 'fleet' },
    isMeant: scopeTest(spec.scope),
    isSilenced: (sensorId, labels, atMs) =>
      atMs < (mutes.get(sensorId) ?? Number.NEGATIVE_INFINITY) ||
      pauses.some((one) => atMs >= one.fromMs && atMs < one.untilMs && one.isMeant(labels)),
    expiresAtMs: timeOf(spec.expires_at),
    isOfScore: conditions.some(isOfScore),
  };
}

function isOfScore(condition: Condition): boolean {
  if (condition.is === 'all' || condition.is === 'either') return condition.of.some(isOfScore);
  if (condition.is === 'not') return isOfScore(condition.of);
  return condition.is === 'compare' && condition.field === 'anomaly_score';
}

function timeOf(text: string | undefined): number {
  return text === undefined ? Number.POSITIVE_INFINITY : Date.parse(text);
}

function scopeTest(scope: RuleScope | undefined): (labels: SensorLabels) => boolean {
  const { group_ids: groups = [], tags = [], roles = [] } = scope ?? {};
  const among = (wanted: readonly string[], own: readonly string[]): boolean =>
    wanted.length === 0 || own.some((one) => wanted.includes(one));
  return (labels) =>
    among(groups, labels.groupIds) &&
    among(tags, labels.tags) &&
    among(roles, labels.role === null ? [] : [labels.role]);
}
