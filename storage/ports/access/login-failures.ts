// Tries to log in that are counted, shared by every Console on one database. Every method rejects with StoreUnavailable.

export type LoginFailures = {
  readonly key: string;
  readonly failures: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
};

export type LoginFailureStore = {
  /**
   * Takes one try under every key at once, or none: `waitMs` judges each count, and the longest wait is given back; 0
   * when the try was counted. Tries that arrive together are judged one after the other, so that none slips past. A last
   * failure more than a window ahead was dated by a wrong clock: it counts as of now, so that no wait lasts till then.
   */
  takeTry(input: {
    readonly keys: readonly string[];
    readonly nowMs: number;
    readonly windowMs: number;
    readonly waitMs: (failures: LoginFailures) => number;
  }): Promise<number>;
  /** Gives a try that was right back. */
  returnTry(keys: readonly string[]): Promise<void>;
  /** Counts one failure under every key at once and gives the counts back; a count begins anew when its last failure is a
   * window ago. */
  noteFailure(input: {
    readonly keys: readonly string[];
    readonly nowMs: number;
    readonly windowMs: number;
  }): Promise<readonly LoginFailures[]>;
  failuresOf(
    keys: readonly string[],
    nowMs: number,
    windowMs: number,
  ): Promise<readonly LoginFailures[]>;
  forgetFailures(keys: readonly string[]): Promise<void>;
  /** Forgets counts whose last failure lies before the instant; how many. */
  sweepFailures(beforeMs: number): Promise<number>;
};
