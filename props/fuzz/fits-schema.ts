// A second reading of the schemas, word by word and slow, so that the compiled check has somebody to disagree with.
// It knows the words that the wire's schemas use and throws on any other, so that none is passed over.
type Schema = Readonly<Record<string, unknown>>;
type JsonObject = Readonly<Record<string, unknown>>;
type Check = (value: unknown, word: never, schema: Schema) => boolean;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const lengthOf = (value: unknown): number => (typeof value === 'string' ? [...value].length : -1);
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const CHECKS: Readonly<Record<string, Check>> = {
  type: (value, word: string) => TYPES[word]?.(value) === true,
  required: (value, names: readonly string[]) =>
    !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (value, parts: Readonly<Record<string, Schema>>) =>
    !isObject(value) ||
    Object.entries(parts).every(
      ([name, part]) => !Object.hasOwn(value, name) || fitsSchema(value[name], part),
    ),
  patternProperties: (value, parts: Readonly<Record<string, Schema>>) =>
    !isObject(value) ||
    Object.entries(value).every(([name, inner]) =>
      Object.entries(parts).every(
        ([pattern, part]) => !matches(pattern, name) || fitsSchema(inner, part),
      ),
    ),
  additionalProperties: (value, _word: boolean, schema) =>
    !isObject(value) ||
    Object.keys(value).every(
      (name) =>
        Object.hasOwn((schema['properties'] ?? {}) as JsonObject, name) ||
        Object.keys((schema['patternProperties'] ?? {}) as JsonObject).some((pattern) =>
          matches(pattern, name),
        ),
    ),
  maxProperties: (value, max: number) => !isObject(value) || Object.keys(value).length <= max,
  items: (value, part: Schema) =>
    !Array.isArray(value) || value.every((item) => fitsSchema(item, part)),
  minItems: (value, min: number) => !Array.isArray(value) || value.length >= min,
  maxItems: (value, max: number) => !Array.isArray(value) || value.length <= max,
  minLength: (value, min: number) => typeof value !== 'string' || lengthOf(value) >= min,
  maxLength: (value, max: number) => typeof value !== 'string' || lengthOf(value) <= max,
  pattern: (value, pattern: string) => typeof value !== 'string' || matches(pattern, value),
  minimum: (value, min: number) => typeof value !== 'number' || numberOf(value) >= min,
  maximum: (value, max: number) => typeof value !== 'number' || numberOf(value) <= max,
  enum: (value, words: readonly unknown[]) => words.includes(value),
  const: (value, word: unknown) => value === word,
  anyOf: (value, parts: readonly Schema[]) => parts.some((part) => fitsSchema(value, part)),
  not: (value, part: Schema) => !fitsSchema(value, part),
};
const patterns = new Map<string, RegExp>();
function matches(pattern: string, text: string): boolean {
  const known = patterns.get(pattern) ?? new RegExp(pattern);
  patterns.set(pattern, known);
  return known.test(text);
}

const SILENT_WORDS = new Set(['description', 'default', 'title']);

/** Whether a parsed JSON value fits a schema. */
export function fitsSchema(value: unknown, schema: object): boolean {
  return Object.entries(schema).every(([name, word]) => {
    if (SILENT_WORDS.has(name)) return true;
    const check = CHECKS[name];
    if (check === undefined) throw new Error(`the schema word ${name} is not known here`);
    return check(value, word as never, schema as Schema);
  });
}

/** Levels of nesting of a JSON value. */
export function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
