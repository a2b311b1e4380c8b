// A fuzz target for one JSON body of the sensor plane: the text as the plane decodes it, the parser as its route uses it.
import type { Static, TSchema } from 'typebox';
import { parserOf } from '../../machines/wire/parse.ts';
import { json } from './samples.ts';
import type { FuzzTarget, Note } from './target.ts';
import { bodyText, checkParsed } from './wire-oracle.ts';

/** Makes the target; `check` adds what this body promises beyond its schema. */
export function bodyTarget<S extends TSchema>(body: {
  readonly name: string;
  readonly schema: S;
  readonly samples: readonly unknown[];
  readonly check?: (value: Static<S>, note: Note) => void;
}): FuzzTarget {
  const parse = parserOf(body.schema);
  return {
    name: body.name,
    modules: ['machines/wire/parse.ts'],
    form: 'json',
    seeds: () => [
      ...body.samples.map(json),
      Buffer.from('{}'),
      Buffer.from(`${'['.repeat(40)}${']'.repeat(40)}`),
      Buffer.from('{"__proto__":{"polluted":1}}'),
      Buffer.from('{"a":"\\\\\\"[[[["}'),
      Buffer.of(0xff, 0xfe, 0x7b),
    ],
    run(bytes, note) {
      const text = bodyText(bytes);
      if (text === null) return note('not UTF-8');
      const value = checkParsed(text, parse, body.schema, note);
      if (value !== null) body.check?.(value, note);
    },
  };
}
