// Teams, groups, tags: what is kept is always readable, stable and bounded. decision: D43
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areGroupsBounded,
  changeOf,
  isTag,
  labelNameOf,
  nameKeyOf,
  replacementOf,
  tagsOf,
} from '../../machines/console/fleet/labels.rules.ts';
import {
  GROUPS_PER_SENSOR_MAX,
  LABEL_NAME_MAX_CHARS,
  TAGS_PER_SENSOR_MAX,
} from '../../machines/limits.ts';
import { anyCharacter } from '../any-character.ts';

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('a', 'B', ' ', '\u00E9', 'e\u0301', '\u200B', '-', '1') }),
);
const ids = fc.array(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e'));

describe('names of teams and groups', () => {
  it('are always kept as they will be kept again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const name = labelNameOf(text);
        if (name === null) return;
        expect(labelNameOf(name)).toBe(name);
        expect(name.length).toBeLessThanOrEqual(LABEL_NAME_MAX_CHARS);
        expect(name).not.toMatch(/[\p{C}]/u);
        expect(name).toBe(name.trim());
      }),
    );
  });

  it('are never two when they differ by case or width only', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const key = nameKeyOf(text);
        expect(nameKeyOf(key)).toBe(key);
        expect(nameKeyOf(text.toLowerCase())).toBe(key);
      }),
    );
    expect(nameKeyOf('\uFF21\uFF42c')).toBe(nameKeyOf('aBC'));
  });

  it('are never a text that shows nothing', () => {
    for (const text of ['', '  ', '\u200B', 'a\u202Eb', 'a\nb', '\uD800', 'x'.repeat(65)]) {
      expect(labelNameOf(text)).toBeNull();
    }
  });
});

describe('tags', () => {
  it('are always lower case, each once, in order and bounded', () => {
    const tag = fc.stringMatching(/^[a-z0-9]([a-z0-9._:/=-]{0,10}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 2 * TAGS_PER_SENSOR_MAX }), (texts) => {
        const result = tagsOf(texts);
        const unique = [...new Set(texts)];
        expect(result.ok).toBe(unique.length <= TAGS_PER_SENSOR_MAX);
        if (!result.ok) return;
        expect(result.tags).toEqual(unique.sort());
        expect(tagsOf(result.tags)).toEqual(result);
      }),
    );
  });

  it('are never a text that folds, splits or hides', () => {
    for (const text of ['', 'A', 'a b', 'a,b', '-a', 'a-', 'a\n', '\u00E4', 'a'.repeat(65)]) {
      expect(isTag(text)).toBe(false);
      expect(tagsOf(['ok', text])).toEqual({ ok: false, reason: 'no_tag', index: 1 });
    }
  });
});

describe('changes of a set', () => {
  it('always lead to what was asked, and never name what stays', () => {
    fc.assert(
      fc.property(ids, ids, ids, (had, add, remove) => {
        const before = [...new Set(had)];
        const { added, removed } = changeOf(before, { add, remove });
        const after = new Set(before.filter((one) => !removed.includes(one)).concat(added));
        const wanted = new Set(before.filter((one) => !remove.includes(one)).concat(add));
        expect([...after].sort()).toEqual([...wanted].sort());
        expect(added.filter((one) => before.includes(one))).toEqual([]);
        expect(removed.filter((one) => !before.includes(one))).toEqual([]);
      }),
    );
  });

  it('always replace one set by another', () => {
    fc.assert(
      fc.property(ids, ids, (had, wanted) => {
        const before = [...new Set(had)];
        const { added, removed } = replacementOf(before, wanted);
        const after = before.filter((one) => !removed.includes(one)).concat(added);
        expect(after.sort()).toEqual([...new Set(wanted)].sort());
      }),
    );
    const many = Array.from({ length: GROUPS_PER_SENSOR_MAX + 1 }, String);
    expect(areGroupsBounded(many)).toBe(false);
    expect(areGroupsBounded(many.slice(1))).toBe(true);
  });
});
