// The members of a heartbeat and its answer that capabilities declare where they declare their wire: one line each, in any
// order. decision: D71, D174
export { LOSS_MEMBERS } from './loss.ts';
export { MACHINES_MEMBERS } from './machines.ts';
export { CONTAINMENT_MEMBERS, POLICY_MEMBERS } from './policy.ts';
