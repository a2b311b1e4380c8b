// The numbers of alerts; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, SECOND_MS } from '../../units.ts';

// What one alert keeps beside its count.
export const ALERT_EVENTS_SHOWN_MAX = 50;

// What is taken at once.
export const ALERT_FINDINGS_MAX = 1_000;

// How they reach webhooks, and how long they stay.
export const ALERT_TELL_MS = 1 * SECOND_MS;
export const ALERTS_TOLD_MAX = 200;
export const ALERTS_KEPT_MS = 90 * DAY_MS;
export const ALERTS_REMOVED_PER_RUN_MAX = 1_000;
