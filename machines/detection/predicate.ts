// A condition as a function of an event. It agrees with the event store's query on every event that can be stored.
// decision: D97; invariant: I8
import type { StoredEvent } from '../wire/event.ts';
import { addressDigits } from './address.ts';
import { type Condition, type Leaf, WORD_FIELDS } from './condition.ts';
import { type FieldName, fieldOf } from './fields.ts';
import { containsTest, lowerAscii } from './letters.ts';
import { patternTest } from './pattern.ts';
import { likeTest } from './wildcard.ts';

export type Predicate = (event: StoredEvent) => boolean;
type Value = string | number;

/** Compiles a condition. The predicate never throws and keeps nothing. */
export function predicateOf(condition: Condition): Predicate {
  switch (condition.is) {
    case 'all': {
      const parts = condition.of.map(predicateOf);
      return (event) => parts.every((part) => part(event));
    }
    case 'either': {
      const parts = condition.of.map(predicateOf);
      return (event) => parts.some((part) => part(event));
    }
    case 'not': {
      const part = predicateOf(condition.of);
      return (event) => !part(event);
    }
    case 'words': {
      const holds = textTest(containsTest(condition.text));
      const reads = WORD_FIELDS.map((field) => fieldOf(field).read);
      return (event) => reads.some((read) => isTrueOf(read?.(event), holds));
    }
    default:
      return leafTest(condition);
  }
}

function leafTest(leaf: Exclude<Leaf, { is: 'words' }>): Predicate {
  const { read, readAll } = fieldOf(leaf.field);
  const holds = valueTest(leaf);
  if (readAll === undefined) return (event) => isTrueOf(read(event), holds);
  return (event) => readAll(event).some((value) => isTrueOf(value, holds));
}

function isTrueOf(value: Value | undefined | null, holds: (value: Value) => boolean): boolean {
  return value !== undefined && value !== null && holds(value);
}

function valueTest(leaf: Exclude<Leaf, { is: 'words' }>): (value: Value) => boolean {
  const { folds } = fieldOf(leaf.field);
  const inCase = (test: (text: string) => boolean) =>
    textTest(folds === true ? (text) => test(lowerAscii(text)) : test);
  switch (leaf.is) {
    case 'present':
      return () => true;
    case 'among': {
      const values: ReadonlySet<Value> = new Set(foldedValues(leaf.field, leaf.values));
      return typeof leaf.values[0] === 'number'
        ? (value) => values.has(value)
        : inCase((text) => values.has(text));
    }
    case 'like':
      return inCase(likeTest(foldedPieces(leaf.field, leaf.pieces)));
    case 'contains':
      return textTest(containsTest(leaf.text));
    case 'pattern':
      return textTest(patternTest(leaf.source));
    case 'compare':
      return compareTest(leaf.op, leaf.value);
    case 'network':
      return textTest((text) => {
        const digits = addressDigits(text);
        return digits !== null && digits >= leaf.first && digits <= leaf.last;
      });
  }
}

/** The values as they are compared: in lower case where the field's letters have none. */
export function foldedValues(field: FieldName, values: readonly Value[]): readonly Value[] {
  if (fieldOf(field).folds !== true) return values;
  return values.map((value) => (typeof value === 'string' ? lowerAscii(value) : value));
}

/** The pieces as they are compared. */
export function foldedPieces(
  field: FieldName,
  pieces: Extract<Leaf, { is: 'like' }>['pieces'],
): Extract<Leaf, { is: 'like' }>['pieces'] {
  if (fieldOf(field).folds !== true) return pieces;
  return pieces.map((one) => (one.is === 'text' ? { ...one, text: lowerAscii(one.text) } : one));
}

/** A half surrogate is no character: it is judged as it is stored, as U+FFFD. */
function textTest(test: (text: string) => boolean): (value: Value) => boolean {
  return (value) => typeof value === 'string' && test(value.toWellFormed());
}

function compareTest(op: '<' | '<=' | '>' | '>=', bound: number): (value: Value) => boolean {
  if (op === '<') return (value) => typeof value === 'number' && value < bound;
  if (op === '<=') return (value) => typeof value === 'number' && value <= bound;
  if (op === '>') return (value) => typeof value === 'number' && value > bound;
  return (value) => typeof value === 'number' && value >= bound;
}
