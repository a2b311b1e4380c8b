// Parse once at the edge: JSON text of bounded depth, then a compiled schema. Unknown fields are ignored here; the
// operator API, which refuses them, validates through its own routes.
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Refusal, refuse } from '../errors.ts';
import { JSON_DEPTH_MAX } from '../limits.ts';
import { isShallow } from './json-depth.ts';

const ERRORS_SHOWN_MAX = 10;
// A pointer holds names that the sender chose.
const POINTER_MAX_CHARS = 256;
export type Parsed<T> = { readonly ok: true; readonly value: T } | Refusal;

/** Makes a parser for one message: text in, typed value or a refusal with the places that do not fit. Never throws. */
export function parserOf<S extends TSchema>(schema: S): (text: string) => Parsed<Static<S>> {
  const check = parserOfValue(schema);
  return (text) => {
    const json = parseJson(text);
    return json.ok ? check(json.value) : json;
  };
}

/** The same for a value that is already parsed JSON. */
export function parserOfValue<S extends TSchema>(schema: S): (value: unknown) => Parsed<Static<S>> {
  const compiled = Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return { ok: true, value: value as Static<S> };
    const errors = compiled
      .Errors(value)
      // A field that is not known is found twice: at its own place, and at the object that holds it.
      .filter(({ keyword }) => keyword !== 'additionalProperties')
      .slice(0, ERRORS_SHOWN_MAX)
      .map((error) => ({
        pointer: error.instancePath.slice(0, POINTER_MAX_CHARS),
        detail: error.keyword === 'boolean' ? 'unknown field' : error.message,
      }));
    return refuse('schema_violation', 'The body does not fit its schema.', { errors });
  };
}

/** Parses JSON text of at most JSON_DEPTH_MAX levels. Never throws. */
export function parseJson(text: string): Parsed<unknown> {
  if (!isShallow(text))
    return refuse('malformed_body', `JSON is nested deeper than ${JSON_DEPTH_MAX}.`);
  try {
    const value: unknown = JSON.parse(text);
    return { ok: true, value };
  } catch {
    return refuse('malformed_body', 'The body is not JSON.');
  }
}
