// Texts with wildcards, judged in time that grows with pieces times text and never more: each run between two `*` is
// looked for once, from the left.
import type { Piece } from './condition.ts';

/** One run between two `*`: its characters, null where any one character stands. */
type Run = readonly (string | null)[];

/** A test whether a whole text fits the pieces. */
export function likeTest(pieces: readonly Piece[]): (text: string) => boolean {
  const simple = simpleTest(pieces);
  if (simple !== null) return simple;
  const runs = runsOf(pieces);
  const first = runs[0] ?? [];
  const last = runs.at(-1) ?? [];
  const middle = runs.slice(1, -1);
  return (text) => {
    const chars = Array.from(text);
    if (runs.length === 1) return chars.length === first.length && isAt(chars, 0, first);
    const end = chars.length - last.length;
    if (end < first.length || !isAt(chars, 0, first) || !isAt(chars, end, last)) return false;
    let at = first.length;
    for (const run of middle) {
      while (at + run.length <= end && !isAt(chars, at, run)) at += 1;
      if (at + run.length > end) return false;
      at += run.length;
    }
    return true;
  };
}

/** What most people write: a beginning, an end, a part. */
function simpleTest(pieces: readonly Piece[]): ((text: string) => boolean) | null {
  const shape = pieces.map(({ is }) => (is === 'any' ? '*' : is === 'one' ? '?' : 'x')).join('');
  const texts = pieces.flatMap((piece) => (piece.is === 'text' ? [piece.text] : []));
  const [one = '', two = ''] = texts;
  if (shape === 'x*') return (text) => text.startsWith(one);
  if (shape === '*x') return (text) => text.endsWith(one);
  if (shape === '*x*') return (text) => text.includes(one);
  if (shape !== 'x*x') return null;
  return (text) =>
    text.length >= one.length + two.length && text.startsWith(one) && text.endsWith(two);
}

function runsOf(pieces: readonly Piece[]): readonly Run[] {
  const runs: (string | null)[][] = [[]];
  for (const piece of pieces) {
    if (piece.is === 'any') runs.push([]);
    else runs.at(-1)?.push(...(piece.is === 'one' ? [null] : Array.from(piece.text)));
  }
  return runs;
}

function isAt(chars: readonly string[], at: number, run: Run): boolean {
  return run.every((char, offset) => char === null || chars[at + offset] === char);
}
