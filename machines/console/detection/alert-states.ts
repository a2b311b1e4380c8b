// The states of an alert by name, for lists that are filtered by them; the machine stands in `alert.machine.ts`.

export const ALERT_STATES = ['open', 'acknowledged', 'resolved', 'reopened'] as const;
export type AlertStateName = (typeof ALERT_STATES)[number];
