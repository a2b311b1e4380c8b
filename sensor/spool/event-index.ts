// Where each held event's line lies in the journal: two numbers an event, never its body. invariant: I10
export type LinePlace = { readonly at: number; readonly bytes: number };

export type EventIndex = {
  /** Notes a line; indices come in rising order, holes are allowed. */
  set(index: number, at: number, bytes: number): void;
  /** Null when the index has no line (acknowledged, dropped or damaged). */
  get(index: number): LinePlace | null;
  /** Forgets the lines of a range; repeated calls are harmless. */
  release(from: number, to: number): void;
  /** Forgets everything below `head` and everything from `tail` on. */
  trim(head: number, tail: number): void;
  /** Bytes of all lines that are held. */
  liveBytes(): number;
};

const TRIM_STEP = 4_096;

export function createEventIndex(): EventIndex {
  let base = 0;
  let places: number[] = [];
  let lengths: number[] = [];
  let live = 0;

  const release = (from: number, to: number): void => {
    for (
      let slot = Math.max(0, from - base);
      slot < Math.min(to - base, lengths.length);
      slot += 1
    ) {
      live -= lengths[slot] ?? 0;
      lengths[slot] = 0;
    }
  };

  return {
    set(index, at, bytes) {
      if (lengths.length === 0) base = index;
      const slot = index - base;
      if (slot < 0) return;
      while (lengths.length < slot) {
        places.push(0);
        lengths.push(0);
      }
      live += bytes - (lengths[slot] ?? 0);
      places[slot] = at;
      lengths[slot] = bytes;
    },
    get(index) {
      const bytes = lengths[index - base] ?? 0;
      return bytes === 0 ? null : { at: places[index - base] ?? 0, bytes };
    },
    release,
    trim(head, tail) {
      release(tail, base + lengths.length);
      if (tail - base < lengths.length) {
        places.length = Math.max(0, tail - base);
        lengths.length = Math.max(0, tail - base);
      }
      release(base, head);
      const dead = Math.min(head - base, lengths.length);
      if (dead < TRIM_STEP && dead < lengths.length) return;
      places = places.slice(dead);
      lengths = lengths.slice(dead);
      base += dead;
    },
    liveBytes: () => live,
  };
}
