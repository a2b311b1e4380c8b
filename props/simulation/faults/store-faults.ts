// Accidents of the stores: away, silent, slow, and unsure, where the write happened and the answer was lost.
import { EVERYBODY, type WayFaults } from '../world/stores-faults.ts';
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind, PlannedFault } from './kinds.ts';

type StoreKind = Extract<FaultKind, `relational.${string}` | `analytics.${string}`>;

const LATE_MAX_MS = 8_000;
/** How far a replica is behind: mostly a second or two, seldom a minute. */
const LAG_LEAST_MS = 50;
const LAG_MOST_MS = 60_000;
/** How old a backup is. */
const BACKUP_LEAST_MS = 2 * 60_000;
const BACKUP_MOST_MS = 4 * 3_600_000;
/** There is none of before the fleet began. */
const BACKUP_SHARE = 0.97;
/** A Console that stops in order is waited for. */
const STOPPED_MS = 35_000;
/** Inserts that are forgotten at most. */
const FORGOTTEN_MAX = 20;

/** The effects by kind. */
export function storeFaults(fleet: FleetParts): Readonly<Record<StoreKind, FaultEffect>> {
  const { relational, analytics } = fleet.stores;
  // Half of the time every Console has the trouble, else one of them.
  const who = (fault: PlannedFault): string =>
    fault.severity < 0.5 ? EVERYBODY : targetOf(fleet.consoles, fault).name;
  const listed =
    (faults: WayFaults, list: 'away' | 'stall'): FaultEffect =>
    (fault) => {
      const target = who(fault);
      faults[list].add(target);
      return () => void faults[list].delete(target);
    };
  const slow =
    (faults: WayFaults): FaultEffect =>
    ({ severity }) => {
      faults.latencyMs = { least: 5, most: 5 + Math.round(severity * 8_000) };
      return () => {
        faults.latencyMs = { least: 0, most: 0 };
      };
    };
  const unsure =
    (faults: WayFaults): FaultEffect =>
    ({ severity, target }) => {
      const share = 0.05 + severity * 0.5;
      const which = (['failBefore', 'failAfter', 'silentAfter'] as const)[Math.floor(target * 3)];
      faults[which ?? 'failAfter'] = share;
      return () => {
        faults[which ?? 'failAfter'] = 0;
      };
    };
  return {
    'relational.away': listed(relational.faults, 'away'),
    'relational.stall': listed(relational.faults, 'stall'),
    'relational.slow': slow(relational.faults),
    'relational.late_answers': ({ severity }) => {
      relational.faults.answerMs = { least: 0, most: LATE_MAX_MS * severity };
      return () => {
        relational.faults.answerMs = { least: 0, most: 0 };
      };
    },
    'relational.unsure': unsure(relational.faults),
    'relational.notifications': (fault) => {
      const target = who(fault);
      const { notificationsCut } = relational.faults;
      notificationsCut.set(target, (fault.severity * 17) % 1 < 0.5 ? 'closed' : 'silent');
      return () => void notificationsCut.delete(target);
    },
    'analytics.away': listed(analytics.faults, 'away'),
    'analytics.stall': listed(analytics.faults, 'stall'),
    'analytics.slow': slow(analytics.faults),
    'analytics.unsure': unsure(analytics.faults),
    // A replica that was behind is promoted; until it answers nobody does.
    'relational.failover': ({ severity }) => {
      relational.failOver(LAG_LEAST_MS + severity ** 3 * LAG_MOST_MS);
      relational.faults.away.add(EVERYBODY);
      return () => void relational.faults.away.delete(EVERYBODY);
    },
    // Every Console is stopped, PostgreSQL alone is put back to what it was, and they are started.
    'relational.restore': ({ severity }) => {
      let isRestored = false;
      const restore = (): void => {
        if (isRestored) return;
        isRestored = true;
        for (const one of fleet.consoles) one.end('killed');
        const ageMs = BACKUP_LEAST_MS * (BACKUP_MOST_MS / BACKUP_LEAST_MS) ** severity;
        relational.failOver(Math.min(ageMs, BACKUP_SHARE * fleet.world.scheduler.now()));
      };
      for (const one of fleet.consoles) one.stop();
      fleet.world.scheduler.after(STOPPED_MS, restore);
      return () => {
        restore();
        for (const one of fleet.consoles) one.start();
      };
    },
    // A replica that lost its last inserts with its power takes the place of the one that had confirmed them.
    'analytics.forget': ({ severity }) => {
      analytics.forget(1 + Math.floor(severity * FORGOTTEN_MAX));
      return overAtOnce;
    },
  };
}
