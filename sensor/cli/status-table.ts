// Names and values for people: values under each other, long ones broken between words where a terminal is known to be
// narrow. What is piped on stays one line a value.
import { wrapWords } from '../../machines/wrap-words.ts';

const GAP = 2;
const LINE_MIN_CHARS = 40;

/** Its values stand under each other. */
export type Row = readonly [name: string, ...values: readonly string[]];

/** One text; `columns` is the terminal's width, undefined when there is none. */
export function tableOf(rows: readonly Row[], columns: number | undefined): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + GAP;
  const room = columns === undefined ? Number.POSITIVE_INFINITY : columns - width;
  return rows
    .flatMap(([name, ...values]) =>
      values
        .flatMap((value) => wrapWords(unsteered(value), Math.max(room, LINE_MIN_CHARS)))
        .map((line, at) => `${(at === 0 ? name : '').padEnd(width)}${line}\n`),
    )
    .join('');
}

// A reason may hold what a program said last, and a terminal obeys some of that.
function unsteered(value: string): string {
  return value.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
