// The inbox as other parts use it: whoever finds something that people should know hands it over here. What is taken is
// durable, counted once, and reaches webhooks when it is new. decision: D130
import type { Finding } from '../../machines/console/detection/finding.ts';
import { ALERT_FINDINGS_MAX } from '../../machines/limits.ts';
import type { AlertRow, AlertStore } from '../../storage/ports/detection/alert-store.ts';

export type AlertsRaised = (alerts: readonly AlertRow[]) => void;
export type Alerts = {
  /** The alerts that are new. Rejects with StoreUnavailable, and with Overtaken under an epoch that is over. */
  raise(findings: readonly Finding[], epoch?: number): Promise<readonly AlertRow[]>;
  /** What live alerts of these keys told of is over. */
  pass(dedupKeys: readonly string[], epoch?: number): Promise<void>;
  /** Told of new alerts of this Console, once they are durable. Listeners may not throw. */
  onRaised(listener: AlertsRaised): () => void;
};

/** Makes the service over a store. */
export function createAlerts(deps: {
  readonly store: Pick<AlertStore, 'raise' | 'pass'>;
  readonly now: () => number;
}): Alerts {
  const { store, now } = deps;
  const listeners = new Set<AlertsRaised>();
  return {
    async raise(findings, epoch) {
      const fresh: AlertRow[] = [];
      for (let at = 0; at < findings.length; at += ALERT_FINDINGS_MAX) {
        const part = findings.slice(at, at + ALERT_FINDINGS_MAX);
        fresh.push(...(await store.raise({ epoch, nowMs: now(), findings: part })));
      }
      // Told again counts as new for webhooks, so they are woken by whatever was taken.
      if (findings.length > 0) for (const listener of listeners) listener(fresh);
      return fresh;
    },
    async pass(dedupKeys, epoch) {
      if (dedupKeys.length > 0) await store.pass({ epoch, nowMs: now(), dedupKeys });
    },
    onRaised(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
