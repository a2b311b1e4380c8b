// A person with a second factor is never let in without it. Somebody who was told that the factor is on, and whom nobody
// asked to lose it since, hears of every login by password that a code is missing; a session that waits for one opens
// nothing; and a code that is wrong, or was taken before, counts nowhere. Truth comes from the people alone. Excuse: a
// login through the provider, which proves a second factor by itself. Who was to get a role that gives more has lost the
// factor of before. A code whose use PostgreSQL forgot counts once more. invariant: I18; decision: D39, D169, D171
import type { CheckerKind } from './checker.ts';
import { WORD_UNDER_WAY_MS } from './forgetful.ts';

export const secondFactor: CheckerKind = {
  name: 'second-factor',
  promise:
    'A person with a second factor is never let in without it, and a code counts once (I18).',
  make(_fleet, report) {
    /** Since when the factor of a person is surely on. */
    const onSince = new Map<string, number>();
    /** When somebody asked last to take it. */
    const offAsked = new Map<string, number>();
    const forgotten: { readonly sinceMs: number; readonly untilMs: number }[] = [];
    let order = 0;

    function isSurelyOn(person: string, asked: number): boolean {
      const since = onSince.get(person);
      return since !== undefined && since <= asked;
    }

    function isForgotten(takenAtMs: number): boolean {
      return forgotten.some((one) => takenAtMs > one.sinceMs && takenAtMs < one.untilMs);
    }

    return {
      observe(seen, atMs) {
        order += 1;
        switch (seen.kind) {
          case 'factor.on': {
            const { person, asked } = seen;
            // What was asked for meanwhile may have come after it.
            if ((offAsked.get(person) ?? -1) < asked) onSince.set(person, order);
            break;
          }
          case 'factor.off_asked':
            offAsked.set(seen.person, order);
            onSince.delete(seen.person);
            break;
          case 'login.heard': {
            const { person, asked, need } = seen;
            if (!isSurelyOn(person, asked) || need === 'totp') break;
            report(`${person} was let in by its password alone; it lacked ${need ?? 'nothing'}`);
            break;
          }
          case 'half.shown':
            if (seen.isWhole) report(`${seen.person} was let in before it showed a code`);
            break;
          case 'relational.forgot':
            // A word that is in doubt is told so, too, and says nothing of before.
            if (seen.sinceMs >= atMs) break;
            forgotten.push({ sinceMs: seen.sinceMs, untilMs: atMs + WORD_UNDER_WAY_MS });
            break;
          case 'code.shown':
            if (!seen.isTaken || (seen.how === 'again' && isForgotten(seen.takenAtMs))) break;
            report(`${seen.person} showed a code that was ${HOW[seen.how]}, and it was taken`);
            break;
        }
      },
    };
  },
};

const HOW = { wrong: 'wrong', again: 'used before' } as const;
