// A value that is as long as its schema lets it be: what the words of a message can come to when nobody bounds them
// otherwise.
import type { TSchema } from 'typebox';
import Value from 'typebox/value';

type Node = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly maxLength?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
};

/** Texts of patterns that messages have. */
const PATTERNED = [
  ...['2026-03-01T12:00:00.123456789Z', '00000000-0000-4000-8000-000000000000'],
  ...[16, 32, 64].map((chars) => '0'.repeat(chars)),
];

/** Texts are made of one letter where their pattern takes it. Throws where a schema has no bound. */
export function longestOf(schema: TSchema, letter: string): unknown {
  const { type, anyOf, properties, items, maxItems, maximum, ...node } = schema as Node;
  if (node.enum !== undefined) return longest(node.enum);
  if (anyOf !== undefined) return longest(anyOf.map((one) => longestOf(one, letter)));
  if (type === 'string') return longestText(schema, letter, node.maxLength ?? 0);
  if (type === 'integer' || type === 'number') return maximum ?? Number.MAX_SAFE_INTEGER;
  if (type === 'boolean') return false;
  if (type === 'array' && items !== undefined && maxItems !== undefined) {
    return Array.from({ length: maxItems }, () => longestOf(items, letter));
  }
  if (properties === undefined) throw new Error(`no bound: ${JSON.stringify(schema)}`);
  const each = Object.entries(properties);
  return Object.fromEntries(each.map(([name, one]) => [name, longestOf(one, letter)]));
}

function longestText(schema: TSchema, letter: string, chars: number): string {
  const texts = [letter, 'a'].map((one) => one.repeat(chars).slice(0, chars));
  const fit = [...texts, ...PATTERNED].filter((text) => Value.Check(schema, text));
  if (fit.length === 0) throw new Error(`no text is known that fits ${JSON.stringify(schema)}`);
  return longest(fit);
}

function longest<T>(values: readonly T[]): T {
  const bytes = (value: T) => Buffer.byteLength(JSON.stringify(value));
  const [first, ...others] = values;
  if (first === undefined) throw new Error('nothing to choose from');
  return others.reduce((most, one) => (bytes(one) > bytes(most) ? one : most), first);
}
