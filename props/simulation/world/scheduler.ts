// Virtual time. Timers are popped one by one in the order of their time, then of their arming, and everything a timer
// set in motion runs to its end before the next one: a run depends on its seed alone. Nothing here waits for real time.
//
// The loop hops from timer to timer by a microtask that asks for a tick: node runs the tick when no microtask is left,
// so no promise of the step before is still under way. Now and then it gives the event loop a turn.
export type ScheduledTimer = { atMs: number; readonly order: number; run: (() => void) | null };

export type Scheduler = {
  /** Milliseconds of true time since the world began; fractions are possible. */
  now(): number;
  after(delayMs: number, run: () => void): ScheduledTimer;
  cancel(timer: ScheduledTimer): void;
  /** Runs until the time is reached, nothing is left, or `halt` was called. */
  runUntil(endMs: number): Promise<void>;
  /**
   * Suspends the whole world, as a hypervisor suspends every machine at once: true time goes on, and whatever was armed
   * is as far away afterwards as it was before.
   */
  sleep(ms: number): void;
  /** All the time the world was suspended. */
  sleptMs(): number;
  /**
   * From now on every step waits for ticks and turns of the event loop too, which libraries of streams and plugins are
   * driven by; until the returned function is called.
   */
  waitForTurns(): () => void;
  /**
   * Something real is under way, as a question to a real database: no step is taken, and so no time passes, until the
   * function that is returned was called.
   */
  hold(): () => void;
  /** Ends the running `runUntil` after this step. */
  halt(): void;
  /** Timers popped so far. */
  steps(): number;
  pending(): number;
};

const STEPS_PER_TURN = 20_000;

/** Makes a scheduler at time 0; `onError` hears what a timer throws, `onStep` follows every step. */
export function createScheduler(options: {
  readonly onError: (error: unknown) => void;
  readonly onStep?: () => void;
}): Scheduler {
  const heap: ScheduledTimer[] = [];
  let nowMs = 0;
  let order = 0;
  let steps = 0;
  let slept = 0;
  let isHalted = false;
  let turnsAwaited = 0;
  let held = 0;
  /** The step that waits for what is held. */
  let waiting: (() => void) | null = null;

  function isBefore(a: ScheduledTimer, b: ScheduledTimer): boolean {
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  function push(timer: ScheduledTimer): void {
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = timer;
  }

  function pop(): ScheduledTimer | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      if (child === undefined) break;
      const right = heap[childAt + 1];
      if (right !== undefined && isBefore(right, child)) {
        childAt += 1;
        child = right;
      }
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
    return first;
  }

  /** The next timer that was not cancelled; it stays where it is. */
  function peek(): ScheduledTimer | undefined {
    while (heap[0] !== undefined && heap[0].run === null) pop();
    return heap[0];
  }

  return {
    now: () => nowMs,
    after(delayMs, run) {
      order += 1;
      const timer = { atMs: nowMs + Math.max(0, delayMs), order, run };
      push(timer);
      return timer;
    },
    cancel(timer) {
      timer.run = null;
    },
    runUntil(endMs) {
      isHalted = false;
      let inTurn = 0;
      return new Promise((resolve) => {
        const hop = (): void => {
          inTurn += 1;
          if (inTurn < STEPS_PER_TURN && turnsAwaited === 0) process.nextTick(step);
          else {
            inTurn = 0;
            setImmediate(step);
          }
        };
        const step = (): void => {
          if (held > 0) {
            waiting = step;
            return;
          }
          const next = peek();
          if (isHalted || next === undefined || next.atMs > endMs) {
            if (!isHalted) nowMs = Math.max(nowMs, endMs);
            resolve();
            return;
          }
          pop();
          nowMs = next.atMs;
          steps += 1;
          const { run } = next;
          next.run = null;
          try {
            run?.();
          } catch (error) {
            options.onError(error);
          }
          options.onStep?.();
          queueMicrotask(hop);
        };
        queueMicrotask(hop);
      });
    },
    sleep(ms) {
      nowMs += ms;
      slept += ms;
      for (const timer of heap) timer.atMs += ms;
    },
    sleptMs: () => slept,
    waitForTurns() {
      let isOver = false;
      turnsAwaited += 1;
      return () => {
        if (!isOver) turnsAwaited -= 1;
        isOver = true;
      };
    },
    hold() {
      let isOver = false;
      held += 1;
      return () => {
        if (isOver) return;
        isOver = true;
        held -= 1;
        if (held > 0 || waiting === null) return;
        // Whoever heard the answer comes first.
        setImmediate(waiting);
        waiting = null;
      };
    },
    halt() {
      isHalted = true;
    },
    steps: () => steps,
    pending: () => heap.length,
  };
}
