// Shortening a list that is too long to be told: in bytes of JSON, as whoever reads it counts, and by turns, so that many
// items of one owner do not hide the few of another. Who leaves something out also tells how many there are in all.

/** A list; `total` only when it was shortened: how many there are. */
export type Listed<Item> = { readonly items: readonly Item[]; readonly total?: number };

/** How many of these JSON texts, from the first on, fit a JSON list of so many bytes. */
export function fittingCount(texts: readonly string[], bytesMax: number): number {
  let used = 2;
  const end = texts.findIndex((text) => {
    used += Buffer.byteLength(text) + 1;
    return used > bytesMax;
  });
  return end < 0 ? texts.length : end;
}

/** At most so many: the first of every owner, then the second of every owner, and so on, each owner's as they come. */
export function byTurns<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => string,
  max: number = items.length,
): readonly Item[] {
  const turns: Item[][] = [];
  const owned = new Map<string, number>();
  for (const item of items) {
    const owner = ownerOf(item);
    const turn = owned.get(owner) ?? 0;
    if (turn >= max) continue;
    owned.set(owner, turn + 1);
    const row = turns[turn];
    if (row === undefined) turns.push([item]);
    else row.push(item);
  }
  return turns.flat().slice(0, max);
}
