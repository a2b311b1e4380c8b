// A license that has expired is told to people. Truth is which license a person imported last, and until when its grace runs
// by what that person signed. It is owed once every Console was up, right in its time and undisturbed for a while after it.
// Excuses: an import that was not answered or came later, and a PostgreSQL that forgot. decision: D33, D130, D171
import { LICENSE_ALERT_MS, LICENSE_LOOK_INTERVAL_MS } from '../../../machines/limits.ts';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { CheckerKind } from './checker.ts';

/** One look at the license and one at what is to be told, by a Console that has just begun to lead. */
const TOLD_WITHIN_MS = LICENSE_ALERT_MS + LICENSE_LOOK_INTERVAL_MS + 60_000;
const CLOCK_ERROR_MAX_MS = 10_000;
const RULE = 'license_expiring';
/** Accidents that a Console's loops feel. */
const DELAYS = /^(console|relational)\./;

export const licenseTold: CheckerKind = {
  name: 'license-told',
  promise: 'People find an alert of a license that has expired.',
  make(fleet, report) {
    const { inbox } = fleet.stores.relational;
    let last: { readonly license: string; readonly overAtMs: number } | null = null;
    /** Since when nothing that delays was seen. */
    let calmSinceMs: number | null = null;

    function isCalm(): boolean {
      if (fleet.disturbances().some((kind) => DELAYS.test(kind))) return false;
      return fleet.consoles.every(
        (one) => one.isUp() && Math.abs(one.clock.errorMs()) <= CLOCK_ERROR_MAX_MS,
      );
    }

    function judge(atMs: number): void {
      if (!isCalm()) {
        calmSinceMs = null;
        return;
      }
      calmSinceMs ??= atMs;
      if (last === null || atMs - Math.max(calmSinceMs, last.overAtMs) < TOLD_WITHIN_MS) return;
      const { license } = last;
      last = null;
      const found = inbox.list({ ruleId: RULE, limit: 100, before: null });
      if (found.some(({ severity }) => severity === 'critical')) return;
      report(`${license} has expired, and nobody was told`);
    }

    return {
      observe(seen) {
        switch (seen.kind) {
          case 'license.tried':
            last = null;
            break;
          case 'license.imported': {
            const { license, graceUntilMs } = seen;
            last = { license, overAtMs: graceUntilMs - WORLD_BEGINS_MS };
            break;
          }
          case 'process.started':
          case 'process.ended':
            if (fleet.consoles.some(({ name }) => name === seen.host)) calmSinceMs = null;
            break;
          case 'world.slept':
            // Dates go on while the world sleeps, and loops do not.
            calmSinceMs = null;
            break;
          case 'relational.forgot':
            last = null;
            break;
        }
      },
      probe: judge,
      finish: judge,
    };
  },
};
