// The only home of runtime events. The sink takes batches and says when they are durable; the store answers questions.
// invariant: I1, I10
import type { PolicyMatch } from '../../../machines/console/policy/rehearsal.rules.ts';
import type { Condition } from '../../../machines/detection/condition.ts';
import type { EventWants } from '../../../machines/detection/event-wants.ts';
import type { FieldName } from '../../../machines/detection/fields.ts';
import type {
  EventKind,
  RuntimeEvent,
  Severity,
  StoredEvent,
} from '../../../machines/wire/event.ts';
import type { Channel } from '../../../machines/wire/scalars.ts';

/** One batch of one sensor's channel: stored whole or not at all. decision: D8 */
export type EventBatch = {
  readonly sensorId: string;
  readonly nodeName: string;
  readonly streamId: string;
  readonly channel: Channel;
  readonly sequence: number;
  /** Digest of the content (its event ids in order), to tell a repeat from a conflict. */
  readonly digest: string;
  readonly receivedAtMs: number;
  readonly events: readonly RuntimeEvent[];
};

export type SinkOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly retryAfterMs: number };

export type EventSink = {
  /** Resolves ok only after the durable write; not ok when the store cannot take it now or the queue is full (nothing is kept then). Never rejects. */
  append(batch: EventBatch): Promise<SinkOutcome>;
  queuedRows(): number;
  /** Commits what is queued, within a bounded time, then refuses. */
  close(): Promise<void>;
};

export type StoredRange = {
  readonly sensorId: string;
  readonly streamId: string;
  readonly channel: Channel;
  readonly first: number;
  readonly last: number;
};

export type EventQuery = {
  readonly fromMs?: number;
  readonly toMs?: number;
  /** By the Console's clock, for whoever reads on from where it stopped: an event may tell of a time long gone. */
  readonly receivedFromMs?: number;
  readonly receivedToMs?: number;
  readonly sensorId?: string;
  readonly eventKinds?: readonly EventKind[];
  readonly severities?: readonly Severity[];
  readonly binaryContains?: string;
  readonly text?: string;
  readonly condition?: Condition;
  readonly limit: number;
  /** Newest first unless 'ascending'. */
  readonly order?: 'ascending' | 'descending';
  /** Exclusive keyset position (observed_at in nanosecond text, event_id). */
  readonly after?: { readonly observedAt: string; readonly eventId: string } | null;
  /** Ends the question when whoever asked has gone. */
  readonly signal?: AbortSignal;
};
export type EventScope = Omit<EventQuery, 'limit' | 'after' | 'order'>;

/** Events by when they were received, by the Console's clock. */
export type ArrivalQuery = Pick<EventQuery, 'sensorId' | 'condition' | 'signal'> & {
  /** Included. */
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  /** A page ends with the instant in which it reaches so many. */
  readonly limit: number;
  /** What of the events is read, beside what each has; all unless told. What is not read is absent. */
  readonly wants?: EventWants;
};
export type ArrivalPage = {
  readonly events: readonly StoredEvent[];
  /** Everything that was received before it is told; null: there is no more. An empty page need not be the last. */
  readonly toMs: number | null;
};

/** Events in the order in which they were received: behind a place and before an instant. */
export type ReceiptQuery = {
  readonly after: { readonly receivedAtMs: number; readonly eventId: string };
  readonly beforeMs: number;
  readonly condition: Condition | null;
  readonly limit: number;
  readonly signal?: AbortSignal;
};

/** How many events fell into each stretch of time; stretches without any are left out. Very many are estimated. */
export type HistogramQuery = EventScope & {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
};
export type HistogramBar = {
  /** Where the stretch begins: `fromMs` and whole buckets. */
  readonly fromMs: number;
  readonly events: number;
  readonly bySeverity: Readonly<Partial<Record<Severity, number>>>;
};

export type TopQuery = EventScope & { readonly field: FieldName; readonly limit: number };
export type TopValues = {
  /** The most frequent first, equal ones in the order of their text. */
  readonly values: readonly { readonly value: string; readonly events: number }[];
  /** Events that have the field. */
  readonly events: number;
  readonly distinct: number;
};

/** Values of a field that several sensors have in common. */
export type SharedQuery = EventScope & {
  readonly field: FieldName;
  readonly sensorsMin: number;
  /** Only values that the scope has from then on, and not before. */
  readonly firstFromMs?: number;
  /** How many sensors of a value are named. */
  readonly sensorsNamedMax: number;
  readonly limit: number;
};
export type SharedValue = {
  readonly value: string;
  readonly sensors: number;
  /** The first by id. */
  readonly sensorIds: readonly string[];
  readonly events: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly severity: Severity;
};

