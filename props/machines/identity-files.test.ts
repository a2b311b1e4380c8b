// The identity files: wherever an enrollment or a renewal is cut, and wherever its repair is cut again, the node ends
// with the old identity or the new one, whole. invariant: I13
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ADOPT_NEXT,
  applyIdentityStep,
  FORGET_PREVIOUS,
  type IdentityFiles,
  type IdentityStep,
  judgeIdentityFiles,
  KEEP_PREVIOUS,
  UNREADABLE,
} from '../../machines/sensor/identity-files.rules.ts';

const fact = fc.constantFrom(null, UNREADABLE, 'a', 'b', 'c');
const anyFiles: fc.Arbitrary<IdentityFiles> = fc.record({
  key: fact,
  certificate: fact,
  previousKey: fact,
  previousCertificate: fact,
  nextKey: fact,
  nextCertificate: fact,
});
const apply = (files: IdentityFiles, steps: readonly IdentityStep[]) =>
  steps.reduce(applyIdentityStep, files);

describe('identity files', () => {
  it('are always settled by one judgement, whatever is on the disk', () => {
    fc.assert(
      fc.property(anyFiles, fc.nat(8), (files, cut) => {
        const verdict = judgeIdentityFiles(files);
        const settled = apply(files, verdict.steps);
        const again = judgeIdentityFiles(settled);
        expect({ ...again, steps: [] }).toEqual({ ...verdict, steps: [] });
        expect(again.steps).toEqual([]);
        if (verdict.kind === 'whole') expect(settled.key).toBe(settled.certificate);
        const cutShort = apply(files, verdict.steps.slice(0, cut));
        const resumed = apply(cutShort, judgeIdentityFiles(cutShort).steps);
        expect([resumed.key, resumed.certificate]).toEqual([settled.key, settled.certificate]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never lose the identity in a renewal or an enrollment cut anywhere', () => {
    const before: IdentityFiles = {
      key: 'a',
      certificate: 'a',
      previousKey: 'z',
      previousCertificate: 'z',
      nextKey: 'b',
      nextCertificate: null,
    };
    const commit: IdentityStep = { to: 'nextCertificate', from: 'nextKey' };
    for (const first of [KEEP_PREVIOUS, FORGET_PREVIOUS]) {
      const steps = [...first, commit, ...ADOPT_NEXT];
      for (let cut = 0; cut <= steps.length; cut += 1) {
        const left = apply(before, steps.slice(0, cut));
        const settled = apply(left, judgeIdentityFiles(left).steps);
        const expected = cut > first.length ? 'b' : 'a';
        expect([settled.key, settled.certificate]).toEqual([expected, expected]);
        expect(settled.nextKey).toBe(expected === 'b' ? null : 'b');
      }
    }
  });
});
