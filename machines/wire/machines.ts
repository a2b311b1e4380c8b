// What a node reports of its own statecharts, in heartbeats and in `status` frames: the state that each has held for a
// while, never one that it only passed through.
import Type from 'typebox';
import type { StateValue } from 'xstate';
import { NODE_MACHINES_MAX } from '../limits.ts';
import { Timestamp } from './scalars.ts';

const STATE_MAX_CHARS = 256;

export const MachineReport = Type.Object({
  machine: Type.String({ pattern: '^[a-z]{1,32}$' }),
  /** Dotted paths of the innermost active states, a blank between two. */
  value: Type.String({ pattern: '^[A-Za-z0-9_.# -]*$', maxLength: STATE_MAX_CHARS }),
  since: Timestamp,
  /** When the next of its timers is due. */
  due: Type.Optional(Timestamp),
});
export const MachineReports = Type.Array(MachineReport, { maxItems: NODE_MACHINES_MAX });
/** What it adds to a heartbeat. */
export const MACHINES_MEMBERS = {
  told: { machines: Type.Optional(MachineReports) },
  answered: {},
};
export type MachineReport = Type.Static<typeof MachineReport>;

/** The innermost active states of a snapshot as a report tells them. */
export function stateText({ value }: { readonly value: StateValue }): string {
  return pathsOf(value).sort().join(' ').slice(0, STATE_MAX_CHARS);
}

function pathsOf(value: StateValue): string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(value).flatMap(([key, inner]) => {
    const within = inner === undefined ? [] : pathsOf(inner);
    return within.length === 0 ? [key] : within.map((path) => `${key}.${path}`);
  });
}