/** Stretches of time of receipt, which begin at multiples of `bucketMs`. */
export type ReceivedQuery = EventScope & {
  readonly receivedFromMs: number;
  readonly receivedToMs: number;
  readonly bucketMs: number;
  /** At most so many ids of a stretch are named. */
  readonly idsMax: number;
};
export type ReceivedBucket = {
  readonly fromMs: number;
  /** Each event once within its stretch. */
  readonly events: number;
  readonly eventIds: readonly string[];
};

/** Events of these policies on these sensors, by sensor, policy and action. decision: D125 */
export type PolicyMatchQuery = {
  readonly fromMs: number;
  readonly toMs: number;
  /** At most POLICY_MATCH_SENSORS_MAX. */
  readonly sensorIds: readonly string[];
  readonly policies: readonly string[];
  readonly signal?: AbortSignal;
};

/** What an actor was after a move: enough to restore it, plain JSON. decision: D88 */
export type StoredStanding = {
  readonly value: unknown;
  readonly context: unknown;
  /** Those that ran, with the instants at which they are due. */
  readonly timers: readonly {
    readonly state: string;
    readonly delay: string;
    readonly targets: readonly string[];
    readonly dueMs: number;
  }[];
  /** Version of the machine that wrote it. */
  readonly machine: string;
};

/** One region's move; with empty region and states an event that changed facts alone. */
export type TransitionRow = {
  readonly sensorId: string;
  /** `sensor`, or `node/<machine>` for what the node reported of its own. */
  readonly actorKind: string;
  readonly region: string;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  /** null where rows were dropped, and for what the node reported. */
  readonly after: StoredStanding | null;
};

export type TransitionQuery = {
  readonly sensorId: string;
  readonly limit: number;
  /** Exclusive. */
  readonly beforeMs?: number;
  readonly fromMs?: number;
  /** Every kind unless told. */
  readonly actorKind?: string;
};

export type EventStore = {
  /** Deduplicated by event_id. Throws EventStoreUnavailable, and SearchTooLarge beyond what one question may read. */
  search(query: EventQuery): Promise<readonly StoredEvent[]>;
  countDistinct(query: EventScope): Promise<number>;
  /**
   * In the order in which they became durable for each sensor: by receipt, and inside a batch by time and id. An event that
   * came in two batches is there twice; a batch that was written twice is there once. Throws like `search`.
   */
  arrivals(query: ArrivalQuery): Promise<ArrivalPage>;
  /**
   * By time of receipt and then by id. One that was stored twice is told for each time it was received. Throws
   * EventStoreUnavailable.
   */
  receivedAfter(query: ReceiptQuery): Promise<readonly StoredEvent[]>;
  /** In the order of time. Throws like `search`. */
  histogram(query: HistogramQuery): Promise<readonly HistogramBar[]>;
  /** Throws like `search`. */
  topValues(query: TopQuery): Promise<TopValues>;
  /** What was received when, in the order of time; empty stretches are left out. Throws like `search`. */
  received(query: ReceivedQuery): Promise<readonly ReceivedBucket[]>;
  /** Those on most sensors first, then in the order of their text. Throws like `search`. */
  shared(query: SharedQuery): Promise<readonly SharedValue[]>;
  /** A search as a statement that the store's own client takes; null where there is none. Asks nothing of the store. */
  statementOf(query: EventQuery): Promise<string | null>;
  /** Each event once, in no order. Throws like `search`. */
  policyMatches(query: PolicyMatchQuery): Promise<readonly PolicyMatch[]>;
  /** Which numbers are stored, as ranges, read back before the port opens. */
  storedRanges(): Promise<readonly StoredRange[]>;
  /** Content digest of one stored batch; null when it is not stored. */
  batchDigest(
    batch: Pick<EventBatch, 'sensorId' | 'streamId' | 'channel' | 'sequence'>,
  ): Promise<string | null>;
  insertTransitions(rows: readonly TransitionRow[]): Promise<void>;
  /** Newest first. */
  transitionsOf(query: TransitionQuery): Promise<readonly TransitionRow[]>;
  setRetentionDays(days: number): Promise<void>;
  ping(): Promise<boolean>;
};

export class EventStoreUnavailable extends Error {
  override readonly name = 'EventStoreUnavailable';
}

/** The question would read more rows, bytes or memory than one may, or take longer. */
export class SearchTooLarge extends Error {
  override readonly name = 'SearchTooLarge';
}
