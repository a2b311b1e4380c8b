// Every webhook type by its name. decision: D174
import type { Format } from './format.ts';
import * as LIST from './format-list.ts';

export type WebhookType = keyof typeof LIST;
export const FORMATS: Readonly<Record<WebhookType, Format>> = LIST;

/** What is offered first. */
const USUAL = 'generic' satisfies WebhookType;
const others = (Object.keys(LIST) as readonly WebhookType[]).filter((type) => type !== USUAL);
export const WEBHOOK_TYPES = [USUAL, ...others] as const;
