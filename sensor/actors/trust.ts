// What the Sensor says about its own trust: the state follows the certificate's dates as time passes, the latest
// trouble is kept across restarts. `trust_revoked` is never left here. invariant: I3, I12
import { TROUBLE_SAVE_INTERVAL_MS } from '../../machines/limits.ts';
import { trustStateAt } from '../../machines/sensor/renewal.rules.ts';
import type { SensorConfig } from '../config/config.ts';
import type { SensorState, StateDirectory } from '../state-directory/identity.ts';
import { isTrustTrouble, type TroubleKind } from '../transport/trouble.ts';
import type { SensorFacts } from './facts.ts';

export type TrustKeeper = {
  /** Begins with what the state directory says. */
  load(state: SensorState, notAfterMs: number): void;
  /** Follows the dates; asked before each heartbeat and now and then between. */
  refresh(): void;
  noteTrouble(kind: TroubleKind): void;
  noteRevoked(): void;
  /** How long before its end the Console calls a certificate due; kept over restarts. */
  useThreshold(seconds: number | undefined): void;
};
type KeeperParts = {
  readonly config: SensorConfig;
  readonly now: () => number;
  readonly facts: SensorFacts;
  readonly directory: Pick<StateDirectory, 'saveState'>;
  readonly onChange: () => void;
};
const SECOND_MS = 1_000;
const TROUBLE_FIELDS = ['last_trust_error_at', 'last_connection_error_at'] as const;
type TroubleField = (typeof TROUBLE_FIELDS)[number];

/** Makes the keeper of `facts.trust`. */
export function createTrustKeeper(parts: KeeperParts): TrustKeeper {
  const { facts, directory, now } = parts;
  const { RENEWAL_RECOMMENDED_MS: recommendedMs } = parts.config.intervals;
  let dueMs = parts.config.intervals.RENEWAL_DUE_MS;
  const savedAtMs: Record<TroubleField, number> = {
    last_trust_error_at: 0,
    last_connection_error_at: 0,
  };

  // A clock that was ahead leaves a trouble in the future, where it would count as recent until its day comes. It
  // happened before now, and that is all that is still known.
  function bringBack(): void {
    for (const field of TROUBLE_FIELDS) {
      if (!(Date.parse(facts.trust[field] ?? '') > now())) continue;
      const at = new Date(now()).toISOString();
      facts.trust[field] = at;
      void directory.saveState({ [field]: at });
    }
  }

  function refresh(): void {
    bringBack();
    const notAfterMs = Date.parse(facts.trust.certificate_expires_at);
    if (facts.trust.state === 'trust_revoked' || !(notAfterMs > 0)) return;
    const state = trustStateAt(notAfterMs, now(), { recommendedMs, dueMs });
    if (state === facts.trust.state) return;
    facts.trust.state = state;
    void directory.saveState({ trust_state: state });
    parts.onChange();
  }

  return {
    load(state, notAfterMs) {
      dueMs = msOf(state.renewal_threshold_seconds) ?? dueMs;
      facts.trust = {
        ...facts.trust,
        state: state.trust_state,
        certificate_expires_at: new Date(notAfterMs).toISOString(),
        renewal_status: state.renewal_status,
      };
      for (const field of TROUBLE_FIELDS) {
        const at = facts.trust[field] ?? state[field];
        if (at !== undefined && !Number.isNaN(Date.parse(at))) facts.trust[field] = at;
      }
      refresh();
    },
    refresh,
    // A Console that is away fails every request: the file is written at most once a minute.
    noteTrouble(kind) {
      const field = isTrustTrouble(kind) ? 'last_trust_error_at' : 'last_connection_error_at';
      const at = new Date(now()).toISOString();
      facts.trust[field] = at;
      if (Math.abs(now() - savedAtMs[field]) < TROUBLE_SAVE_INTERVAL_MS) return;
      savedAtMs[field] = now();
      void directory.saveState({ [field]: at });
    },
    useThreshold(seconds) {
      const told = msOf(seconds);
      if (told === null || told === dueMs) return;
      dueMs = told;
      void directory.saveState({ renewal_threshold_seconds: told / SECOND_MS });
      refresh();
    },
    noteRevoked() {
      facts.trust.state = 'trust_revoked';
      void directory.saveState({ trust_state: 'trust_revoked' });
    },
  };
}

function msOf(seconds: number | undefined): number | null {
  return seconds === undefined || !(seconds >= 0) ? null : seconds * SECOND_MS;
}
