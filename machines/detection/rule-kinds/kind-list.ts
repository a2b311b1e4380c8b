// Every kind of alert rule, one line each, in any order. decision: D174
export { absence } from './absence.ts';
export { count } from './count.ts';
export { match } from './match.ts';
export { sequence } from './sequence.ts';
