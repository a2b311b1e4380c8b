// The difference of two JSON values as lines: what is only in one of them, in the order of the longest common lines.
export type Line = {
  readonly is: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Its place, to tell lines apart. */
  readonly at: number;
};
/** Beyond this many lines the table of the comparison would be too large; then all is told as it is now. */
const LINES_MAX = 1_500;

/** The lines of `after` with those of `before` that are gone. */
export function linesBetween(before: unknown, after: unknown): readonly Line[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const isTooLong = old.length > LINES_MAX || now.length > LINES_MAX;
  const found = isTooLong
    ? now.map((text) => ({ is: 'same' as const, text }))
    : walk(old, now, lengthsOf(old, now));
  return found.map((line, at) => ({ ...line, at }));
}

function linesOf(value: unknown): readonly string[] {
  return (JSON.stringify(value, null, 2) ?? 'null').split('\n');
}

// lengths[i][j]: how many lines old[i..] and now[j..] have in common, in order.
function lengthsOf(old: readonly string[], now: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const [here, below] = [lengths[i], lengths[i + 1]];
      if (here === undefined || below === undefined) continue;
      here[j] =
        old[i] === now[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, here[j + 1] ?? 0);
    }
  }
  return lengths;
}

function walk(
  old: readonly string[],
  now: readonly string[],
  lengths: readonly Uint16Array[],
): Omit<Line, 'at'>[] {
  const lines: Omit<Line, 'at'>[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [a, b] = [old[i], now[j]];
    if (a !== undefined && a === b) {
      lines.push({ is: 'same', text: a });
      i += 1;
      j += 1;
    } else if (a !== undefined && (b === undefined || isLonger(lengths, i, j))) {
      lines.push({ is: 'removed', text: a });
      i += 1;
    } else {
      lines.push({ is: 'added', text: b ?? '' });
      j += 1;
    }
  }
  return lines;
}

function isLonger(lengths: readonly Uint16Array[], i: number, j: number): boolean {
  return (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0);
}
