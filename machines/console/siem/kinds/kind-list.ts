// Every kind of SIEM, one line each, in any order: each has its rank. decision: D154, D174
export { huntress } from './huntress.ts';
export { observe } from './observe.ts';
export { otlp } from './otlp.ts';
export { sumologic } from './sumologic.ts';
export { syslog } from './syslog.ts';
