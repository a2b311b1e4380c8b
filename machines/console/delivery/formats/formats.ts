// Every webhook type by its name. decision: D174
import type { Format } from './format.ts';
import * as LIST from './format-list.ts';

export type WebhookType = keyof typeof LIST;
export const FORMATS: Readonly<Record<WebhookType, Format>> = LIST;

const byRank = (Object.keys(LIST) as WebhookType[]).sort(
  (one, other) => FORMATS[one].rank - FORMATS[other].rank,
);
/** As they are offered. */
export const WEBHOOK_TYPES: readonly [WebhookType, ...WebhookType[]] = byRank as [
  WebhookType,
  ...WebhookType[],
];
