import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../props/any-character.ts';
import { byTurns, fittingCount } from './shortened.ts';

describe('shortening', () => {
  it('always fits, and never leaves out what would have fitted', () => {
    const texts = fc.array(fc.string({ unit: anyCharacter }).map((one) => JSON.stringify(one)));
    fc.assert(
      fc.property(texts, fc.nat(200), (all, bytesMax) => {
        const size = (count: number) => Buffer.byteLength(`[${all.slice(0, count).join(',')},`);
        const count = fittingCount(all, bytesMax);
        if (count > 0) expect(size(count) - 1).toBeLessThan(bytesMax);
        if (count < all.length) expect(size(count + 1) + 1).toBeGreaterThan(bytesMax);
      }),
    );
  });

  it('never gives an owner two more than another who has more', () => {
    const owners = fc.array(fc.constantFrom('a', 'b', 'c', 'd'));
    fc.assert(
      fc.property(owners, fc.nat(40), (all, max) => {
        const kept = byTurns(all, (one) => one, max);
        expect(kept).toHaveLength(Math.min(all.length, max));
        const countOf = (list: readonly string[], owner: string) =>
          list.filter((one) => one === owner).length;
        const most = Math.max(0, ...all.map((owner) => countOf(kept, owner)));
        for (const owner of new Set(all)) {
          const fair = Math.min(countOf(all, owner), most - 1);
          expect(countOf(kept, owner)).toBeGreaterThanOrEqual(fair);
        }
      }),
    );
  });
});
