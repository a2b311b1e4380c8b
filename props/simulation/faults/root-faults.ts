// The root of the Consoles' authority is changed: in peace, with a certificate's lifetime between its steps, or in haste because
// its key was stolen, and then nodes that do not know the new root have to be enrolled again.
import { type FleetParts, overAtOnce } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

type RootKind = Extract<FaultKind, 'console.new_root'>;

/** In lifetimes of a certificate: the two waits, and time in which all is over. */
export const CHANGE_LIFETIMES = 2.5;
const WAIT_LIFETIMES = 1.1;
/** Longer waits would keep the world awake for days. */
export const LIFETIME_MAX_MS = 600_000;
const HASTY = 0.3;
const HASTY_WAIT_MS = 15_000;

/** The effects by kind. */
export function rootFaults(fleet: FleetParts): Readonly<Record<RootKind, FaultEffect>> {
  const { authority, consoles, world, lifetimeMs } = fleet;

  /** Every Console is restarted on what the data directory holds then. */
  function step(): void {
    const up = consoles.filter((console) => console.isUp());
    for (const console of up) console.end('killed');
    authority.step();
    for (const console of up) console.start();
  }

  return {
    'console.new_root': ({ durationMs, severity }) => {
      if (authority.isChanging()) return overAtOnce;
      const hastyMs = Math.min(HASTY_WAIT_MS, durationMs / 3);
      const isPeaceful = severity >= HASTY && durationMs >= CHANGE_LIFETIMES * lifetimeMs;
      const waitMs = isPeaceful ? WAIT_LIFETIMES * lifetimeMs : hastyMs;
      let isOver = false;
      const later = (): void => {
        if (!isOver && authority.isChanging()) step();
      };
      step();
      world.scheduler.after(waitMs, later);
      world.scheduler.after(2 * waitMs, later);
      return () => {
        isOver = true;
        while (authority.isChanging()) step();
      };
    },
  };
}
