// When credentials were last used, written at most once in a while instead of once a request. A crash loses the last
// while; it costs a session that much of its idle time, and nothing else. decision: D36
import type { Logger } from '../../actors/runtime/logger.ts';
import { SEEN_BATCH_MAX, SEEN_WRITE_INTERVAL_MS } from '../../machines/limits.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';

export type Seen = { readonly hash: Buffer; readonly atMs: number };

export type SeenBatch = {
  /** Remembers a use. Costs no input or output. */
  note(hash: Buffer, atMs: number): void;
  /** The last use that is not yet written. */
  noted(hash: Buffer): number | null;
  /** Writes what waits and stops. */
  close(): Promise<void>;
};

export type SeenBatchDeps = {
  /** Writes uses; may reject, what it was given is then tried again. */
  readonly write: (seen: readonly Seen[]) => Promise<void>;
  readonly timers: Pick<Timers, 'setTimeout' | 'clearTimeout'>;
  readonly logger: Logger;
  readonly intervalMs?: number;
};

/** Starts an empty batch; nothing runs while nothing is noted. */
export function createSeenBatch(deps: SeenBatchDeps): SeenBatch {
  const { intervalMs = SEEN_WRITE_INTERVAL_MS } = deps;
  const waiting = new Map<string, Seen>();
  let timer: unknown = null;
  let isClosed = false;

  function arm(): void {
    if (timer === null && !isClosed) timer = deps.timers.setTimeout(() => void flush(), intervalMs);
  }

  async function flush(): Promise<void> {
    timer = null;
    const batch = [...waiting.values()];
    if (batch.length === 0) return;
    try {
      await deps.write(batch);
      for (const { hash, atMs } of batch) {
        const name = hash.toString('hex');
        if (waiting.get(name)?.atMs === atMs) waiting.delete(name);
      }
    } catch (error) {
      deps.logger.warn({ error: String(error) }, 'the last uses of credentials wait to be written');
    }
    if (waiting.size > 0) arm();
  }

  return {
    note(hash, atMs) {
      const name = hash.toString('hex');
      // A full batch keeps what it has: the next use of the same credential is as good.
      if (waiting.size >= SEEN_BATCH_MAX && !waiting.has(name)) return;
      waiting.set(name, { hash, atMs });
      arm();
    },
    noted: (hash) => waiting.get(hash.toString('hex'))?.atMs ?? null,
    async close() {
      isClosed = true;
      if (timer !== null) deps.timers.clearTimeout(timer);
      await flush();
    },
  };
}
