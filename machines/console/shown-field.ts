// How a capability says what is shown of a sensor: `sensors get` and the sensor's page read the same fields, and so do the
// lists of both. A file of its folder exports them, and one line of `shown-list.ts` names it. Words alone: the page loads
// this. decision: D174

/** A sensor as the API answers it. */
export type ShownSensor = {
  readonly declared_role: string | null;
  readonly group_ids: readonly string[];
  readonly team_ids: readonly string[];
  readonly enrolled_at: string;
  readonly revoked_at: string | null;
  readonly revoked_reason: string | null;
  readonly states: {
    readonly freshness: string;
    readonly policy: string;
    readonly containment: string;
  } | null;
  /** What parts of the heartbeat keep, by names of their own. */
  readonly facts: Readonly<Record<string, unknown>> | null;
};

/** As lists answer it. */
export type ListedSensor = Omit<ShownSensor, 'facts'>;

/** A column of the lists of sensors; undefined where there is nothing to tell. */
export type ShownColumn = {
  /** `text`: as it is; `state`: the word of a state, which the page shows as a mark. */
  readonly as: 'text' | 'state';
  /** On the page, in pixels. */
  readonly width: number;
  readonly read: (sensor: ListedSensor) => string | undefined;
};

export type ShownField = {
  /** On the page; the command says it in capitals. */
  readonly title: string;
  /** Its place among the others, smallest first. */
  readonly rank: number;
  /** Several values stand under each other; the empty text, and no value, when there is nothing to tell. */
  readonly read: (sensor: ShownSensor) => string | readonly string[];
  /** Absent: not on the page. `text`: as read. Else the word of a state, which is shown as a mark. */
  readonly onPage?: 'text' | ((sensor: ShownSensor) => string | undefined);
  /** Absent: in no list. Else in `sensors list -o wide`, and where people choose the columns of the page. */
  readonly column?: ShownColumn;
};

export type Item = Readonly<Record<string, unknown>>;

/** What a part of the heartbeat keeps; empty while there is nothing. */
export function factOf({ facts }: ShownSensor, name: string): Item {
  return itemOf(facts?.[name]);
}

/** Of a list in it, each item. */
export function itemsOf(value: unknown): readonly Item[] {
  return (Array.isArray(value) ? value : []).map(itemOf);
}

function itemOf(value: unknown): Item {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
