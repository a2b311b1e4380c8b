// One rule as it runs: events go in, in the order in which they became durable, and what they complete comes out. It knows
// no clock: everything follows from the events and their order, so that stored events tell what live ones told.
// decision: D131; invariant: I8, I10
import { RULE_GROUPS_MAX, RULE_WATERMARK_MS } from '../limits.ts';
import type { StoredEvent } from '../wire/event.ts';
import { type FieldName, fieldOf } from './fields.ts';
import type { CompiledRule, SensorLabels } from './rule-compile.ts';
import {
  type CountGroup,
  createCountGroup,
  createSequenceGroup,
  type SequenceGroup,
} from './rule-windows.ts';
import { treeKeyOf } from './tree-key.ts';

export type RuleFound = {
  readonly sensorId: string;
  /** Says of which alert it is one more match, with rule and sensor. */
  readonly key: string;
  readonly group: Readonly<Record<string, string>>;
  /** In order; of an absence none. */
  readonly events: readonly { readonly id: string; readonly atMs: number }[];
  /** Of an absence: since when. */
  readonly sinceMs: number | null;
  /** The one that completed it. */
  readonly last: StoredEvent;
};
export type RuleRun = {
  /** Takes one event; `isCounted`: an alert of this rule counted it before. Never throws. */
  take(event: StoredEvent, labels: SensorLabels, isCounted?: boolean): RuleFound | null;
};
type Judge = (event: StoredEvent, atMs: number, isCounted: boolean) => RuleFound | null;
type Grouped = { readonly key: string; readonly group: Readonly<Record<string, string>> };
type Silence = { newestMs: number; seenMs: number; isTold: boolean };

const NO_GROUP: Grouped = { key: '', group: {} };

/** Begins a run that has seen nothing. `isResumed`: it goes on where another ended, so nothing is absent before it was seen. */
export function createRuleRun(
  rule: CompiledRule,
  { isResumed = false }: { readonly isResumed?: boolean } = {},
): RuleRun {
  const judge = judgeOf(rule, isResumed);
  const isOfAll = rule.spec.detect.kind === 'absence';
  return {
    take(event, labels, isCounted = false) {
      if (rule.kinds !== null && !rule.kinds.has(event.event_kind)) return null;
      // Most events are none of the rule's: times are read of the others alone.
      if (!isOfAll && !rule.tests.some((test) => test(event))) return null;
      if (!rule.isMeant(labels)) return null;
      const atMs = Date.parse(event.observed_at);
      if (Date.parse(event.received_at) >= rule.expiresAtMs) return null;
      if (rule.isSilenced(event.sensor_id, labels, atMs)) return null;
      return judge(event, atMs, isCounted);
    },
  };
}

function judgeOf(rule: CompiledRule, isResumed: boolean): Judge {
  const { detect } = rule.spec;
  switch (detect.kind) {
    case 'match':
      return (event, atMs) => {
        return foundOf(event, groupOf(rule, event), [{ id: event.event_id, atMs }]);
      };
    case 'count': {
      const groups = createGroups<CountGroup>(() =>
        createCountGroup(detect.threshold, rule.windowMs),
      );
      return (event, atMs, isCounted) => {
        const grouped = groupOf(rule, event);
        const found = groups
          .of(stateKey(rule, event, grouped))
          .take(event.event_id, atMs, isCounted);
        return found.length === 0 ? null : foundOf(event, grouped, found);
      };
    }
    case 'sequence': {
      const groups = createGroups<SequenceGroup>(() =>
        createSequenceGroup(detect.steps.length, rule.windowMs),
      );
      return (event, atMs, isCounted) => {
        const steps = rule.tests.flatMap((test, step) => (test(event) ? [step] : []));
        if (steps.length === 0) return null;
        const tree = detect.by === 'process_tree' ? treeKeyOf(event) : '';
        if (detect.by === 'process_tree' && tree === '') return null;
        const grouped = groupOf(rule, event);
        const key = `${stateKey(rule, event, grouped)} ${tree}`;
        const found = groups.of(key).take(event.event_id, atMs, steps, isCounted);
        return found.length === 0 ? null : foundOf(event, grouped, found);
      };
    }
    case 'absence':
      return absenceJudge(rule, isResumed);
  }
}

// The sensor's own events are its clock: what is missing is missing when they have passed its window and the watermark.
function absenceJudge(rule: CompiledRule, isResumed: boolean): Judge {
  const sensors = createGroups<Silence>(() => ({
    ...{ newestMs: Number.NEGATIVE_INFINITY, seenMs: Number.NEGATIVE_INFINITY, isTold: isResumed },
  }));
  return (event, atMs) => {
    const own = sensors.of(event.sensor_id);
    if (own.newestMs === Number.NEGATIVE_INFINITY) own.seenMs = atMs;
    own.newestMs = Math.max(own.newestMs, atMs);
    if (rule.tests[0]?.(event) === true && atMs >= own.seenMs) {
      own.seenMs = atMs;
      own.isTold = false;
    }
    const isMissing = own.newestMs - RULE_WATERMARK_MS >= own.seenMs + rule.windowMs;
    if (!isMissing || own.isTold) return null;
    own.isTold = true;
    return { ...foundOf(event, NO_GROUP, []), sinceMs: own.seenMs };
  };
}

function foundOf(
  last: StoredEvent,
  { key, group }: Grouped,
  entries: RuleFound['events'],
): RuleFound {
  const events = entries.map(({ id, atMs }) => ({ id, atMs }));
  return { sensorId: last.sensor_id, key, group, events, sinceMs: null, last };
}

function groupOf({ groupBy }: CompiledRule, event: StoredEvent): Grouped {
  if (groupBy.length === 0) return NO_GROUP;
  const values = groupBy.map((name) => [name, fieldText(name, event)] as const);
  return {
    key: JSON.stringify(values.map(([, value]) => value)),
    group: Object.fromEntries(values),
  };
}

function fieldText(name: FieldName, event: StoredEvent): string {
  const { read, readAll } = fieldOf(name);
  const value = read === undefined ? readAll(event)[0] : read(event);
  return value === undefined || value === null ? '' : String(value).toWellFormed();
}

function stateKey({ spec }: CompiledRule, event: StoredEvent, { key }: Grouped): string {
  return spec.across === 'fleet' ? key : `${event.sensor_id} ${key}`;
}

/** Groups by key; the one that was not used for longest is forgotten when there are too many. */
function createGroups<Group>(make: () => Group): { of(key: string): Group } {
  const groups = new Map<string, Group>();
  return {
    of(key) {
      const known = groups.get(key);
      const own = known ?? make();
      if (known !== undefined) groups.delete(key);
      groups.set(key, own);
      if (groups.size > RULE_GROUPS_MAX) {
        const [oldest] = groups.keys();
        if (oldest !== undefined) groups.delete(oldest);
      }
      return own;
    },
  };
}
