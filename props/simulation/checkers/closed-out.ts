// What a change of somebody's access promises to whoever is told of it: a session that the person had received before the
// change was asked for opens nothing any more. Truth comes from the people alone: who held what since when, and what they
// were told; what a database holds is not looked at. No excuses. invariant: I18; decision: D37
import type { CheckerKind } from './checker.ts';

export const closedOut: CheckerKind = {
  name: 'closed-out',
  promise:
    'Whoever is told of another role, a closed account or a new password can count on it: older sessions are over (I18).',
  make(_fleet, report) {
    /** By person: what was closed, and from which observation on everybody could know. */
    const closed = new Map<string, { readonly before: number; readonly toldAt: number }[]>();
    let order = 0;
    return {
      observe(seen) {
        order += 1;
        if (seen.kind === 'sessions.closed') {
          const { person, before } = seen;
          closed.set(person, [...(closed.get(person) ?? []), { before, toldAt: order }]);
        }
        if (seen.kind !== 'session.let_in') return;
        const { person, since, asked } = seen;
        const over = closed
          .get(person)
          ?.find(({ before, toldAt }) => since <= before && toldAt <= asked);
        if (over !== undefined) {
          report(`${person} was let in with a session of before ${over.before}, which was closed`);
        }
      },
    };
  },
};
