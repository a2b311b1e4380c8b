// What is usual on the nodes, program by program, and how unusual single events were. Baselines are written when their
// inventory section changes; scores come into the store with the events that carry them. Every call throws
// EventStoreUnavailable when the store cannot answer. invariant: I10
import type { Baseline } from '../../../machines/wire/baseline.ts';
import type { EventKind } from '../../../machines/wire/event.ts';
import type { TimeSpan } from './telemetry-store.ts';

export type StoredBaseline = Baseline & { readonly storedAtMs: number };
export type AnomalyScore = {
  readonly sensorId: string;
  /** The event's own time, RFC 3339 with all its digits. */
  readonly at: string;
  readonly eventId: string;
  readonly eventKind: EventKind;
  readonly binary: string;
  readonly score: number;
};

export type BaselineStore = {
  /** Puts baselines in the place of the earlier ones of the same program; the named programs are forgotten. */
  put(input: {
    readonly sensorId: string;
    readonly baselines: readonly Baseline[];
    readonly forgotten: readonly string[];
    readonly nowMs: number;
  }): Promise<void>;
  /** By name of the program; of one, where it is named. */
  baselinesOf(query: {
    readonly sensorId: string;
    readonly binary?: string;
    readonly limit: number;
    readonly afterBinary: string | null;
  }): Promise<readonly StoredBaseline[]>;
  /** Each event once, newest first. */
  scoresOf(
    query: TimeSpan & {
      readonly sensorId: string;
      readonly atLeast: number;
      readonly limit: number;
    },
  ): Promise<readonly AnomalyScore[]>;
};
