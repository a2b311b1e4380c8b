// What can be asked of the analytics database about itself. Each rejects with EventStoreUnavailable. decision: D155

export type AnalyticsFacts = {
  /** Active parts of the partition that has the most. */
  readonly partsMost: number | null;
  readonly parts: number | null;
  readonly merges: number | null;
  readonly longestMergeMs: number | null;
  readonly diskFreeBytes: number | null;
  readonly diskTotalBytes: number | null;
};

export type AnalyticsHealth = {
  ping(): Promise<void>;
  /** Stores one row for the purpose, as durably as an event. */
  insert(atMs: number): Promise<void>;
  /** A small question to the events. */
  query(): Promise<void>;
  /** What the server tells of itself; null for what it does not tell us. */
  facts(): Promise<AnalyticsFacts>;
};
