// What every capability opens its stores with.
import type { Kysely } from 'kysely';
import type { Intervals } from '../../../machines/limits.ts';
import type { Timers } from '../../ports/plumbing/clock.ts';
import type { Logger } from '../../ports/plumbing/logger.ts';
import type { Database } from './tables.ts';

export type RelationalOptions = {
  readonly url: string;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly intervals: Pick<Intervals, 'FACTS_COMMIT_INTERVAL_MS'>;
};

export type RelationalContext = RelationalOptions & {
  readonly db: Kysely<Database>;
  /** Takes what has to be closed before the pool is. */
  readonly onClose: (close: () => Promise<void>) => void;
};
