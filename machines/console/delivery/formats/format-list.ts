// Every webhook type, one line each, in any order: each has its rank; what is in no line is refused. decision: D174
export { discord } from './discord.ts';
export { generic } from './generic.ts';
export { opsgenie } from './opsgenie.ts';
export { pagerduty } from './pagerduty.ts';
export { slack } from './slack.ts';
export { teams } from './teams.ts';
export { thehive } from './thehive.ts';
