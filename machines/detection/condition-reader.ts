// Reads the small parts of a condition's text: spaces, words, quoted texts, names of fields. Each part knows where it
// stands, so that a refusal can point at it. decision: D97
import type { Piece } from './condition.ts';

/** Thrown inside the parser alone; `parseCondition` turns it into its answer. */
export class ConditionFault extends Error {
  override readonly name = 'ConditionFault';
  readonly at: number;

  constructor(at: number, why: string) {
    super(why);
    this.at = at;
  }
}

export type Operator = ':' | '~' | '=~';
export type ConditionReader = {
  /** Characters read so far. */
  at(): number;
  isAtEnd(): boolean;
  peek(): string;
  skipSpace(): void;
  /** Takes this text if it stands here. */
  takes(token: string): boolean;
  /** Takes this keyword if it stands here, in whatever case. */
  takesKeyword(wanted: string): boolean;
  /** Whether one of the keywords stands here. */
  isAtKeyword(...words: readonly string[]): boolean;
  /** A field's name with its operator; null when something else stands here. */
  head(): { readonly name: string; readonly operator: Operator } | null;
  /** A text with wildcards, quoted or not. */
  pieces(): readonly Piece[];
  /** A pattern as it is written; in quotes only `\"` is the quote's own. */
  pattern(): string;
};

const HEAD = /([A-Za-z_][\w.]*)(=~|:|~)/y;
const KEYWORD = /(and|or|not)(?=[\s()"]|$)/iy;
const SPACE = /\s+/y;
/** Ends a word that has no quotes. */
const BREAKS = /[\s(),"]/;
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const HEX = /x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}/y;
const CODE_POINT_MAX = 0x10_ff_ff;

/** A place in a text; it only moves forward. */
type Place = { readonly text: string; at: number };

/** Starts at the beginning of a text. */
export function createReader(text: string): ConditionReader {
  const place: Place = { text, at: 0 };
  return {
    at: () => place.at,
    isAtEnd: () => place.at >= text.length,
    peek: () => peek(place),
    skipSpace: () => void take(place, SPACE),
    takes: (token) => takes(place, token),
    takesKeyword(wanted) {
      const found = match(place, KEYWORD)?.[1];
      return found?.toLowerCase() === wanted && takes(place, found);
    },
    isAtKeyword(...words) {
      return words.includes(match(place, KEYWORD)?.[1]?.toLowerCase() ?? '');
    },
    head() {
      const found = take(place, HEAD);
      if (found === null) return null;
      return { name: found[1] ?? '', operator: (found[2] ?? ':') as Operator };
    },
    pieces: () => takePieces(place),
    pattern: () => takePattern(place),
  };
}

function peek({ text, at }: Place): string {
  return text[at] ?? '';
}

function match({ text, at }: Place, expression: RegExp): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

function take(place: Place, expression: RegExp): RegExpExecArray | null {
  const found = match(place, expression);
  if (found !== null) place.at += found[0].length;
  return found;
}

function takes(place: Place, token: string): boolean {
  if (!place.text.startsWith(token, place.at)) return false;
  place.at += token.length;
  return true;
}

function takeChar(place: Place): string {
  const char = peek(place);
  place.at += 1;
  return char;
}

function takeEscape(place: Place): string {
  const from = place.at;
  place.at += 1;
  const [, byte, point] = take(place, HEX) ?? [];
  const hex = byte ?? point;
  if (hex !== undefined) {
    const code = Number.parseInt(hex, 16);
    if (code <= CODE_POINT_MAX) return String.fromCodePoint(code);
    throw new ConditionFault(from, 'there is no such character');
  }
  const char = takeChar(place);
  const control = CONTROLS[char];
  if (control !== undefined) return control;
  if (char !== '' && !/[A-Za-z0-9]/.test(char)) return char;
  throw new ConditionFault(from, `\\${char} means nothing here`);
}

function takePieces(place: Place): readonly Piece[] {
  const from = place.at;
  const isQuoted = takes(place, '"');
  const found: Piece[] = [];
  let literal = '';
  const close = () => {
    if (literal !== '') found.push({ is: 'text', text: literal.toWellFormed() });
    literal = '';
  };
  for (;;) {
    const char = peek(place);
    if (char === '' && isQuoted) throw new ConditionFault(from, 'the quote is never closed');
    if (isQuoted ? char === '"' : char === '' || BREAKS.test(char)) break;
    if (char === '\\') literal += takeEscape(place);
    else if (char !== '*' && char !== '?') literal += takeChar(place);
    else {
      close();
      place.at += 1;
      // Two stars are one.
      if (char === '?') found.push({ is: 'one' });
      else if (found.at(-1)?.is !== 'any') found.push({ is: 'any' });
    }
  }
  close();
  if (isQuoted) place.at += 1;
  else if (place.at === from) throw new ConditionFault(from, 'a value is missing');
  return found;
}

function takePattern(place: Place): string {
  const from = place.at;
  if (!takes(place, '"')) {
    place.at += place.text.slice(from).search(/[\s)]|$/);
    return place.text.slice(from, place.at).toWellFormed();
  }
  let source = '';
  for (;;) {
    const char = takeChar(place);
    if (char === '') throw new ConditionFault(from, 'the quote is never closed');
    if (char === '"') return source.toWellFormed();
    if (char !== '\\') source += char;
    else source += peek(place) === '"' ? takeChar(place) : char + takeChar(place);
  }
}
