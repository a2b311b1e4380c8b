// Every webhook type, one line each. What is in no line is refused.
import { discord } from './discord.ts';
import type { Format } from './format.ts';
import { generic } from './generic.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { thehive } from './thehive.ts';

export const WEBHOOK_TYPES = [
  'generic',
  'slack',
  'discord',
  'teams',
  'pagerduty',
  'opsgenie',
  'thehive',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

export const FORMATS: Readonly<Record<WebhookType, Format>> = {
  generic,
  slack,
  discord,
  teams,
  pagerduty,
  opsgenie,
  thehive,
};
