// What is shown of one sensor, one line for each file that says so, in any order: each field has its rank. decision: D174
export * from './containment/shown.ts';
export * from './fleet/engine-shown.ts';
export * from './fleet/shown.ts';
export * from './policy/shown.ts';
export * from './telemetry/shown.ts';
