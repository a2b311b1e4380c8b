// The condition language, from text to tree: `field:value`, ranges, lists, wildcards, networks, `field~part`,
// `field=~pattern`, free text, `and`, `or`, `not` and parentheses. Bounded in length, depth, parts and patterns, so that
// no text costs more than its length. decision: D97; invariant: I8, I10
import type { Condition } from './condition.ts';
import { ConditionFault, type ConditionReader, createReader } from './condition-reader.ts';
import { leafOf, type Term } from './condition-value.ts';
import { fieldNamed, fieldOf } from './fields.ts';
import {
  CONDITION_DEPTH_MAX,
  CONDITION_MAX_CHARS,
  CONDITION_NODES_MAX,
  CONDITION_PATTERNS_MAX,
} from './limits.ts';
import { patternFault } from './pattern.ts';

/** `at` counts characters of the text, from 0. */
export type ConditionRefusal = { readonly ok: false; readonly at: number; readonly detail: string };
export type ParsedCondition = { readonly ok: true; readonly condition: Condition };

type Parsing = { readonly reader: ConditionReader; nodes: number; patterns: number; depth: number };

/** Reads a condition. Never throws. */
export function parseCondition(text: string): ParsedCondition | ConditionRefusal {
  if (text.length > CONDITION_MAX_CHARS) {
    const detail = `a condition has ${CONDITION_MAX_CHARS} characters at most`;
    return { ok: false, at: CONDITION_MAX_CHARS, detail };
  }
  const reader = createReader(text);
  const parsing: Parsing = { reader, nodes: 0, patterns: 0, depth: 0 };
  try {
    const condition = either(parsing);
    if (!reader.isAtEnd()) throw new ConditionFault(reader.at(), `unexpected ${reader.peek()}`);
    return { ok: true, condition };
  } catch (error) {
    if (!(error instanceof ConditionFault)) throw error;
    return { ok: false, at: error.at, detail: error.message };
  }
}

function either(parsing: Parsing): Condition {
  const parts = [all(parsing)];
  while (parsing.reader.takesKeyword('or')) parts.push(all(parsing));
  return joined(parsing, 'either', parts);
}

/** Parts that follow each other must all be true, with or without `and`. */
function all(parsing: Parsing): Condition {
  const { reader } = parsing;
  const parts = [unary(parsing)];
  for (;;) {
    if (!reader.takesKeyword('and') && !isAtPart(reader)) break;
    parts.push(unary(parsing));
  }
  return joined(parsing, 'all', parts);
}

function isAtPart(reader: ConditionReader): boolean {
  if (reader.isAtEnd() || reader.peek() === ')' || reader.peek() === ',') return false;
  return !reader.isAtKeyword('or', 'and');
}

function unary(parsing: Parsing): Condition {
  const { reader } = parsing;
  reader.skipSpace();
  const from = reader.at();
  if (reader.takesKeyword('not')) {
    return deeper(parsing, from, () => count(parsing, { is: 'not', of: unary(parsing) }));
  }
  if (reader.takes('(')) {
    return deeper(parsing, from, () => {
      const condition = either(parsing);
      if (!reader.takes(')')) throw new ConditionFault(from, 'the parenthesis is never closed');
      reader.skipSpace();
      return condition;
    });
  }
  const condition = comparison(parsing);
  reader.skipSpace();
  return condition;
}

function deeper(parsing: Parsing, from: number, read: () => Condition): Condition {
  parsing.depth += 1;
  if (parsing.depth > CONDITION_DEPTH_MAX) {
    throw new ConditionFault(from, `more than ${CONDITION_DEPTH_MAX} levels`);
  }
  const condition = read();
  parsing.depth -= 1;
  return condition;
}

