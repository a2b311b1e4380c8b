// Every schema of the wire, read as plain JSON Schema: what fits it (made from it) and whether a value fits (judged by a
// reader so plain that it can be trusted beside the compiled one).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { anyCharacter } from '../any-character.ts';

export type Shape = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  /** `Type.Never()`: nothing fits, so that the field must not be there. */
  readonly not?: Shape;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: boolean;
  readonly maxProperties?: number;
};
export type Message = { readonly name: string; readonly schema: TSchema; readonly shape: Shape };

const ITEMS_MADE_MAX = 2;
const KEYS_MADE_MAX = 3;

const WIRE = join(import.meta.dirname, '..', '..', 'machines', 'wire');
const MODULES = readdirSync(WIRE).filter((name) => /^[a-z-]+\.ts$/.test(name));
const modules: readonly object[] = await Promise.all(
  MODULES.map((name): Promise<object> => import(join(WIRE, name))),
);

/** Every schema that a module of the wire exports, each once. */
export const SCHEMAS: readonly Message[] = modules
  .flatMap((module) => Object.entries(module))
  .filter((entry): entry is [string, TSchema] => isSchema(entry[1]))
  .map(([name, schema]) => ({ name, schema, shape: schema as Shape }));

/** The messages among them: what travels as one JSON object. */
export const MESSAGES: readonly Message[] = SCHEMAS.filter(({ shape }) => shape.type === 'object');

function isSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return 'type' in value || 'enum' in value || 'anyOf' in value;
}

/** By shape: text that matches a pattern takes longer to plan than to make. */
const planned = new WeakMap<Shape, fc.Arbitrary<unknown>>();
/** Values that fit a shape. */
export function valuesOf(shape: Shape): fc.Arbitrary<unknown> {
  const known = planned.get(shape) ?? plan(shape);
  planned.set(shape, known);
  return known;
}

function plan(shape: Shape): fc.Arbitrary<unknown> {
  if (shape.anyOf !== undefined) return fc.oneof(...shape.anyOf.map(valuesOf));
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
  if (shape.const !== undefined) return fc.constant(shape.const);
  const { minimum = -1e9, maximum = Number.MAX_SAFE_INTEGER } = shape;
  if (shape.type === 'null') return fc.constant(null);
  if (shape.type === 'boolean') return fc.boolean();
  if (shape.type === 'integer') return fc.integer({ min: minimum, max: maximum });
  if (shape.type === 'number') {
    return fc.double({ min: minimum, max: maximum, noNaN: true }).map((value) => value + 0);
  }
  if (shape.type === 'string') {
    if (shape.pattern !== undefined) return fc.stringMatching(regexOf(shape.pattern));
    const { minLength = 0, maxLength = 12 } = shape;
    return fc.string({ minLength, maxLength: Math.min(12, maxLength), unit: anyCharacter });
  }
  if (shape.type === 'array') {
    return fc.array(valuesOf(shape.items ?? {}), {
      minLength: shape.minItems ?? 0,
      maxLength: Math.max(ITEMS_MADE_MAX, shape.minItems ?? 0),
    });
  }
  if (shape.type !== 'object') return fc.jsonValue({ maxDepth: 2 });
  const [extra] = Object.values(shape.patternProperties ?? {});
  if (extra !== undefined) {
    return fc.dictionary(fc.string({ maxLength: 8 }), valuesOf(extra), { maxKeys: KEYS_MADE_MAX });
  }
  const fields = Object.entries(shape.properties ?? {})
    .filter(([, own]) => own.not === undefined)
    .map(([name, own]) => [name, valuesOf(own)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...(shape.required ?? [])] });
}

/** Whether a JSON value fits a shape. */
export function fits(shape: Shape, value: unknown): boolean {
  if (shape.not !== undefined) return false;
  if (shape.anyOf !== undefined) return shape.anyOf.some((one) => fits(one, value));
  if (shape.enum !== undefined) return shape.enum.includes(value);
  if (shape.const !== undefined) return value === shape.const;
  switch (shape.type) {
    case 'null':
      return value === null;
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return typeof value === 'number' && fitsNumber(shape, value);
    case 'string':
      return typeof value === 'string' && fitsText(shape, value);
    case 'array':
      return Array.isArray(value) && fitsItems(shape, value);
    case 'object':
      return typeof value === 'object' && value !== null && fitsFields(shape, value);
    default:
      return true;
  }
}

function fitsNumber(shape: Shape, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (shape.type === 'integer' && !Number.isInteger(value)) return false;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = shape;
  return value >= minimum && value <= maximum;
}

function fitsText(shape: Shape, value: string): boolean {
  const { length } = [...value];
  if (length > (shape.maxLength ?? Number.POSITIVE_INFINITY)) return false;
  if (length < (shape.minLength ?? 0)) return false;
  return shape.pattern === undefined || regexOf(shape.pattern).test(value);
}

const compiled = new Map<string, RegExp>();
function regexOf(pattern: string): RegExp {
  const regex = compiled.get(pattern) ?? new RegExp(pattern, 'u');
  compiled.set(pattern, regex);
  return regex;
}

function fitsItems(shape: Shape, value: readonly unknown[]): boolean {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = shape;
  if (value.length < minItems || value.length > maxItems) return false;
  return value.every((one) => fits(items, one));
}

function fitsFields(shape: Shape, value: object): boolean {
  if (Array.isArray(value)) return false;
  const entries = Object.entries(value);
  if (entries.length > (shape.maxProperties ?? Number.POSITIVE_INFINITY)) return false;
  if ((shape.required ?? []).some((name) => !Object.hasOwn(value, name))) return false;
  const patterns = Object.entries(shape.patternProperties ?? {});
  return entries.every(([name, one]) => {
    const own = Object.hasOwn(shape.properties ?? {}, name) ? shape.properties?.[name] : undefined;
    if (own !== undefined) return fits(own, one);
    const matching = patterns.filter(([pattern]) => regexOf(pattern).test(name));
    if (matching.length > 0) return matching.every(([, part]) => fits(part, one));
    return shape.additionalProperties !== false;
  });
}
