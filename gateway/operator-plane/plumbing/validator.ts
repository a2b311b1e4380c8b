// The compiler of request schemas. A query and a path arrive as text, and the library turns any text into a number that
// it can: `true` would become 1. Here a number is written in digits, or the request does not fit.
import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';

const NUMBER = /^-?\d{1,20}(\.\d{1,20})?$/;
const NUMERIC_TYPES: ReadonlySet<unknown> = new Set(['integer', 'number']);

/**
 * By part and text of the schema: lists share one, and a second application of this process takes what was compiled for
 * the first. As many as the routes have schemas. invariant: I10
 */
const compiled = new Map<string, ReturnType<typeof compile>>();

/** Compiles the schema of one part of a request. */
export const compileValidator: FastifySchemaCompiler<TSchema> = (route) => {
  const text = textOf(route.schema);
  if (text === null) return compile(route);
  const key = `${route.httpPart ?? ''} ${text}`;
  const validate = compiled.get(key) ?? compile(route);
  compiled.set(key, validate);
  return validate;
};

/** All that a schema says; null when it has a function, which no text holds. */
function textOf(schema: TSchema): string | null {
  let isWhole = true;
  const text = JSON.stringify(schema, (...[, value]: readonly unknown[]) => {
    if (typeof value === 'function') isWhole = false;
    return value;
  });
  return isWhole ? text : null;
}

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
