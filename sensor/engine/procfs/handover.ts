// From one engine to the next that saw beside it: each event of the last moment is told by exactly one of them. Both read
// a trace of their own, in which the kernel stamps one event a moment apart and may show two processors' events in another
// order. So near the end it is not the stamp that says what was told but the event itself: the last ones are handed over,
// each as a short hash, and of equal ones as many are passed over as were told. decision: D50
import { createHash } from 'node:crypto';

/** Further apart the stamps of one event are not. */
const APART_MAX_US = 20_000;
const EVENTS_MAX = 1_024;
const HASH_CHARS = 8;
const WORD = /^(?:told since (\d{1,15}): ((?:[\w-]{8}(?: |$))*)\n)?take over after (\d{1,15})\n/m;
/** What the longest word takes. */
const WORD_MAX_CHARS = EVENTS_MAX * (HASH_CHARS + 1) + 128;

type Stamped = { readonly us: number; readonly event: string };
export type LastTold = { readonly told_until: number; told_since: number; told_last: string };
export type Handover = {
  /** An event that was read: it is told, or the one before told it. */
  note(us: number, event: string): void;
  /** What the next one has to know. */
  lastTold(): LastTold;
  /** Takes more of what is written to this engine; true as soon as the one before has handed over. */
  hear(text: string): boolean;
  /** Whether the one before told it; asked once for each event, in the order of the trace. */
  wasTold(us: number, event: string): boolean;
};

const hashOf = (event: string): string =>
  createHash('sha1').update(event).digest('base64url').slice(0, HASH_CHARS);

/** Follows the events of one engine, from the one before it to the one after it. */
export function createHandover(): Handover {
  const recent: Stamped[] = [];
  let at = 0;
  let until = 0;
  let input = '';
  const before = { since: 0, until: -1 };
  const listed = new Map<string, number>();

  /** Passes over one of those that were handed over. */
  function takeListed(event: string): boolean {
    const hash = hashOf(event);
    const left = listed.get(hash) ?? 0;
    if (left === 0) return false;
    if (left === 1) listed.delete(hash);
    else listed.set(hash, left - 1);
    return true;
  }

  return {
    note(us, event) {
      recent[at] = { us, event };
      at = (at + 1) % EVENTS_MAX;
      until = Math.max(until, us);
    },
    lastTold() {
      const inOrder = [...recent.slice(at), ...recent.slice(0, at)];
      // What no longer fitted was stamped before the oldest that did, but for two processors' order.
      const oldest = recent.length < EVENTS_MAX ? 0 : Math.min(...recent.map(({ us }) => us));
      const since = Math.max(0, until - 2 * APART_MAX_US, oldest);
      const last = inOrder.filter(({ us }) => us >= since);
      const told_last = last.map(({ event }) => hashOf(event)).join(' ');
      return { told_until: until, told_since: since, told_last };
    },
    hear(text) {
      input = (input + text).slice(-WORD_MAX_CHARS);
      const word = WORD.exec(input);
      if (word === null) return false;
      before.until = Number(word[3]);
      // One that hands over no events told everything up to then.
      before.since = Number(word[1] ?? before.until);
      const hashes = word[2]?.split(' ').filter((hash) => hash !== '') ?? [];
      for (const hash of hashes) listed.set(hash, (listed.get(hash) ?? 0) + 1);
      return true;
    },
    wasTold(us, event) {
      if (us > before.until + APART_MAX_US) return false;
      // The programs of the one before run first: an event's stamp here is never the earlier one.
      if (us >= before.since && takeListed(event)) return true;
      // Halfway, so that neither an event that no longer fitted nor one that came late is taken for the other.
      return us <= (before.since + before.until) / 2;
    },
  };
}
