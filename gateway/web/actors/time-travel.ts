// The moves of an actor, as they are stored and as the live channel tells them. What the actor was at an instant says the
// Console, from the row before it. decision: D88
export type Move = {
  readonly region: string;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly at: string;
};

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
