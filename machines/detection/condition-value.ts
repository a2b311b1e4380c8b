// What a value means for the field it stands behind. decision: D97
import { networkOf } from './address.ts';
import type { Comparison, Condition, Leaf, Piece } from './condition.ts';
import { ConditionFault } from './condition-reader.ts';
import { type FieldName, fieldOf } from './fields.ts';

/** One value as it was written. */
export type Term = {
  readonly at: number;
  readonly op: Comparison | null;
  /** A part of the field is meant, not all of it. */
  readonly isPart: boolean;
  readonly pieces: readonly Piece[];
};

const INTEGER = /^\d{1,16}$/;
const DECIMAL = /^\d{1,16}(\.\d{1,24})?(e-\d{1,2})?$/;

/** The comparison of a field with a value. Throws ConditionFault. */
export function leafOf(field: FieldName, term: Term): Condition {
  const { kind } = fieldOf(field);
  if (!term.isPart && term.op === null && isAnything(term.pieces)) return { is: 'present', field };
  if (kind === 'integer' || kind === 'decimal') return numberOf(field, term);
  if (term.isPart) {
    const text = plainText(term, 'a part has no wildcards');
    if (text === '') throw new ConditionFault(term.at, 'the part is empty');
    return { is: 'contains', field, text };
  }
  if (kind === 'choice') return choiceOf(field, term);
  if (term.op !== null) throw new ConditionFault(term.at, `${field} has no order`);
  return kind === 'address' ? addressOf(field, term) : textOf(field, term.pieces);
}

function isAnything(pieces: readonly Piece[]): boolean {
  return pieces.length === 1 && pieces[0]?.is === 'any';
}

function textOf(field: FieldName, pieces: readonly Piece[]): Leaf {
  if (pieces.some(({ is }) => is !== 'text')) return { is: 'like', field, pieces };
  return { is: 'among', field, values: [joinedText(pieces)] };
}

function choiceOf(field: FieldName, term: Term): Leaf {
  const { choices = [], rises } = fieldOf(field);
  const word = plainText(term, `${field} has no wildcards`).toLowerCase();
  const at = choices.indexOf(word);
  if (at < 0) {
    throw new ConditionFault(term.at, `${field} is one of ${choices.join(', ')}`);
  }
  if (term.op === null) return { is: 'among', field, values: [word] };
  if (rises !== true) throw new ConditionFault(term.at, `${field} has no order`);
  const values = choices.filter((_, index) => isOrdered(index, term.op, at));
  return { is: 'among', field, values };
}

function isOrdered(left: number, op: Comparison | null, right: number): boolean {
  if (op === '<') return left < right;
  if (op === '<=') return left <= right;
  return op === '>' ? left > right : left >= right;
}

function addressOf(field: FieldName, term: Term): Leaf {
  const source = plainText(term, `${field} has no wildcards; write a network like 10.0.0.0/8`);
  const network = networkOf(source);
  if (network === null) {
    throw new ConditionFault(term.at, `${field} is an address or a network like 10.0.0.0/8`);
  }
  return { is: 'network', field, source, ...network };
}

function numberOf(field: FieldName, term: Term): Condition {
  const text = plainText(term, `${field} is a number; write a range like 1..9`);
  if (term.op !== null) {
    return { is: 'compare', field, op: term.op, value: readNumber(field, text, term.at) };
  }
  const [low = '', high, more] = text.split('..');
  if (high === undefined) {
    return { is: 'among', field, values: [readNumber(field, low, term.at)] };
  }
  if (more !== undefined) throw new ConditionFault(term.at, 'a range has two ends');
  return {
    is: 'all',
    of: [
      { is: 'compare', field, op: '>=', value: readNumber(field, low, term.at) },
      { is: 'compare', field, op: '<=', value: readNumber(field, high, term.at) },
    ],
  };
}

function readNumber(field: FieldName, text: string, at: number): number {
  const isInteger = fieldOf(field).kind === 'integer';
  const value = (isInteger ? INTEGER : DECIMAL).test(text) ? Number(text) : Number.NaN;
  if (value <= Number.MAX_SAFE_INTEGER) return value;
  const what = isInteger ? 'a whole number' : 'a number';
  throw new ConditionFault(at, `${field} is ${what}, or a range like 1..9, or >1`);
}

function plainText(term: Term, otherwise: string): string {
  if (term.pieces.some(({ is }) => is !== 'text')) throw new ConditionFault(term.at, otherwise);
  return joinedText(term.pieces);
}

function joinedText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.is === 'text' ? piece.text : '')).join('');
}
