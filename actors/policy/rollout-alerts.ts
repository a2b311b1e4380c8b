// A rollout whose gate failed is told to people: one that stands still until it goes on, one that goes back until somebody
// settled it or the book knows it no more. decision: D90, D130
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import type { RolloutRow } from '../../machines/console/policy/book.rules.ts';
import { targetId } from '../../machines/console/policy/book.rules.ts';
import type { Standing } from '../detection/standing-alerts.ts';
import type { Chance } from '../trust/chance.ts';

const KIND = 'policy_rollout_halted';

/** What holds of rollouts now. */
export function rolloutsHalted(rollouts: Iterable<RolloutRow>, newId: Chance['newId']): Standing {
  const holding: { readonly alert: Alert; readonly occurrence: string }[] = [];
  const over: string[] = [];
  for (const row of rollouts) {
    const { failed } = row.context;
    const hasReturned = row.state === 'returning' || row.state === 'returned';
    if (failed === null || (row.state !== 'halted' && !hasReturned)) over.push(keyOf(row));
    else {
      // It can halt more than once, and go back once.
      const occurrence = `${row.rolloutId} ${hasReturned ? 'returning' : row.sequence}`;
      holding.push({ alert: alertOf(row, failed, newId()), occurrence });
    }
  }
  return { holding, over };
}

function keyOf({ rolloutId }: RolloutRow): string {
  return `${KIND} ${rolloutId}`;
}

function alertOf(
  row: RolloutRow,
  { gate, counted, limit }: NonNullable<RolloutRow['context']['failed']>,
  alertId: string,
): Alert {
  const { packId, version } = row.next;
  const what = row.state === 'halted' ? 'stands still' : 'goes back';
  const then =
    row.state === 'halted'
      ? 'Its sensors stay as they are until somebody resumes or aborts it.'
      : 'The sensors it reached return to what they had.';
  return {
    ...OF_FLEET,
    ...{ alertId, kind: KIND, severity: 'high', source: 'policy', ruleId: row.rolloutId },
    headline: `A rollout of version ${version} ${what}`,
    detail: `Of the pack ${packId} to ${targetId(row.target)}: the gate ${gate} counted ${counted}, and ${limit} are allowed. ${then}`,
    ...{ occurredAtMs: row.movedAtMs, dedupKey: keyOf(row) },
  };
}
