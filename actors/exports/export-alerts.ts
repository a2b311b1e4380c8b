// What people are told of a day that is not exported. decision: D156, D157
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import { exportIdOf } from '../../machines/console/exports/export-run.rules.ts';
import type { ExportRow } from '../../storage/ports/exports/export-store.ts';
import type { Chance } from '../trust/chance.ts';

/** The finding of one day; an order begins a new week, which may end the same way. */
export function findingOfDead(
  row: ExportRow,
  { chance, now }: { readonly chance: Pick<Chance, 'newId'>; readonly now: () => number },
): Finding {
  const { table, day, reason, giveUpAtMs } = row;
  const alert: Alert = {
    ...OF_FLEET,
    ...{ alertId: chance.newId(), kind: 'destination_failing', severity: 'high' },
    ruleId: 'exports',
    headline: `${table} of ${day} is not exported`,
    detail: `It was tried for a week. ${reason ?? ''} Correct the target, then order the day again.`,
    ...{ occurredAtMs: now(), source: 'system', dedupKey: 'exports' },
  };
  return findingOf(alert, `${exportIdOf(row)}/${giveUpAtMs}`, { isToldAgain: true });
}
