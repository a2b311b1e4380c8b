// What people are told of a digest that did not come, perhaps did not, or was never begun: one alert for each digest, told again
// with each such day, over with the next one that is sent. decision: D130, D166
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';

export type DigestTrouble = {
  readonly digestId: string;
  readonly name: string;
  readonly day: string;
  readonly state: 'failed' | 'unsure' | 'missed';
  readonly reason: string | null;
};

/** The key of all alerts of a digest. */
export const digestAlertKey = (digestId: string): string => `digest/${digestId}`;

/** The finding of one day; a day that is told twice counts once. */
export function findingOfDigest(
  { digestId, name, day, state, reason }: DigestTrouble,
  { alertId, nowMs }: { readonly alertId: string; readonly nowMs: number },
): Finding {
  const alert: Alert = {
    ...OF_FLEET,
    ...{ alertId, kind: 'destination_failing', severity: 'high', ruleId: digestId },
    headline: `${HEADLINES[state]}: ${name}, ${day}`,
    detail: `${DETAILS[state]}${reason === null ? '' : ` ${reason}`}`,
    ...{ occurredAtMs: nowMs, source: 'system', dedupKey: digestAlertKey(digestId) },
  };
  return findingOf(alert, `${digestId}/${day}/${state}`, { isToldAgain: true });
}

const HEADLINES = {
  failed: 'A digest was not sent',
  unsure: 'Nobody knows whether a digest arrived',
  missed: 'A digest was missed',
} as const;
const DETAILS = {
  failed:
    'Nothing was left to be tried. The next one is sent at its time; its days tell of this one.',
  unsure:
    'It was cut off while it was handed over. It is not sent again, so that nobody gets it twice.',
  missed: 'No Console was there to send it. The next one tells of this day.',
} as const;
