// The life of alerts. Its notes tell it, from the first on: each alert goes only where its machine allows, of one key at
// most one is live, what was settled stays what it was, and whoever is named for a move asked for it. What a person was told
// is done stands there. Truth is what people asked and were told, and the machine's table as it is drawn in the
// documentation. Excuse: none. decision: D130, D165
import type { CheckerKind } from './checker.ts';

type Word = 'opened' | 'acknowledged' | 'resolved' | 'reopened';
const NEXT: Readonly<Record<Word | 'nothing', readonly Word[]>> = {
  nothing: ['opened'],
  opened: ['acknowledged', 'resolved'],
  acknowledged: ['resolved'],
  resolved: ['reopened'],
  reopened: [],
};
const STATE_AFTER: Readonly<Record<Word, string>> = {
  opened: 'open',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
  reopened: 'reopened',
};
const WORD_OF = { acknowledge: 'acknowledged', resolve: 'resolved', reopen: 'reopened' } as const;
const LIVE: ReadonlySet<string> = new Set(['open', 'acknowledged']);
const EVERYTHING = { limit: Number.MAX_SAFE_INTEGER, before: null } as const;

export const alertStates: CheckerKind = {
  name: 'alert-states',
  promise:
    'An alert goes only where its machine allows, and nobody is named for what it did not ask.',
  make({ stores, keepers }, report) {
    const { inbox } = stores.relational;
    const asked = new Set<string>();
    const told: { readonly alert: string; readonly word: Word }[] = [];
    const settled = new Map<string, number>();

    function judgeNotes(alertId: string, state: string): void {
      let at: Word | 'nothing' = 'nothing';
      for (const { what, actor } of inbox.get(alertId)?.notes ?? []) {
        if (what === 'assigned' || what === 'commented') continue;
        if (!NEXT[at].includes(what)) report(`alert ${alertId} went from ${at} to ${what}`);
        at = what;
        const isByPerson = actor.startsWith('user:') && what !== 'opened';
        if (isByPerson && !asked.has(`${alertId} ${what} ${actor}`))
          report(`alert ${alertId} was ${what} by ${actor}, who did not ask for it`);
      }
      if (at === 'nothing' || STATE_AFTER[at] !== state)
        report(`alert ${alertId} is ${state}, and its notes end with ${at}`);
    }

    function look(): void {
      const live = new Set<string>();
      for (const { alert, state, count, resolution } of inbox.list(EVERYTHING)) {
        const { alertId, dedupKey } = alert;
        if (LIVE.has(state) && live.has(dedupKey)) report(`two alerts of ${dedupKey} are live`);
        if (LIVE.has(state)) live.add(dedupKey);
        const before = settled.get(alertId);
        // The rules of the world have no quiet time; what is told over the fleet by itself has one.
        const mayCount = alert.kind === 'fleet_correlation';
        if (before !== undefined && (LIVE.has(state) || (before !== count && !mayCount)))
          report(`alert ${alertId} was settled with ${before}, and is ${state} with ${count}`);
        if (!LIVE.has(state) && resolution !== null) settled.set(alertId, count);
      }
    }

    return {
      observe(seen) {
        if (seen.kind === 'alert.asked')
          asked.add(`${seen.alert} ${WORD_OF[seen.act]} ${seen.actor}`);
        if (seen.kind === 'alert.told') told.push({ alert: seen.alert, word: WORD_OF[seen.act] });
      },
      probe() {
        if (keepers > 0) look();
      },
      finish() {
        if (keepers === 0) return;
        look();
        for (const { alert, state } of inbox.list(EVERYTHING)) judgeNotes(alert.alertId, state);
        for (const { alert, word } of told) {
          const notes = inbox.get(alert)?.notes ?? [];
          if (!notes.some(({ what }) => what === word))
            report(`somebody was told that ${alert} is ${word}, and it is not`);
        }
      },
    };
  },
};
