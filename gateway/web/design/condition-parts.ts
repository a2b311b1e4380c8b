// A condition as chips: the parts that must all be true, each as text that can be taken away, turned round or added to.
// Read by the very parser that the Console uses, so that a chip never means something else. decision: D97
import type { Condition } from '../../../machines/detection/condition.ts';
import { parseCondition } from '../../../machines/detection/condition-parser.ts';
import { conditionText } from '../../../machines/detection/condition-text.ts';
import {
  FIELD_NAMES,
  type FieldName,
  fieldNamed,
  fieldOf,
} from '../../../machines/detection/fields.ts';

const SUGGESTIONS_MAX = 8;

export type Part = { readonly text: string; readonly isNot: boolean };
export type Suggestion = {
  /** The whole text once this is taken. */
  readonly value: string;
  readonly name: string;
  readonly about: string;
};

/** What must all be true; none when the text cannot be read. */
export function partsOf(text: string | undefined): readonly Part[] {
  return conditionsOf(text).map((one) => ({ text: conditionText(one), isNot: one.is === 'not' }));
}

/** With one more part, unless it is there already. What cannot be read gives way. */
export function withPart(text: string | undefined, part: string): string {
  const parts = [...conditionsOf(text), ...conditionsOf(part)];
  const seen = new Set<string>();
  return joined(
    parts.filter((one) => {
      const said = conditionText(one);
      return !seen.has(said) && seen.add(said);
    }),
  );
}

export function withoutPart(text: string | undefined, index: number): string {
  return joined(conditionsOf(text).filter((_, at) => at !== index));
}

/** A part becomes its opposite. */
export function withTurned(text: string | undefined, index: number): string {
  return joined(conditionsOf(text).map((one, at) => (at === index ? opposite(one) : one)));
}

/** The condition that a field holds exactly this value, or that it does not. */
export function fieldIs(field: FieldName, value: string | number, isNot = false): string {
  const leaf: Condition = { is: 'among', field, values: [value] };
  return conditionText(isNot ? { is: 'not', of: leaf } : leaf);
}

/** Why a text cannot be read, and where, counted from 1; null when it can, or is empty. */
export function faultIn(text: string): { readonly at: number; readonly detail: string } | null {
  if (text.trim() === '') return null;
  const read = parseCondition(text);
  return read.ok ? null : { at: read.at + 1, detail: read.detail };
}

/** What the last word may become: names of fields, or the words that a field can hold. */
export function suggestionsFor(text: string): readonly Suggestion[] {
  const choice = /(?:^|[\s(])([\w.]+):(\w*)$/.exec(text);
  if (choice !== null) {
    const [, name = '', begun = ''] = choice;
    const field = fieldNamed(name);
    const before = text.slice(0, text.length - begun.length);
    return (field === undefined ? [] : (fieldOf(field).choices ?? []))
      .filter((word) => word.startsWith(begun) && word !== begun)
      .slice(0, SUGGESTIONS_MAX)
      .map((word) => ({ value: `${before}${word}`, name: word, about: '' }));
  }
  const begun = /(?:^|[\s(])([a-z_.]+)$/.exec(text)?.[1] ?? '';
  if (begun === '') return [];
  const before = text.slice(0, text.length - begun.length);
  return FIELD_NAMES.flatMap((field) => {
    const name = [...(fieldOf(field).short ?? []), field].find((one) => one.startsWith(begun));
    return name === undefined
      ? []
      : [{ value: `${before}${name}:`, name, about: fieldOf(field).about }];
  }).slice(0, SUGGESTIONS_MAX);
}

function conditionsOf(text: string | undefined): readonly Condition[] {
  if (text === undefined || text.trim() === '') return [];
  const read = parseCondition(text);
  if (!read.ok) return [];
  return read.condition.is === 'all' ? read.condition.of : [read.condition];
}

function joined(parts: readonly Condition[]): string {
  const [first] = parts;
  if (first === undefined) return '';
  return conditionText(parts.length === 1 ? first : { is: 'all', of: parts });
}

function opposite(condition: Condition): Condition {
  return condition.is === 'not' ? condition.of : { is: 'not', of: condition };
}
