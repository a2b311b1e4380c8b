// What a rule found, and how events belong together: by sensor, or by the fields that a rule groups by. decision: D131
import { RULE_GROUPS_MAX } from '../limits.ts';
import type { StoredEvent } from '../wire/event.ts';
import { type FieldName, fieldOf } from './fields.ts';
import type { Predicate } from './predicate.ts';

/** What of a rule the judges of kinds read. */
export type JudgedRule = {
  /** Of its condition, or of each step. */
  readonly tests: readonly Predicate[];
  readonly groupBy: readonly FieldName[];
  readonly windowMs: number;
  /** All sensors together. */
  readonly isOfFleet: boolean;
};
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
/** Takes one event that concerns the rule; `isCounted`: an alert of it counted the event before. */
export type Judge = (event: StoredEvent, atMs: number, isCounted: boolean) => RuleFound | null;
type Grouped = { readonly key: string; readonly group: Readonly<Record<string, string>> };

export const NO_GROUP: Grouped = { key: '', group: {} };

export function foundOf(
  last: StoredEvent,
  { key, group }: Grouped,
  entries: RuleFound['events'],
): RuleFound {
  const events = entries.map(({ id, atMs }) => ({ id, atMs }));
  return { sensorId: last.sensor_id, key, group, events, sinceMs: null, last };
}

export function groupOf({ groupBy }: JudgedRule, event: StoredEvent): Grouped {
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

export function stateKey({ isOfFleet }: JudgedRule, event: StoredEvent, { key }: Grouped): string {
  return isOfFleet ? key : `${event.sensor_id} ${key}`;
}

/** Groups by key; the one that was not used for longest is forgotten when there are too many. */
export function createGroups<Group>(make: () => Group): { of(key: string): Group } {
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
