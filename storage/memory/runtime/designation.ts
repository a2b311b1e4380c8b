// The reference designation: a lock, and the epoch of who held it last. decision: D60

import { StoreUnavailable } from '../../ports/plumbing/store-unavailable.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { type Designation, type LastTenure, Overtaken } from '../../ports/runtime/designation.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';

/** What the database holds. */
export type DesignationState = { last: LastTenure; lockedBy: object | null };
/** Throws Overtaken when another tenure began after this epoch; without one there is nothing to fence. */
export type Fence = (epoch: number | undefined) => void;
export type MemoryDesignation = {
  readonly designation: Designation;
  readonly fence: Fence;
  /** Away: the lock is lost, as its connection is. */
  setAway(away: boolean): void;
};

/** Nobody was ever designated. */
export function emptyDesignation(): DesignationState {
  return { last: { epoch: 0, holder: '', sinceMs: 0 }, lockedBy: null };
}

/** The fence over a state. */
export function fenceOf(state: DesignationState): Fence {
  return (epoch) => {
    if (epoch !== undefined && epoch !== state.last.epoch) throw new Overtaken(epoch);
  };
}

/** Takes the lock for a session and begins a tenure; null while another session holds it. */
export function takeTenure(
  state: DesignationState,
  session: object,
  { holder, nowMs }: { readonly holder: string; readonly nowMs: number },
): number | null {
  if (state.lockedBy !== null) return null;
  state.lockedBy = session;
  const epoch = state.last.epoch + 1;
  state.last = { epoch, holder: storableText(holder), sinceMs: nowMs };
  return epoch;
}

/** Ends a session; its lock is free from now on. */
export function endSession(state: DesignationState, session: object): void {
  if (state.lockedBy === session) state.lockedBy = null;
}

/** Makes the port. */
export function createMemoryDesignation(): MemoryDesignation {
  const state = emptyDesignation();
  let tellLost: (() => void) | null = null;
  const { ask, setAway } = createAwaySwitch((away) => {
    if (away) tellLost?.();
  });
  return {
    fence: fenceOf(state),
    setAway,
    designation: {
      stand: (request) =>
        ask('designation.stand', () => {
          const session = {};
          const epoch = takeTenure(state, session, request);
          if (epoch === null) return null;
          tellLost = () => {
            end();
            request.onLost('the connection ended');
          };
          function end(): void {
            if (state.lockedBy === session) tellLost = null;
            endSession(state, session);
          }
          return {
            epoch,
            prove: () =>
              ask('designation.prove', () => {
                if (state.last.epoch !== epoch) throw new Overtaken(epoch);
                if (state.lockedBy !== session) throw new StoreUnavailable('the session ended');
              }),
            release: async () => end(),
          };
        }),
      last: () => ask('designation.last', () => state.last),
      close: async () => undefined,
    },
  };
}
