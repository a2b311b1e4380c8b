// What a hostile peer writes, for every message of the wire and at every place in it. The compiled reader always gives the
// verdict of a plain one, refuses with a code and a bounded list of places, and leaves the program as it was.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_DEPTH_MAX } from '../../machines/limits.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import { runs } from '../runs.ts';
import { fits, MESSAGES, valuesOf } from './shapes.ts';

const ERRORS_SHOWN_MAX = 10;
const KEYS_MANY = 3_000;
/** Stands for text that JSON.stringify would not write. */
const MARK = '@@hostile@@';
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at), at]));

const hostile: fc.Arbitrary<{ readonly value: unknown; readonly text?: string }> = fc.oneof(
  fc
    .constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      2 ** 53,
      -(2 ** 31),
      '',
      [],
      {},
      [[]],
      [null],
    )
    .map((value) => ({ value })),
  fc
    .constantFrom(
      'x'.repeat(70_000),
      '\u{1f600}'.repeat(40_000),
      '\ud800',
      '\udc00\ud800',
      '\u0000',
      'é\u0301',
    )
    .map((value) => ({ value })),
  fc
    .constantFrom('1e999', '-1e999', '1e-999', '-0', '9007199254740993', `1${'0'.repeat(400)}`)
    .map((text) => ({ value: MARK, text })),
  fc
    .constantFrom(
      '{"__proto__":{"polluted":true}}',
      '{"constructor":{"prototype":{}}}',
      '{"a":1,"a":"2"}',
    )
    .map((text) => ({ value: MARK, text })),
  fc.constant({ value: numbered(KEYS_MANY) }),
  fc.jsonValue({ maxDepth: 3 }).map((value) => ({ value })),
);

type Path = readonly (string | number)[];
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...at, key]))];
}
function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((one, at) => (String(at) === key ? replaced(one, rest, by) : one));
  const own = value as Record<string, unknown>;
  const entries = Object.entries(own).map(
    ([name, one]) => [name, name === key ? replaced(one, rest, by) : one] as const,
  );
  return Object.fromEntries(entries);
}
function spoiled(sample: unknown, choice: number, by: { value: unknown; text?: string }): string {
  const paths = pathsOf(sample);
  const text = JSON.stringify(replaced(sample, paths[choice % paths.length] ?? [], by.value));
  return by.text === undefined ? text : text.replace(`"${MARK}"`, () => by.text ?? '');
}

describe('hostile messages', () => {
  it.each(MESSAGES)('are always judged as a plain reader judges: $name', ({ schema, shape }) => {
    const parse = parserOf(schema);
    fc.assert(
      fc.property(valuesOf(shape), fc.nat(), hostile, (sample, choice, by) => {
        const text = spoiled(sample, choice, by);
        const parsed = parse(text);
        expect(parsed.ok).toBe(fits(shape, JSON.parse(text)));
        if (!parsed.ok) {
          expect(parsed.code).toBe('schema_violation');
          expect(parsed.errors?.length).toBeGreaterThan(0);
          expect(parsed.errors?.length).toBeLessThanOrEqual(ERRORS_SHOWN_MAX);
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it.each(MESSAGES)('are never taken without a field they need: $name', ({ schema, shape }) => {
    const parse = parserOf(schema);
    const needed = shape.required ?? [];
    if (needed.length === 0) return;
    fc.assert(
      fc.property(valuesOf(shape), fc.constantFrom(...needed), (sample, name) => {
        const { [name]: _gone, ...rest } = sample as Record<string, unknown>;
        expect(parse(JSON.stringify(rest)).ok).toBe(false);
        // Nor with that field inherited instead of given.
        const inherited = `{"__proto__":${JSON.stringify(sample)},${JSON.stringify(rest).slice(1)}`;
        expect(parse(inherited.replace(',}', '}')).ok).toBe(false);
      }),
      { numRuns: runs(20) },
    );
  });

  it.each(MESSAGES)('are never taken cut off: $name', ({ schema, shape }) => {
    const parse = parserOf(schema);
    fc.assert(
      fc.property(valuesOf(shape), fc.nat(), (sample, at) => {
        const text = JSON.stringify(sample);
        const parsed = parse(text.slice(0, at % text.length));
        expect(!parsed.ok && parsed.code).toBe('malformed_body');
      }),
      { numRuns: runs(40) },
    );
  });

  it.each(MESSAGES)('are never taken nested too deep, wherever: $name', ({ schema, shape }) => {
    const parse = parserOf(schema);
    const deep = '['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX);
    fc.assert(
      fc.property(valuesOf(shape), fc.nat(), (sample, choice) => {
        const paths = pathsOf(sample).filter((path) => path.length > 0);
        const path = paths[choice % Math.max(1, paths.length)] ?? [];
        const text = JSON.stringify(replaced(sample, path, MARK)).replace(`"${MARK}"`, deep);
        const parsed = parse(path.length === 0 ? `[${deep}]` : text);
        expect(!parsed.ok && parsed.code).toBe('malformed_body');
      }),
      { numRuns: runs(20) },
    );
  });

  it('never change what every object inherits', () => {
    const before = Reflect.ownKeys(Object.prototype);
    for (const { schema } of MESSAGES) {
      const parse = parserOf(schema);
      parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    }
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('never take more labels than there may be, whatever their names', () => {
    const message = MESSAGES.find(({ name }) => name === 'EnrollRequest');
    if (message === undefined) throw new Error('EnrollRequest is a message');
    const parse = parserOf(message.schema);
    const [sample] = fc.sample(valuesOf(message.shape), { numRuns: 1, seed: 1 });
    const withLabels = (count: number) =>
      JSON.stringify({
        ...(sample as object),
        labels: Object.fromEntries(Object.keys(numbered(count)).map((key) => [key, 'v'])),
      });
    expect(parse(withLabels(32)).ok).toBe(true);
    expect(parse(withLabels(33)).ok).toBe(false);
    expect(parse(withLabels(KEYS_MANY)).ok).toBe(false);
  });
});
