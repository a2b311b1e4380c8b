// Properties of the condition language: what is printed means what was read, the predicate does what a naive model says,
// and no text breaks the reader. decision: D97; invariant: I8, I10
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Condition, Leaf, Piece } from '../../machines/detection/condition.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { conditionText } from '../../machines/detection/condition-text.ts';
import { FIELD_NAMES, type FieldName } from '../../machines/detection/fields.ts';
import { predicateOf } from '../../machines/detection/predicate.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { storedEventOf } from '../../storage/ports/telemetry/stored-event.ts';
import { anyCharacter } from '../any-character.ts';
import { conditionEvents, conditions } from '../contracts/conditions.ts';
import { batch } from '../contracts/samples.ts';
import { runs } from '../runs.ts';

const storedEvents = conditionEvents.map((event) =>
  storedEventOf(batch({ events: [event] }), event),
);

describe('a condition', () => {
  it('always means the same after it was printed and read again', () => {
    fc.assert(
      fc.property(conditions, fc.array(storedEvents, { maxLength: 8 }), (condition, events) => {
        const read = parseCondition(conditionText(condition));
        if (!read.ok) throw new Error(`${conditionText(condition)}: ${read.at} ${read.detail}`);
        const [before, after] = [predicateOf(condition), predicateOf(read.condition)];
        expect(events.map(after)).toEqual(events.map(before));
        const again = parseCondition(conditionText(read.condition));
        expect(again).toEqual(read);
      }),
      { numRuns: runs(500) },
    );
  });

  it('always is true of the events that a naive reading of it is true of', () => {
    const counts = { yes: 0, no: 0 };
    fc.assert(
      fc.property(conditions, fc.array(storedEvents, { maxLength: 8 }), (condition, events) => {
        const test = predicateOf(condition);
        for (const event of events) {
          const isTrue = test(event);
          expect([conditionText(condition), isTrue]).toEqual([
            conditionText(condition),
            isNaivelyTrue(condition, event),
          ]);
          counts[isTrue ? 'yes' : 'no'] += 1;
        }
      }),
      { numRuns: runs(1_000) },
    );
    expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(100);
  });

  it('never breaks the reader, whatever it is made of', () => {
    const token = fc.constantFrom(
      ...['(', ')', ',', '"', '\\', '*', '?', ':', '~', '=~', ' ', '\n', '<', '>=', '..', '/'],
      ...['and', 'or', 'not', 'x', '7', '10.0.0.0/8', '(?i)', '[', '{9}', '\\x41', '\\u{110000}'],
      ...FIELD_NAMES,
    );
    const texts = fc.oneof(
      fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join('')),
      fc.string({ unit: anyCharacter, maxLength: 60 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = parseCondition(text);
        if (read.ok) {
          expect(parseCondition(conditionText(read.condition)).ok).toBe(true);
        } else {
          expect(read.at).toBeGreaterThanOrEqual(0);
          expect(read.at).toBeLessThanOrEqual(text.length + 1);
          expect(read.detail).not.toBe('');
        }
      }),
      { numRuns: runs(3_000) },
    );
  });
});

function isNaivelyTrue(condition: Condition, event: StoredEvent): boolean {
  if (condition.is === 'all') return condition.of.every((part) => isNaivelyTrue(part, event));
  if (condition.is === 'either') return condition.of.some((part) => isNaivelyTrue(part, event));
  if (condition.is === 'not') return !isNaivelyTrue(condition.of, event);
  const fields: readonly FieldName[] =
    condition.is === 'words'
      ? ['message', 'process.binary', 'process.arguments', 'file.path', 'network.domain']
      : [condition.field];
  return fields.flatMap((field) => valuesAt(event, field)).some((one) => holds(condition, one));
}

/** What the JSON of an event holds under a dotted name, also in a list. */
function valuesAt(event: unknown, path: string): unknown[] {
  let found: unknown[] = [JSON.parse(JSON.stringify(event))];
  for (const name of path.split('.')) {
    found = found
      .flat()
      .map((one) => (one as Record<string, unknown> | null)?.[name])
      .filter((one) => one !== undefined);
  }
  return found.flat();
}

