// A setting that a person set, and was told so, holds: on the Console that said it at once, on one that starts later from
// its first answer, and on every one when the fleet is well. A revision stands for one value, and there are no more
// revisions than changes that somebody asked for. Truth comes from the people alone: what they asked for, were told and
// were shown. Excuse: a Console that runs meanwhile looks again every two seconds, if the database answers. decision: D38
import { settings } from '../../../gateway/capabilities/settings/settings.ts';
import type { ObservationOf } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

type Set = {
  readonly console: string;
  readonly value: string;
  readonly revision: number;
  readonly order: number;
  readonly atMs: number;
};
/** When all is well, everybody has looked by then. */
const SETTLED_MS = 30_000;

export const keptSettings: CheckerKind = {
  name: 'kept-settings',
  promise:
    'A setting that was set holds after crashes and restarts, once and with its value (D38).',
  make(fleet, report) {
    const sets = new Map<string, Set[]>();
    const tries = new Map<string, number>();
    /** The value of a name at a revision. */
    const values = new Map<string, string>();
    const startedAt = new Map<string, number>();
    let healed = { order: Number.POSITIVE_INFINITY, atMs: Number.POSITIVE_INFINITY };
    let order = 0;

    /** Whether the Console must have known it when it was asked. */
    function isOwed({ console, order: at, atMs }: Set, seen: ObservationOf<'settings.shown'>) {
      if (at > seen.asked) return false;
      if (console === seen.console || (startedAt.get(seen.console) ?? 0) > at) return true;
      const nowMs = fleet.world.scheduler.now();
      return seen.asked > healed.order && nowMs - Math.max(atMs, healed.atMs) > SETTLED_MS;
    }

    function shown(seen: ObservationOf<'settings.shown'>): void {
      for (const { name, value, revision } of seen.values) {
        const known = ensure(values, `${name} ${revision}`, () => value);
        if (known !== value) report(`${name} is ${value} and ${known} at revision ${revision}`);
        if (revision > (tries.get(name) ?? 0)) {
          report(`${name} has revision ${revision}, and fewer changes were asked for`);
        }
      }
      const revisions = new Map(seen.values.map(({ name, revision }) => [name, revision]));
      for (const [name, all] of sets) {
        const lost = all.find(
          (one) => isOwed(one, seen) && (revisions.get(name) ?? 0) < one.revision,
        );
        if (lost === undefined) continue;
        report(`${seen.console} does not know that ${name} was set to ${lost.value}`);
      }
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
          case 'setting.tried':
            tries.set(seen.name, (tries.get(seen.name) ?? 0) + 1);
            break;
          case 'setting.set': {
            const { console, name, value, revision } = seen;
            const known = ensure(values, `${name} ${revision}`, () => value);
            if (known !== value) report(`${name} was set to ${value}, and ${known} is shown`);
            ensure(sets, name, () => []).push({ console, value, revision, order, atMs });
            break;
          }
          case 'settings.shown':
            shown(seen);
            break;
        }
      },
      finish() {
        const stored = new Map(
          fleet.stores.relational.settings.list().map((row) => [row.name, row.revision]),
        );
        for (const host of fleet.consoles) {
          for (const { name, revision } of host.running()?.context.use(settings).view() ?? []) {
            if (revision === (stored.get(name) ?? 0)) continue;
            report(`${host.name} holds revision ${revision} of ${name}, and it is not stored`);
          }
        }
      },
    };
  },
};
