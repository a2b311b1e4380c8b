// Removes sessions that ended long ago and failures whose window is over, so that neither table grows for ever. Every
// Console of a database may do it; what one removed the next does not find.
import {
  ACCESS_SWEEP_INTERVAL_MS,
  ENDED_SESSIONS_KEPT_MS,
  LOGIN_WINDOW_MS,
} from '../../machines/limits.ts';
import type { SessionStore } from '../../storage/ports/access/sessions.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../runtime/logger.ts';

export type SweepDeps = {
  readonly users: Pick<UserStore, 'sweepFailures'>;
  readonly sessions: Pick<SessionStore, 'sweep'>;
  readonly timers: Pick<Timers, 'setTimeout' | 'clearTimeout'>;
  readonly now: () => number;
  readonly logger: Logger;
};

/** Starts sweeping; the answer stops it. */
export function startSweep(deps: SweepDeps): () => void {
  let timer: unknown = null;
  let isStopped = false;
  const arm = (): void => {
    if (!isStopped) timer = deps.timers.setTimeout(() => void sweep(), ACCESS_SWEEP_INTERVAL_MS);
  };
  const sweep = async (): Promise<void> => {
    const nowMs = deps.now();
    try {
      const sessions = await deps.sessions.sweep(nowMs - ENDED_SESSIONS_KEPT_MS);
      const failures = await deps.users.sweepFailures(nowMs - LOGIN_WINDOW_MS);
      deps.logger.debug({ sessions, failures }, 'old sessions and failures were removed');
    } catch (error) {
      deps.logger.warn({ error: String(error) }, 'old sessions could not be removed');
    }
    arm();
  };
  arm();
  return () => {
    isStopped = true;
    if (timer !== null) deps.timers.clearTimeout(timer);
  };
}