function holds(leaf: Leaf, value: unknown): boolean {
  const isDomain = 'field' in leaf && leaf.field === 'network.domain';
  const inCase = (text: string) => (isDomain ? asciiLower(text) : text);
  switch (leaf.is) {
    case 'present':
      return true;
    case 'among':
      return leaf.values.some((one) =>
        typeof one === 'string' ? inCase(one) === inCase(String(value)) : one === value,
      );
    case 'like':
      return fits(
        Array.from(inCase(String(value))),
        leaf.pieces.map((one) => (one.is === 'text' ? { ...one, text: inCase(one.text) } : one)),
      );
    case 'words':
    case 'contains':
      return hasPart(String(value), leaf.text);
    case 'pattern': {
      const isFolding = leaf.source.startsWith('(?i)');
      const source = leaf.source.replace('(?i)', '').replaceAll('\\s', '[\\t\\n\\f\\r ]');
      return new RegExp(source, isFolding ? 'iu' : 'u').test(String(value));
    }
    case 'compare': {
      const [left, right] = [Number(value), leaf.value];
      return { '<': left < right, '<=': left <= right, '>': left > right, '>=': left >= right }[
        leaf.op
      ];
    }
    case 'network':
      return isIn(String(value), leaf.source);
  }
}

function asciiLower(text: string): string {
  return Array.from(text, (one) => (one >= 'A' && one <= 'Z' ? one.toLowerCase() : one)).join('');
}

function hasPart(text: string, part: string): boolean {
  const isPlain = Array.from(part).every((one) => (one.codePointAt(0) ?? 0) < 128);
  const fold = isPlain ? asciiLower : (one: string) => Array.from(one, folded).join('');
  return fold(text).includes(fold(part));
}

/** A letter as the one that stands for all that differ from it in case alone. */
function folded(char: string): string {
  const same = ['s', 'k', 'ß', 'ü', 'σ', 'ǆ', 'å'].find((one) =>
    new RegExp(`^${one}$`, 'iu').test(char),
  );
  const lower = char.toLowerCase();
  return same ?? (lower.length === char.length && char !== 'İ' ? lower : char);
}

function fits(chars: readonly string[], pieces: readonly Piece[]): boolean {
  const [piece, ...rest] = pieces;
  if (piece === undefined) return chars.length === 0;
  if (piece.is === 'any') {
    return Array.from({ length: chars.length + 1 }).some((_, at) => fits(chars.slice(at), rest));
  }
  if (piece.is === 'one') return chars.length > 0 && fits(chars.slice(1), rest);
  const wanted = Array.from(piece.text);
  return wanted.every((one, at) => chars[at] === one) && fits(chars.slice(wanted.length), rest);
}

/** Which of the drawn addresses lie in which of the drawn networks, by hand. */
function isIn(address: string, network: string): boolean {
  const v4 = ['10.0.0.1', '10.255.255.255', '::ffff:10.0.0.1'];
  const db8 = ['2001:db8::1', '2001:DB8:0:0:0:0:0:1'];
  const others = ['::', '::1', '::10.0.0.1', '1::10.0.0.1', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'];
  const eight = ['1:2:3:4:5:6:7:8'];
  const members: Readonly<Record<string, readonly string[]>> = {
    '10.0.0.0/8': v4,
    '10.0.0.1': ['10.0.0.1', '::ffff:10.0.0.1'],
    '0.0.0.0/0': v4,
    '::/0': [...v4, ...db8, ...others, ...eight],
    '::1': ['::1'],
    '::ffff:0:0/96': v4,
    '2001:db8::/32': db8,
    '2001:db8::1/128': db8,
    '1:2:3:4:5:6:7:8/127': eight,
  };
  return members[network]?.includes(address) ?? false;
}
