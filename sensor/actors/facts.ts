// The Sensor's own picture of itself: counters and latest facts, written by the actors, read by heartbeat and `status`.
import type { Losses } from '../../machines/sensor/loss-ledger.rules.ts';
import type { EngineReport, PipelineReport, TrustReport } from '../../machines/wire/heartbeat.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
/** What became of one policy of the folder. */
export type PolicyFact = {
  readonly name: string;
  /** `applying`, `enforcing`, `monitoring`, `rejected` (not taken by the node), `failed` (not by the engine). */
  readonly state: string;
  /** Why it, or its newer version, is not in force; or what is worth a word. */
  readonly reason: string;
  /** What the engine counted; nothing before it spoke. */
  readonly counts: Readonly<Record<string, number>>;
  /** SHA-256 of its text, where it is known. */
  readonly sha256?: string;
  /** Where it came from, when not by hand. */
  readonly from?: 'pack' | 'custom';
  /** Such as `engine_cannot`. */
  readonly code?: string;
};
/** Losses that no line of an export tells of, on their way into the ledger. */
export type UntoldLosses = {
  waiting: Losses;
  /** Of when nobody watched, in the form of an export's lines; what they count is among the losses. */
  lines: readonly string[];
  /** Given to the spool, which did not say that it has them; and what stood in the ledger before. */
  handed: {
    readonly losses: Losses;
    readonly lines: readonly string[];
    readonly before: number;
  } | null;
};
export type SensorFacts = {
  state: string;
  engine: EngineReport;
  policies: readonly PolicyFact[];
  trust: Mutable<TrustReport>;
  pipeline: Mutable<PipelineReport>;
  /** What the engine lost without a line of its export telling so, until the ledger has it. */
  readonly untold: UntoldLosses;
  /** Events of what a policy would have stopped, had it not only monitored. */
  monitored: number;
  isStreamOpen: boolean;
  lastHeartbeatAtMs: number | null;
  lastHeartbeatProblem: string | null;
  /** Console's clock minus ours. */
  clockOffsetMs: number | null;
  /** What is said while the Console takes a certificate for invalid that is valid by our clock. */
  clockDispute: string | null;
  trustHealth: string | null;
};

/** A picture of a Sensor that has just begun. */
export function emptyFacts(): SensorFacts {
  return {
    state: 'preparing',
    engine: {
      kind: 'none',
      version: '1.7.0',
      state: 'stopped',
      restarts: 0,
      disabled_hooks: [],
      loaded_policies: [],
    },
    policies: [],
    trust: {
      state: 'trusted',
      certificate_expires_at: '1970-01-01T00:00:00.000Z',
      renewal_status: 'ok',
    },
    pipeline: {
      read: 0,
      normalized: 0,
      dropped: 0,
      aggregated: 0,
      spooled: 0,
      spool_depth: 0,
      discarded: 0,
      sent_stream: 0,
      sent_heartbeat: 0,
      engine_lost: 0,
    },
    untold: { waiting: {}, lines: [], handed: null },
    monitored: 0,
    isStreamOpen: false,
    lastHeartbeatAtMs: null,
    lastHeartbeatProblem: null,
    clockOffsetMs: null,
    clockDispute: null,
    trustHealth: null,
  };
}
