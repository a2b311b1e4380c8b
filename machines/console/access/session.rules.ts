// When a session is good. It ends by time, by disuse, or because somebody ends it; each step up in trust gives it a new
// secret. decision: D37; invariant: I18
import { SESSION_PARTIAL_MS } from '../../limits.ts';

export type SessionState = 'partial' | 'full' | 'idle_expired' | 'expired' | 'ended';

/** What a stored session is at an instant. */
export function sessionStateOf(
  session: {
    readonly stage: 'partial' | 'full';
    readonly lastSeenAtMs: number;
    readonly expiresAtMs: number;
    readonly endedAtMs: number | null;
  },
  at: { readonly nowMs: number; readonly idleMs: number },
): SessionState {
  if (session.endedAtMs !== null) return 'ended';
  if (at.nowMs >= session.expiresAtMs) return 'expired';
  if (at.nowMs - session.lastSeenAtMs >= at.idleMs) return 'idle_expired';
  return session.stage;
}

/** When a session that begins now ends at the latest: one that waits for its second factor soon. */
export function sessionEndOf(
  stage: 'partial' | 'full',
  times: { readonly nowMs: number; readonly lifetimeMs: number },
): number {
  const lifetimeMs =
    stage === 'partial' ? Math.min(SESSION_PARTIAL_MS, times.lifetimeMs) : times.lifetimeMs;
  return times.nowMs + lifetimeMs;
}
