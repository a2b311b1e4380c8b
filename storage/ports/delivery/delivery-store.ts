// Alerts on their way to webhooks. A row is the job: nothing else remembers what has to be sent, so a crash at any point
// leaves what was not settled due again. Whoever writes for the whole fleet names its epoch, and is refused with Overtaken
// once another Console is designated. Every method rejects with StoreUnavailable. decision: D60, D101
import type { Alert } from '../../../machines/console/delivery/alert.ts';
import type { SensorMark } from '../../../machines/console/delivery/sensor-alerts.rules.ts';
import type {
  DeliveryStanding,
  DestinationStanding,
} from '../../../machines/console/delivery/standing.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type DeliveryRow = DeliveryStanding & {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly alert: Alert;
  readonly createdAtMs: number;
};

/** One delivery that was asked to be tried now. */
export type ClaimedDelivery = DeliveryRow & {
  /** How many other alerts it carries. */
  readonly folded: number;
};

/** What came of one attempt. */
export type AttemptRow = {
  readonly number: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly detail: string;
  /** Without secrets. */
  readonly request: string;
  readonly response: string;
};

export type SettledAttempt = {
  readonly deliveryId: string;
  readonly standing: DeliveryStanding;
  readonly attempt: AttemptRow;
};

export type NewDelivery = {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly alertId: string;
  /** When it may first be tried; at once when absent. */
  readonly dueAtMs?: number | undefined;
};

export type DeliveryQuery = {
  readonly webhookId?: string | undefined;
  readonly state?: DeliveryStanding['state'] | undefined;
  readonly limit: number;
  /** Newest first, below this id. */
  readonly before: string | null;
};

export type DeliveryCounts = readonly {
  readonly webhookId: string;
  readonly state: DeliveryStanding['state'];
  readonly count: number;
  readonly oldestAtMs: number;
}[];

export type DeliveryStore = {
  /** Every mark, by sensor. */
  marks(): Promise<ReadonlyMap<string, SensorMark>>;
  /**
   * Alerts, their deliveries and the marks that they lead to, together: all are written or none. Deliveries to a webhook
   * that is gone are left out; an alert without one is not kept. An alert that is posted again is as it was told last.
   */
  post(input: {
    readonly epoch?: number | undefined;
    readonly nowMs: number;
    readonly alerts: readonly Alert[];
    readonly deliveries: readonly NewDelivery[];
    readonly marks: readonly { readonly sensorId: string; readonly mark: SensorMark }[];
  }): Promise<void>;

  /** What was being sent under another epoch, or longer than its lease, waits again. How many. */
  reclaim(input: { readonly epoch: number; readonly nowMs: number }): Promise<number>;
  /**
   * Takes what is due, oldest due first, at most so many of each webhook and `limit` of all: the first of each webhook
   * before the second of any. What waits with the same key is folded into the newest of them, which is the one that is
   * taken.
   */
  claim(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly quotas: ReadonlyMap<string, number>;
    readonly limit: number;
  }): Promise<readonly ClaimedDelivery[]>;
  /**
   * Writes what came of attempts and what their destinations are now. A delivery that is not being sent under this epoch
   * any more is left as it is. `recovered`: what was tried and waits for these webhooks is due at once.
   */
  settle(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly attempts: readonly SettledAttempt[];
    readonly destinations: readonly {
      readonly webhookId: string;
      readonly destination: DestinationStanding;
    }[];
    readonly recovered: readonly string[];
  }): Promise<void>;
  /** What waits beyond `waitingMax` for one webhook is dead, oldest first; ended ones from before are removed. */
  sweep(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly waitingMax: number;
    readonly endedBeforeMs: number;
    readonly limit: number;
  }): Promise<{ readonly dropped: number; readonly removed: number }>;

  list(query: DeliveryQuery): Promise<readonly DeliveryRow[]>;
  get(deliveryId: string): Promise<{
    readonly delivery: DeliveryRow;
    readonly attempts: readonly AttemptRow[];
    /** Those it carries. */
    readonly folded: readonly string[];
  } | null>;
  counts(): Promise<DeliveryCounts>;
  /** Has one sent again, with its audit row. */
  replay(
    input: AuditContext & { readonly deliveryId: string },
  ): Promise<DeliveryRow | 'not_found' | 'not_ended'>;
  /** Has the dead ones of a webhook sent again, oldest first, with one audit row. How many. */
  replayDead(
    input: AuditContext & { readonly webhookId: string; readonly limit: number },
  ): Promise<number>;
};
