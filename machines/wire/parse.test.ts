import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { JSON_DEPTH_MAX } from '../limits.ts';
import { isShallow } from './json-depth.ts';
import { parseJson, parserOf, parserOfValue } from './parse.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('parse', () => {
  it('should give the value that fits, and a place and a reason for each that does not', () => {
    const Pair = Type.Object({ a: Type.String(), b: Type.Integer() });
    expect(parserOf(Pair)('{"a":"x","b":1}')).toEqual({ ok: true, value: { a: 'x', b: 1 } });
    const refused = parserOfValue(Pair)({ a: 1, b: 'x' });
    expect(refused).toMatchObject({ ok: false, code: 'schema_violation' });
    if (refused.ok) return;
    expect(refused.errors?.map(({ pointer }) => pointer)).toEqual(['/a', '/b']);
    expect(refused.errors?.map(({ detail }) => detail)).toEqual([
      expect.stringContaining('string'),
      expect.stringContaining('integer'),
    ]);
  });

  it('should name a field that is not known once, at its place', () => {
    const Closed = Type.Object({ a: Type.String() }, { additionalProperties: false });
    const refused = parserOfValue(Closed)({ a: 'x', b: 1 });
    expect(refused).toMatchObject({ errors: [{ pointer: '/b', detail: 'unknown field' }] });
    expect(!refused.ok && refused.errors?.length).toBe(1);
  });

  it('should name at most ten places', () => {
    const Many = Type.Object(
      Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`k${at}`, Type.String()])),
    );
    const values = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`k${at}`, at]));
    const refused = parserOfValue(Many)(values);
    expect(!refused.ok && refused.errors?.length).toBeLessThanOrEqual(10);
  });

  it('should cut a place whose name the sender chose', () => {
    const Named = Type.Record(Type.String(), Type.String());
    const refused = parserOfValue(Named)({ ['n'.repeat(1_000)]: 1 });
    expect(!refused.ok && refused.errors?.[0]?.pointer).toBe(`/${'n'.repeat(255)}`);
  });

  it('should refuse what is not JSON with the code of a body that cannot be read', () => {
    for (const text of ['', '{', 'nothing', '{"a":1}}']) {
      expect(parseJson(text)).toMatchObject({ ok: false, code: 'malformed_body' });
      expect(parserOf(Type.Unknown())(text)).toMatchObject({ code: 'malformed_body' });
    }
    expect(parseJson('[1]')).toEqual({ ok: true, value: [1] });
  });

  it('should accept exactly the greatest depth, of lists and objects alike', () => {
    expect(isShallow(nested(JSON_DEPTH_MAX))).toBe(true);
    expect(isShallow(nested(JSON_DEPTH_MAX + 1))).toBe(false);
    expect(isShallow('{"a":{"a":{}}}', 3)).toBe(true);
    expect(isShallow('{"a":{"a":{}}}', 2)).toBe(false);
    expect(isShallow('[{"a":[]}]', 2)).toBe(false);
    expect(isShallow(`[${'[],'.repeat(50)}{}]`, 2)).toBe(true);
    expect(isShallow(`[${'{},'.repeat(50)}[]]`, 2)).toBe(true);
    expect(parseJson(nested(JSON_DEPTH_MAX + 1))).toMatchObject({ code: 'malformed_body' });
  });

  it('should find the end of a string past any escape', () => {
    const inString = ['"[[["', '"\\"[[["', '"\\\\\\"[[["', '"a\\\\b[[["', '["\\"","[["]'];
    expect(inString.filter((text) => !isShallow(text, 1))).toEqual([]);
    const outside = ['"\\\\"[[', '"\\\\\\\\"[[', '""[[', '"a"[[', '["",[[', '"\\""[['];
    expect(outside.filter((text) => isShallow(text, 1))).toEqual([]);
    // A string without an end takes the rest of the text; JSON.parse refuses it afterwards.
    expect(isShallow('"[[', 1)).toBe(true);
    expect(isShallow('"\\"[[', 1)).toBe(true);
  });
});
