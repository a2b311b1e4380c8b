// What one side writes, the other reads back the same, for every schema of the wire.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parserOf } from '../../machines/wire/parse.ts';
import { runs } from '../runs.ts';
import { fits, MESSAGES, SCHEMAS, valuesOf } from './shapes.ts';

describe('wire round trips', () => {
  it('cover every message', () => {
    const names = SCHEMAS.map(({ name }) => name);
    for (const name of ['EnrollRequest', 'HeartbeatRequest', 'EventsFrame', 'InventoryRequest']) {
      expect(names).toContain(name);
    }
    expect(MESSAGES.length).toBeGreaterThan(20);
  });

  it.each(SCHEMAS)('always read $name back as it was written', ({ schema, shape }) => {
    const parse = parserOf(schema);
    fc.assert(
      fc.property(valuesOf(shape), (value) => {
        const text = JSON.stringify(value);
        expect(fits(shape, JSON.parse(text))).toBe(true);
        const parsed = parse(text);
        if (!parsed.ok) throw new Error(`${text}: ${JSON.stringify(parsed.errors)}`);
        expect(JSON.stringify(parsed.value)).toBe(text);
      }),
      { numRuns: runs(40) },
    );
  });

  it.each(MESSAGES)('always take $name with a field of a newer version', ({ schema, shape }) => {
    if (shape.additionalProperties === false) return;
    const parse = parserOf(schema);
    fc.assert(
      fc.property(valuesOf(shape), fc.jsonValue({ maxDepth: 3 }), (value, extra) => {
        const text = JSON.stringify({ ...(value as object), from_the_future: extra });
        expect(parse(text).ok).toBe(true);
      }),
      { numRuns: runs(20) },
    );
  });
});
