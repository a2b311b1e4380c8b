// The compiler of request schemas. A query and a path arrive as text, and the library turns any text into a number that
// it can: `true` would become 1. Here a number is written in digits, or the request does not fit.
import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';

const NUMBER = /^-?\d{1,20}(\.\d{1,20})?$/;
const NUMERIC_TYPES: ReadonlySet<unknown> = new Set(['integer', 'number']);

/** By schema and part; a second application of this process takes what was compiled for the first. */
const compiled = new WeakMap<TSchema, Map<string, ReturnType<typeof compile>>>();

/** Compiles the schema of one part of a request. */
export const compileValidator: FastifySchemaCompiler<TSchema> = (route) => {
  const known = compiled.get(route.schema) ?? new Map<string, ReturnType<typeof compile>>();
  compiled.set(route.schema, known);
  const part = route.httpPart ?? '';
  const validate = known.get(part) ?? compile(route);
  known.set(part, validate);
  return validate;
};

const compile: FastifySchemaCompiler<TSchema> = (route) => {
  const validate = TypeBoxValidatorCompiler(route);
  const numeric = route.httpPart === 'body' ? [] : numericNames(route.schema);
  if (numeric.length === 0) return validate;
  return (value: unknown) => {
    const given = value as Readonly<Record<string, unknown>>;
    const wrong = numeric.find((name) => isNoNumber(given[name]));
    return wrong === undefined ? validate(value) : { error: [mistakeAt(wrong)] };
  };
};

function numericNames(schema: TSchema): readonly string[] {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> };
  return Object.keys(properties).filter((name) => NUMERIC_TYPES.has(properties[name]?.type));
}

function isNoNumber(value: unknown): boolean {
  return typeof value === 'string' && !NUMBER.test(value);
}

function mistakeAt(name: string) {
  return {
    ...{ keyword: 'type', instancePath: `/${name}`, schemaPath: '#', params: {} },
    message: 'must be a number',
  };
}
