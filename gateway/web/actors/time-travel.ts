// What an actor was at an instant, from its recorded moves. A region is in the state of its last move before that instant;
// one that did not move yet is where its first later move began; one that never moved is where it is now. decision: D56
export type Move = {
  readonly region: string;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly at: string;
};

/** The regions at an instant; moves in any order, `now` as the live actor shows them. */
export function regionsAt(
  moves: readonly Move[],
  now: Readonly<Record<string, string>>,
  atMs: number,
): Readonly<Record<string, string>> {
  const found: Record<string, string> = { ...now };
  const isUndone = new Set<string>();
  for (const move of newestFirst(moves)) {
    if (isUndone.has(move.region)) continue;
    if (Date.parse(move.at) > atMs) {
      if (move.from !== '') found[move.region] = move.from;
    } else {
      found[move.region] = move.to;
      isUndone.add(move.region);
    }
  }
  return found;
}

/** Moves with the newest first; those of one instant keep the order in which they were given. */
export function newestFirst(moves: readonly Move[]): readonly Move[] {
  return [...moves].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** The moves of two sources as one list, each once. */
export function together(stored: readonly Move[], live: readonly Move[]): readonly Move[] {
  const known = new Map([...live, ...stored].map((move) => [keyOf(move), move]));
  return newestFirst([...known.values()]);
}

/** What tells one move from another. */
export function keyOf({ at, region, from, to }: Move): string {
  return `${at}/${region}/${from}/${to}`;
}
