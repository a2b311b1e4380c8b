// A database that cannot answer is an ordinary refusal with a time to come back; anything else thrown is a fault of the
// program and goes on.
import { type Refusal, refuse } from '../../machines/errors.ts';
import { RETRY_AFTER_STORE_MS } from '../../machines/limits.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import { EventStoreUnavailable } from '../../storage/ports/telemetry/event-store.ts';

/** Runs one use of the database; its absence comes back as a refusal. */
export async function orUnavailable<T>(run: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await run();
  } catch (error) {
    const isAway = error instanceof StoreUnavailable || error instanceof EventStoreUnavailable;
    if (!isAway) throw error;
    return storeUnavailable();
  }
}

/** The refusal for a database that is away. */
export function storeUnavailable(retryAfterMs: number = RETRY_AFTER_STORE_MS): Refusal {
  return refuse('store_unavailable', 'The database cannot take this now.', { retryAfterMs });
}
