// Who may ask the event store next: so many questions at once, of one caller fewer, and callers that wait are served in
// turn, so that nobody's hundred questions keep another's one waiting. invariant: I10
import { refuse } from '../../../machines/errors.ts';
import {
  SEARCHES_AT_ONCE_MAX,
  SEARCHES_OF_ONE_MAX,
  SEARCHES_WAITING_OF_ONE_MAX,
} from '../../../machines/limits.ts';
import { RefusedSearch } from '../plumbing/problem-reply.ts';

const RETRY_AFTER_MS = 1_000;

export type SearchTurns = {
  /**
   * Runs a question when it is this caller's turn. A signal that ends before then ends the wait. Throws RefusedSearch when
   * too many of this caller's wait already; else what the question throws.
   */
  run<T>(caller: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T>;
  /** Questions that run now. */
  running(): number;
};

type Queue = { running: number; readonly waiting: Set<() => void> };

/** Makes the turns; none is taken. */
export function createSearchTurns(): SearchTurns {
  const queues = new Map<string, Queue>();
  let running = 0;

  function serve(): void {
    for (const [caller, queue] of queues) {
      if (running >= SEARCHES_AT_ONCE_MAX) return;
      if (queue.running >= SEARCHES_OF_ONE_MAX) continue;
      const [next] = queue.waiting;
      if (next === undefined) continue;
      // Whoever was served goes behind all others.
      queues.delete(caller);
      queues.set(caller, queue);
      queue.waiting.delete(next);
      take(queue);
      next();
    }
  }

  function take(queue: Queue): void {
    queue.running += 1;
    running += 1;
  }

  function leave(caller: string, queue: Queue): void {
    queue.running -= 1;
    running -= 1;
    forget(caller, queue);
    serve();
  }

  function forget(caller: string, queue: Queue): void {
    if (queue.running === 0 && queue.waiting.size === 0) queues.delete(caller);
  }

  async function turn(caller: string, queue: Queue, signal: AbortSignal): Promise<void> {
    if (running < SEARCHES_AT_ONCE_MAX && queue.running < SEARCHES_OF_ONE_MAX) {
      take(queue);
      return;
    }
    if (queue.waiting.size >= SEARCHES_WAITING_OF_ONE_MAX) {
      const detail = `At most ${SEARCHES_WAITING_OF_ONE_MAX} questions of one caller wait.`;
      throw new RefusedSearch(refuse('rate_limited', detail, { retryAfterMs: RETRY_AFTER_MS }));
    }
    await waitIn(queue, signal).catch((error: unknown) => {
      forget(caller, queue);
      throw error;
    });
  }

  return {
    async run(caller, signal, ask) {
      signal.throwIfAborted();
      const queue = queues.get(caller) ?? { running: 0, waiting: new Set() };
      queues.set(caller, queue);
      await turn(caller, queue, signal);
      try {
        return await ask();
      } finally {
        leave(caller, queue);
      }
    },
    running: () => running,
  };
}

/** Waits until it is started, which takes the turn; rejects when the signal ends first. */
function waitIn({ waiting }: Queue, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const end = () => {
      waiting.delete(start);
      reject(signal.reason);
    };
    const start = () => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    waiting.add(start);
    signal.addEventListener('abort', end, { once: true });
  });
}
