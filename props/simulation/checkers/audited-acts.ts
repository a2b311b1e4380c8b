// What people did stands in the audit log, each act once: for whoever was told that something was done there is one row,
// and there are no more rows than it asked for. Truth comes from the people; an act that was never answered, or refused,
// may have been done. Excuse: none. invariant: I17; decision: D35
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

type Count = { asked: number; done: number };

export const auditedActs: CheckerKind = {
  name: 'audited-acts',
  promise: 'Every act of a person stands in the audit log exactly once (I17).',
  make({ stores: { relational } }, report) {
    const acts = new Map<number, string>();
    const counts = new Map<string, Count>();
    const kinds = new Set<string>();
    return {
      observe(seen) {
        if (seen.kind === 'act.asked') {
          const { act, actor, action, target } = seen;
          kinds.add(action);
          const name = nameOf({ actor, action, target: WITH_TARGET.has(action) ? target : null });
          acts.set(act, name);
          ensure(counts, name, () => ({ asked: 0, done: 0 })).asked += 1;
        }
        if (seen.kind !== 'act.done') return;
        const count = counts.get(acts.get(seen.act) ?? '');
        if (count !== undefined) count.done += 1;
      },
      finish() {
        const rows = new Map<string, number>();
        for (const { actor, action, target, result } of relational.auditRows()) {
          if (result !== 'ok' || !kinds.has(action)) continue;
          const name = nameOf({ actor, action, target: WITH_TARGET.has(action) ? target : null });
          rows.set(name, (rows.get(name) ?? 0) + 1);
        }
        for (const [name, { asked, done }] of counts) {
          const found = rows.get(name) ?? 0;
          if (found < done)
            report(`${name} was done ${done} times and stands there ${found} times`);
          if (found > asked) report(`${name} was asked ${asked} times and stands there ${found}`);
        }
        for (const name of rows.keys()) {
          if (!counts.has(name)) report(`${name} stands there, and nobody did it`);
        }
      },
    };
  },
};

/** Where the person knows what the log calls the thing. */
const WITH_TARGET: ReadonlySet<string> = new Set(['settings.change', 'license.import']);

function nameOf(of: {
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
}): string {
  return `${of.action} of ${of.target ?? 'an account'} by ${of.actor}`;
}
