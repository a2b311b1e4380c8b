// Removes sessions that ended long ago and failures whose window is over, so that neither table grows for ever. Every
// Console of a database may do it; what one removed the next does not find.
import {
  ACCESS_SWEEP_INTERVAL_MS,
  ENDED_SESSIONS_KEPT_MS,
  LOGIN_WINDOW_MS,
} from '../../machines/limits.ts';
import type { LoginFailureStore } from '../../storage/ports/access/login-failures.ts';
import type { SessionStore } from '../../storage/ports/access/sessions.ts';
import type { UpkeepLoop } from '../loops/loop.ts';

/** Makes the loop that sweeps. */
export function accessSweepLoop(deps: {
  readonly loginFailures: Pick<LoginFailureStore, 'sweepFailures'>;
  readonly sessions: Pick<SessionStore, 'sweep'>;
  readonly now: () => number;
}): UpkeepLoop {
  return {
    name: 'access-sweep',
    runsOn: 'process',
    everyMs: ACCESS_SWEEP_INTERVAL_MS,
    async run() {
      const nowMs = deps.now();
      await deps.sessions.sweep(nowMs - ENDED_SESSIONS_KEPT_MS);
      await deps.loginFailures.sweepFailures(nowMs - LOGIN_WINDOW_MS);
      return undefined;
    },
  };
}
