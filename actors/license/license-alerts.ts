// A license that comes to its end is told to people: when the end is near, when it has come, and when its grace is over.
// decision: D33, D130
import { type Alert, type AlertSeverity, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { LICENSE_ALERT_MS } from '../../machines/limits.ts';
import type { Alerts } from '../detection/alerts.ts';
import { createStandingAlerts, type Standing } from '../detection/standing-alerts.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Chance } from '../trust/chance.ts';
import type { LicenseView } from './license-service.ts';

const KIND = 'license_expiring';
const ENDINGS = {
  ending_soon: { severity: 'medium', headline: 'The license ends soon' },
  grace: { severity: 'high', headline: 'The license has ended, its grace runs' },
  expired: { severity: 'critical', headline: 'The license has expired' },
} as const satisfies Record<string, { severity: AlertSeverity; headline: string }>;

type Ending = keyof typeof ENDINGS;

/** Makes the loop. */
export function licenseAlertsLoop(deps: {
  readonly view: () => LicenseView;
  readonly alerts: Pick<Alerts, 'raise' | 'pass'>;
  readonly newId: Chance['newId'];
}): DesignatedLoop {
  const tell = createStandingAlerts(deps.alerts);
  return {
    ...{ name: 'license-alerts', runsOn: 'designated', everyMs: LICENSE_ALERT_MS },
    async run({ epoch }) {
      await tell(licenseEnding(deps.view(), deps.newId), epoch);
      return undefined;
    },
  };
}

/** What holds of the license now. */
export function licenseEnding(view: LicenseView, newId: Chance['newId']): Standing {
  const ending = endingOf(view);
  const over = (Object.keys(ENDINGS) as Ending[]).filter((one) => one !== ending).map(keyOf);
  if (ending === null || view.license === null) return { holding: [], over };
  const occurrence = `${view.license.licenseId} ${ending}`;
  return { holding: [{ alert: alertOf(view, ending, newId()), occurrence }], over };
}

function keyOf(ending: Ending): string {
  return `${KIND} ${ending}`;
}

function endingOf({ banners }: LicenseView): Ending | null {
  for (const { reason } of banners) {
    if (reason === 'ending_soon' || reason === 'grace' || reason === 'expired') return reason;
  }
  return null;
}

function alertOf({ license, nowMs }: LicenseView, ending: Ending, alertId: string): Alert {
  const text = (ms: number | undefined) => new Date(ms ?? 0).toISOString();
  const end = `It is valid until ${text(license?.validUntilMs)}, with grace until ${text(license?.graceUntilMs)}.`;
  return {
    ...OF_FLEET,
    ...{ alertId, kind: KIND, source: 'system', ruleId: KIND, ...ENDINGS[ending] },
    detail: `${end} After it, new nodes above the number of the license are refused; nothing else changes.`,
    ...{ occurredAtMs: nowMs, dedupKey: keyOf(ending) },
  };
}
