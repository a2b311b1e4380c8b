// Refused credentials leave a trace: unknown keys, dead sessions, addresses over their budget, wrong setup codes. They are
// counted per place and told to the audit log once a minute, one row each, so that whoever guesses a thousand times writes
// no more than whoever guesses once. Nothing runs while nothing is refused. decision: D64; invariant: I10
import {
  REFUSAL_PLACES_MAX,
  REFUSALS_TOLD_EVERY_MS,
} from '../../machines/console/access/limits.ts';
import type { AuditEntry, AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../runtime/logger.ts';

export const REFUSED_KINDS = ['unknown_key', 'dead_session', 'rate_limited', 'setup_code'] as const;
export type RefusedKind = (typeof REFUSED_KINDS)[number];

export type RefusedCredentials = {
  /** Counts one; costs no input or output. */
  note(kind: RefusedKind, place: string): void;
  /** How many of each since this Console started. */
  totals(): Readonly<Record<RefusedKind, number>>;
  /** Writes what waits and stops. */
  close(): Promise<void>;
};
type Counted = {
  readonly kind: RefusedKind;
  readonly place: string;
  readonly firstAtMs: number;
  lastAtMs: number;
  count: number;
};

// When too many places are counted, the newcomers share one row.
const ELSEWHERE = 'elsewhere';

/** Starts with nothing counted. */
export function createRefusedCredentials(deps: {
  readonly audit: Pick<AuditLog, 'append'>;
  readonly timers: Pick<Timers, 'setTimeout' | 'clearTimeout'>;
  readonly now: () => number;
  readonly logger: Logger;
}): RefusedCredentials {
  const totals: Record<RefusedKind, number> = {
    ...{ unknown_key: 0, dead_session: 0, rate_limited: 0, setup_code: 0 },
  };
  const waiting = new Map<string, Counted>();
  let timer: unknown = null;
  let isClosed = false;

  function count(kind: RefusedKind, asked: string): Counted {
    const isKnown = waiting.has(`${kind} ${asked}`);
    const place = isKnown || waiting.size < REFUSAL_PLACES_MAX ? asked : ELSEWHERE;
    const name = `${kind} ${place}`;
    const nowMs = deps.now();
    const one = waiting.get(name) ?? { kind, place, firstAtMs: nowMs, lastAtMs: nowMs, count: 0 };
    waiting.set(name, one);
    return one;
  }

  async function tell(): Promise<void> {
    timer = null;
    const told = [...waiting].map(([name, one]) => ({ name, one, count: one.count }));
    if (told.length === 0) return;
    try {
      await deps.audit.append(told.map(({ one, count: times }) => entryOf(one, times)));
      for (const { name, one, count: times } of told) {
        if (one.count === times) waiting.delete(name);
        else one.count -= times;
      }
    } catch (error) {
      deps.logger.warn({ error: String(error) }, 'refused credentials wait to be audited');
    }
    if (waiting.size > 0) arm();
  }

  function arm(): void {
    if (timer !== null || isClosed) return;
    timer = deps.timers.setTimeout(() => void tell(), REFUSALS_TOLD_EVERY_MS);
  }

  return {
    note(kind, place) {
      totals[kind] += 1;
      const one = count(kind, place);
      one.count += 1;
      one.lastAtMs = deps.now();
      arm();
    },
    totals: () => totals,
    async close() {
      isClosed = true;
      if (timer !== null) deps.timers.clearTimeout(timer);
      await tell();
    },
  };
}

function entryOf({ kind, place, firstAtMs, lastAtMs }: Counted, count: number): AuditEntry {
  return {
    ...{ atMs: lastAtMs, actor: 'anonymous', action: 'credential.refused', target: kind },
    ...{ result: 'refused', from: place, detail: { count, first_at_ms: firstAtMs } },
  };
}
