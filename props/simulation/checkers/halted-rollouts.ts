// Whenever a gate ends or holds up a rollout, people find an alert of it. Truth is which steps were committed. Excuses: what
// people said of the rollout soon after, and a PostgreSQL that forgot. decision: D90, D130, D171
import type { CheckerKind } from './checker.ts';

/** A look of the loop that drives rollouts, with a database that cannot be reached meanwhile. */
const TOLD_WITHIN_MS = 120_000;

export const haltedRollouts: CheckerKind = {
  name: 'halted-rollouts',
  promise: 'A rollout that a gate holds up or sends back has an alert.',
  make(fleet, report) {
    const { inbox } = fleet.stores.relational;
    /** By rollout, the last step that a gate made. */
    const owed = new Map<string, number>();
    const judged = new Set<string>();

    function judge(atMs: number): void {
      for (const [rollout, sinceMs] of owed) {
        if (atMs - sinceMs < TOLD_WITHIN_MS) continue;
        owed.delete(rollout);
        if (judged.has(rollout) || fleet.isDisturbed()) continue;
        judged.add(rollout);
        const found = inbox.list({ ruleId: rollout, limit: 1, before: null });
        if (found.length === 0)
          report(`a gate held up the rollout ${rollout}, and nobody was told`);
      }
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'rollout.moved': {
            const isByGate = seen.to === 'halted' || seen.to === 'returning';
            if (isByGate && seen.event === 'look') owed.set(seen.rollout, atMs);
            break;
          }
          case 'rollout.said':
            owed.delete(seen.rollout);
            break;
          case 'relational.forgot':
            owed.clear();
            break;
        }
      },
      probe: judge,
      finish: judge,
    };
  },
};
