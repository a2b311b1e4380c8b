// Group commit across sensors: what arrives after a rest goes out at once, whatever follows within one interval of the
// last write's beginning goes out together at its end or as soon as the group is full; while a write runs the next group
// gathers. So nothing waits where little happens, and a busy store sees no more writes. Pure coordination: the write and
// the timers are handed in.
// decision: D5; invariant: I1, I10
import type { Timers } from './clock.ts';

export type GroupCommitOptions<Item> = {
  readonly timers: Timers;
  readonly intervalMs: number;
  readonly rowsMax: number;
  readonly queueRowsMax: number;
  /** Whether an item may join the group that `first` opened; absent = always. */
  readonly fits?: (first: Item, item: Item) => boolean;
  /** Writes a group; the answer is every item's answer, in order. May not reject. */
  readonly commit: (items: readonly Item[]) => Promise<readonly boolean[]>;
};

export type GroupCommit<Item> = {
  /** Resolves true after the write that held the item; false when it failed, the queue is full or it is closed. */
  offer(item: Item, rows: number): Promise<boolean>;
  /** Rows that wait or are being written. */
  queuedRows(): number;
  /** Writes what waits, then refuses for good. */
  close(): Promise<void>;
};

type Waiting<Item> = {
  readonly item: Item;
  readonly rows: number;
  readonly answer: (committed: boolean) => void;
};

/** Makes a group commit. */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  let waiting: Waiting<Item>[] = [];
  let waitingRows = 0;
  let rowsInFlight = 0;
  // Set from the beginning of a write until its interval is over.
  let timer: unknown = null;
  let isDue = true;
  let isWriting = false;
  let isClosed = false;
  let idle: (() => void)[] = [];

  function disarm(): void {
    if (timer !== null) options.timers.clearTimeout(timer);
    timer = null;
  }

  function rest(): void {
    disarm();
    timer = options.timers.setTimeout(() => {
      timer = null;
      isDue = true;
      advance();
    }, options.intervalMs);
  }

  function takeGroup(): Waiting<Item>[] {
    let count = 0;
    let rows = 0;
    const first = waiting[0];
    for (const next of waiting) {
      if (first === undefined) break;
      const isFull = count > 0 && rows + next.rows > options.rowsMax;
      if (isFull || options.fits?.(first.item, next.item) === false) break;
      count += 1;
      rows += next.rows;
    }
    const group = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingRows -= rows;
    rowsInFlight = rows;
    return group;
  }

  function advance(): void {
    if (isWriting) return;
    if (waiting.length === 0) {
      if (isClosed) disarm();
      for (const done of idle) done();
      idle = [];
      return;
    }
    if (!isDue && !isClosed && waitingRows < options.rowsMax) return;
    const group = takeGroup();
    // What did not fit has waited its interval already.
    isDue = waiting.length > 0;
    isWriting = true;
    rest();
    void write(group);
  }

  async function write(group: readonly Waiting<Item>[]): Promise<void> {
    let answers: readonly boolean[] = [];
    try {
      answers = await options.commit(group.map((one) => one.item));
    } finally {
      isWriting = false;
      rowsInFlight = 0;
      for (const [at, one] of group.entries()) one.answer(answers[at] === true);
      advance();
    }
  }

  return {
    offer(item, rows) {
      if (isClosed || waitingRows + rowsInFlight + rows > options.queueRowsMax) {
        return Promise.resolve(false);
      }
      return new Promise((answer) => {
        waiting.push({ item, rows, answer });
        waitingRows += rows;
        advance();
      });
    },
    queuedRows: () => waitingRows + rowsInFlight,
    close() {
      isClosed = true;
      return new Promise((resolve) => {
        idle.push(resolve);
        advance();
      });
    },
  };
}
