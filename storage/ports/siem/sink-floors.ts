// How far stored events are settled, over all Consoles that store any. Each promises a floor: whatever it stores from now on
// was received at or after it. The lowest of them is the horizon: nothing appears before it any more, so whoever reads the
// event store in the order of receipt, and only before the horizon, skips nothing. A Console that did not tell for long is
// left out of it; should it come back after all, cursors go back to what it promised last. Every method rejects with
// StoreUnavailable. decision: D60, D152

export type SinkFloors = {
  /**
   * Begins to promise, before the first event is stored. `sinceMs`: it promised that before and was left out since, and may
   * have stored events from there on; null: it stored nothing yet, and begins at the horizon, or now where there is none
   * yet: a Console that falls silent before its first word sends no cursor back to the beginning of time. Answers the floor
   * that it has to keep.
   */
  join(input: {
    readonly life: string;
    readonly nowMs: number;
    readonly sinceMs: number | null;
  }): Promise<number>;
  /** Raises the floor. `unknown`: it was left out. Otherwise the clock of the database. */
  tell(input: {
    readonly life: string;
    readonly nowMs: number;
    readonly floorMs: number;
  }): Promise<number | 'unknown'>;
  /** It stores nothing any more, and nothing that it sent is under way. */
  leave(input: { readonly life: string }): Promise<void>;
  /** The horizon; Consoles that are silent for too long are left out from now on. Rejects with Overtaken. */
  horizon(input: { readonly epoch: number; readonly nowMs: number }): Promise<number>;
};
