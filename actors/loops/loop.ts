// What periodic work a part of the Console contributes. The registry runs it; nobody else keeps a timer. decision: D60
type LoopFacts = {
  /** Lower-case words joined by hyphens, unique; seen by operators. */
  readonly name: string;
  /** Milliseconds between the end of a run and the beginning of the next. */
  readonly everyMs: number;
  /** A run that takes longer is told to end; LOOP_RUN_TIMEOUT_MS when absent. */
  readonly timeoutMs?: number;
  /**
   * When a run is due: does at once what takes no time, and says whether a run has to begin. It waits for nothing.
   * Absent: a run begins each time.
   */
  readonly glance?: () => boolean;
};

/** `hasMore`: another run follows at once. A rejection is a failure: it is tried again, after a wait that doubles. */
export type LoopResult = { readonly hasMore: boolean } | undefined;

/** Upkeep of a process, or of the data directory of its machine; it always runs. */
export type UpkeepLoop = LoopFacts & {
  readonly runsOn: 'process' | 'machine';
  /** `signal` tells it to end. */
  run(of: { readonly signal: AbortSignal }): Promise<LoopResult>;
};

/** Work that one Console does for all; every write of a run carries its epoch. */
export type DesignatedLoop = LoopFacts & {
  readonly runsOn: 'designated';
  run(of: { readonly signal: AbortSignal; readonly epoch: number }): Promise<LoopResult>;
};

export type Loop = UpkeepLoop | DesignatedLoop;

/** Makes upkeep of a process that runs, waits `everyMs`, and runs again. `hasWork`: false where a run would do nothing. */
export function processLoop(
  name: string,
  everyMs: number,
  run: () => Promise<void> | void,
  hasWork?: () => boolean,
): UpkeepLoop {
  return {
    ...{ name, everyMs, runsOn: 'process' },
    ...(hasWork === undefined ? {} : { glance: hasWork }),
    async run() {
      await run();
      return undefined;
    },
  };
}

/** Makes upkeep of a process that takes no time: it is done when it is due, and is a run only where that fails. */
export function instantLoop(name: string, everyMs: number, work: () => void): UpkeepLoop {
  return processLoop(name, everyMs, work, () => {
    work();
    return false;
  });
}
