import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortedAfter } from './sensor-sort.ts';

const rowsOf = fc.uniqueArray(
  fc.record({ sensorId: fc.uuid(), key: fc.integer({ min: 0, max: 5 }) }),
  {
    selector: ({ sensorId }) => sensorId,
  },
);

describe('an ordered list', () => {
  it('should show every row once over all its pages, whatever their size', () => {
    fc.assert(
      fc.property(rowsOf, fc.integer({ min: 1, max: 4 }), fc.boolean(), (rows, size, isDown) => {
        const sort = isDown ? '-os' : 'os';
        const whole = sortedAfter(rows, sort, null);
        const paged: typeof rows = [];
        for (;;) {
          const page = sortedAfter(rows, sort, paged.at(-1) ?? null).slice(0, size);
          if (page.length === 0) break;
          paged.push(...page);
        }
        expect(paged).toEqual(whole);
        const keys = whole.map(({ key }) => key);
        const ordered = [...keys].sort((a, b) => (isDown ? b - a : a - b));
        expect(keys).toEqual(ordered);
      }),
    );
  });
});