function comparison(parsing: Parsing): Condition {
  const { reader } = parsing;
  const from = reader.at();
  if (reader.isAtEnd()) throw new ConditionFault(from, 'something to look for is missing');
  if (reader.isAtKeyword('and', 'or', 'not'))
    throw new ConditionFault(from, 'a part is missing before this word');
  const head = reader.head();
  if (head === null) return freeText(parsing, from);
  const field = fieldNamed(head.name);
  if (field === undefined) {
    const detail = `no field is called ${head.name.slice(0, 64)}; quote the text to search for it`;
    throw new ConditionFault(from, detail);
  }
  const { kind } = fieldOf(field);
  const isNumber = kind === 'integer' || kind === 'decimal';
  if (head.operator !== ':' && isNumber) {
    throw new ConditionFault(from, `${field} is a number; use ${field}: with a number or range`);
  }
  if (head.operator === '=~') {
    const at = reader.at();
    const source = reader.pattern();
    parsing.patterns += 1;
    if (parsing.patterns > CONDITION_PATTERNS_MAX) {
      throw new ConditionFault(at, `more than ${CONDITION_PATTERNS_MAX} patterns`);
    }
    const fault = source === '' ? { at: 0, why: 'the pattern is missing' } : patternFault(source);
    if (fault !== null) throw new ConditionFault(at + fault.at, fault.why);
    return count(parsing, { is: 'pattern', field, source });
  }
  const isPart = head.operator === '~';
  if (!reader.takes('(')) return count(parsing, leafOf(field, termAt(reader, isPart)));
  return list(parsing, (term) => leafOf(field, term), isPart);
}

function list(parsing: Parsing, read: (term: Term) => Condition, isPart: boolean): Condition {
  const { reader } = parsing;
  const from = reader.at() - 1;
  const parts: Condition[] = [];
  for (;;) {
    reader.skipSpace();
    if (reader.takes(')')) break;
    if (reader.isAtEnd()) throw new ConditionFault(from, 'the list is never closed');
    if (parts.length > 0) {
      if (!reader.takes(',')) reader.takesKeyword('or');
      reader.skipSpace();
    }
    parts.push(count(parsing, read(termAt(reader, isPart))));
  }
  if (parts.length === 0) throw new ConditionFault(from, 'the list is empty');
  return joined(parsing, 'either', merged(parts));
}

/** Values of one field that are compared alike are one comparison. */
function merged(parts: readonly Condition[]): readonly Condition[] {
  const alike = parts.flatMap((part) => (part.is === 'among' ? [part] : []));
  const [first] = alike;
  if (first === undefined) return parts;
  const values = [...new Set(alike.flatMap((part) => part.values))];
  return [{ ...first, values }, ...parts.filter((part) => part.is !== 'among')];
}

function termAt(reader: ConditionReader, isPart: boolean): Term {
  const at = reader.at();
  const op = (['<=', '>=', '<', '>'] as const).find((one) => reader.takes(one)) ?? null;
  return { at, op, isPart, pieces: reader.pieces() };
}

function freeText(parsing: Parsing, from: number): Condition {
  const { reader } = parsing;
  if (reader.peek() === ')' || reader.peek() === ',') {
    throw new ConditionFault(from, `unexpected ${reader.peek()}`);
  }
  const pieces = reader.pieces();
  const text = pieces.map((piece) => (piece.is === 'text' ? piece.text : '')).join('');
  if (pieces.some(({ is }) => is !== 'text')) {
    throw new ConditionFault(
      from,
      'free text has no wildcards; write \\* or \\? for the character',
    );
  }
  if (text === '') throw new ConditionFault(from, 'the text is empty');
  return count(parsing, { is: 'words', text });
}

function joined(parsing: Parsing, is: 'all' | 'either', parts: readonly Condition[]): Condition {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return count(parsing, { is, of: parts });
}

function count(parsing: Parsing, condition: Condition): Condition {
  parsing.nodes += 1;
  if (parsing.nodes > CONDITION_NODES_MAX) {
    throw new ConditionFault(parsing.reader.at(), `more than ${CONDITION_NODES_MAX} parts`);
  }
  return condition;
}
