// A license that a person imported, and was told so, counts: it is the one that is shown, until somebody imports another,
// on the Console that took it at once, on one that starts later from its first answer, and on every one when the fleet is
// well. Past its grace no node is enrolled above its number; that is judged where there is one Console, by the clock that
// enrolled. Truth comes from the people and the enrollments. Excuses: a Console that runs meanwhile looks again every
// minute; an import that was never answered may count, too. invariant: I16; decision: D32, D33
import { LICENSE_LOOK_INTERVAL_MS } from '../../../machines/limits.ts';
import type { ObservationOf } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';

type Imported = {
  readonly console: string;
  readonly license: string;
  readonly nodes: number;
  readonly graceUntilMs: number;
  readonly order: number;
  readonly atMs: number;
};
const SETTLED_MS = LICENSE_LOOK_INTERVAL_MS + 10_000;

export const countedLicense: CheckerKind = {
  name: 'counted-license',
  promise:
    'An imported license counts after crashes and restarts, and past its grace it limits (I16).',
  make(fleet, report) {
    /** In the order in which they were asked for. */
    const tried: string[] = [];
    const imported: Imported[] = [];
    const protectedNodes = new Set<string>();
    const startedAt = new Map<string, number>();
    let healed = { order: Number.POSITIVE_INFINITY, atMs: Number.POSITIVE_INFINITY };
    let order = 0;

    function isOwed({ console, order: at, atMs }: Imported, seen: ObservationOf<'license.shown'>) {
      if (at > seen.asked) return false;
      if (console === seen.console || (startedAt.get(seen.console) ?? 0) > at) return true;
      const nowMs = fleet.world.scheduler.now();
      return seen.asked > healed.order && nowMs - Math.max(atMs, healed.atMs) > SETTLED_MS;
    }

    function shown(seen: ObservationOf<'license.shown'>): void {
      const owed = imported.findLast((one) => isOwed(one, seen));
      if (owed === undefined) return;
      // One that was asked for before this one was told may have come after it.
      const under = openedUnder.get(owed.license) ?? owed.license;
      const from = tried.indexOf(under);
      const at = seen.license === null ? -1 : tried.indexOf(seen.license);
      if (at < from) {
        report(`${seen.console} shows ${seen.license}, and ${owed.license} was imported later`);
      }
    }

    /** The oldest import under way while this one was. */
    const openedUnder = new Map<string, string>();
    const open = new Set<string>();

    function enrolled({ nowMs, repeated, sensor }: ObservationOf<'sensor.enrolled'>): void {
      const isNew = !repeated && !protectedNodes.has(sensor);
      protectedNodes.add(sensor);
      const last = imported.at(-1);
      if (!isNew || last === undefined || fleet.consoles.length > 1) return;
      const isLast = tried.at(-1) === last.license && open.size === 0;
      if (!isLast || nowMs < last.graceUntilMs || protectedNodes.size <= last.nodes) return;
      report(
        `${sensor} is node ${protectedNodes.size}; ${last.license} has ended and allows ${last.nodes}`,
      );
    }

    return {
      observe(seen, atMs) {
        order += 1;
        switch (seen.kind) {
          case 'process.started':
            startedAt.set(seen.host, order);
            break;
          case 'healed':
            healed = { order, atMs };
            break;
          case 'license.tried': {
            tried.push(seen.license);
            open.add(seen.license);
            const [oldest = seen.license] = open;
            openedUnder.set(seen.license, oldest);
            break;
          }
          case 'license.refused':
            open.delete(seen.license);
            tried.splice(tried.indexOf(seen.license), 1);
            break;
          case 'license.imported': {
            const { console, license, nodes, graceUntilMs } = seen;
            open.delete(license);
            imported.push({ console, license, nodes, graceUntilMs, order, atMs });
            break;
          }
          case 'license.shown':
            shown(seen);
            break;
          case 'sensor.enrolled':
            enrolled(seen);
            break;
          case 'sensor.revoked':
            protectedNodes.delete(seen.sensor);
            break;
        }
      },
    };
  },
};
