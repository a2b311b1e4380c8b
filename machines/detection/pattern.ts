// Regular expressions of linear time: the part of RE2 that every implementation of it reads alike. `.` is no line end,
// `^` and `$` are the ends of the text, case counts unless the pattern begins with `(?i)`. decision: D97
import { RE2JS } from 're2js';
import { CONDITION_PATTERN_MAX_CHARS, CONDITION_PATTERN_REPEATS_MAX } from './limits.ts';
import { literalOf } from './prefilter.ts';

/** After a backslash: classes, ends of words, control characters, or any mark as itself. */
const ESCAPES = /^[dDwWsSbBtnrf\\^$.|?*+()[\]{}/"'`~!@#%&=:;,<> _-]$/;
const LITERAL_MIN_CHARS = 2;
const REPEAT = /^\{(\d{1,4})(?:(,)(\d{0,4}))?\}/;

/** What is wrong with a pattern, and where; null when it can be used. */
export function patternFault(source: string): { readonly at: number; readonly why: string } | null {
  if (source.length > CONDITION_PATTERN_MAX_CHARS) {
    return { at: 0, why: `a pattern has ${CONDITION_PATTERN_MAX_CHARS} characters at most` };
  }
  return shapeFault(source) ?? compileFault(source);
}

/** A test whether some part of a text fits. The pattern must have no fault. */
export function patternTest(source: string): (text: string) => boolean {
  const compiled = RE2JS.compile(source);
  const literal = literalOf(source);
  if (literal.length < LITERAL_MIN_CHARS) return (text) => compiled.test(text);
  // Most texts lack it, and to look for it costs a tenth.
  return (text) => text.includes(literal) && compiled.test(text);
}

function shapeFault(source: string): { readonly at: number; readonly why: string } | null {
  let repeats = 1;
  let isClass = false;
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at];
    if (char === '\\') {
      const fault = escapeFault(source, at);
      if (fault !== null) return fault;
      at += 1;
    } else if (isClass) {
      if (char === ']') isClass = false;
      else if (char === '[') return { at, why: 'write \\[ for a bracket inside brackets' };
    } else if (char === '[') {
      isClass = true;
      if (source[at + 1] === '^') at += 1;
      if (source[at + 1] === ']') return { at, why: 'write \\] for a bracket inside brackets' };
    } else if (char === '(' && source[at + 1] === '?') {
      const isFlag = at === 0 && source.startsWith('(?i)');
      if (!isFlag && !source.startsWith('(?:', at)) {
        return { at, why: 'only (?: and, at the beginning, (?i) are known' };
      }
    } else if (char === '{') {
      const [whole, low = '', comma, high = ''] = REPEAT.exec(source.slice(at)) ?? [];
      if (whole === undefined) return { at, why: 'write \\{ for a brace' };
      repeats *= Math.max(1, Number(high === '' || comma === undefined ? low : high));
      if (repeats > CONDITION_PATTERN_REPEATS_MAX) return { at, why: 'it repeats too much' };
      at += whole.length - 1;
    }
  }
  return null;
}

function escapeFault(source: string, at: number) {
  const next = source[at + 1] ?? '';
  return ESCAPES.test(next) ? null : { at, why: `\\${next} means nothing here` };
}

function compileFault(source: string): { readonly at: number; readonly why: string } | null {
  try {
    RE2JS.compile(source);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { at: 0, why: why.replace(/^error parsing regexp: /, '').slice(0, 200) };
  }
}
