// The identity files beside two variables, the identity the node has and the one it is promised: enrollments and renewals
// that are cut anywhere, repairs that are cut again, and an overlap that is ended or gone back on. invariant: I13
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  ADOPT_NEXT,
  applyIdentityStep,
  FORGET_PREVIOUS,
  type IdentityFiles,
  type IdentityStep,
  judgeIdentityFiles,
  KEEP_PREVIOUS,
  RESTORE_PREVIOUS,
} from '../../machines/sensor/identity-files.rules.ts';
import { itAgrees, type Move, move } from './driver.ts';

const NONE: IdentityFiles = {
  key: null,
  certificate: null,
  previousKey: null,
  previousCertificate: null,
  nextKey: null,
  nextCertificate: null,
};
type Model = { active: string | null; previous: string | null; made: number };
type Real = { files: IdentityFiles };

function apply(real: Real, steps: readonly IdentityStep[]): void {
  real.files = steps.reduce(applyIdentityStep, real.files);
}
function repair(real: Real): void {
  apply(real, judgeIdentityFiles(real.files).steps);
}
// A renewal keeps the current pair, an enrollment removes the previous one; then both adopt the new pair the same way.
const change = fc
  .record({
    isRenewal: fc.boolean(),
    cut: fc.option(fc.nat(8)),
    repairCut: fc.option(fc.nat(4)),
  })
  .map(
    ({ isRenewal, cut, repairCut }): Move<Model, Real> => ({
      name: `${isRenewal ? 'renew' : 'enroll'}(cut ${cut}, repair cut ${repairCut})`,
      may: (model) => !isRenewal || model.active !== null,
      run(model, real) {
        const name = `k${++model.made}`;
        real.files = { ...real.files, nextKey: name };
        const first = isRenewal ? KEEP_PREVIOUS : FORGET_PREVIOUS;
        const answer: IdentityStep = { to: 'nextCertificate', from: 'nextKey' };
        const steps = [...first, answer, ...ADOPT_NEXT];
        const done = Math.min(cut ?? steps.length, steps.length);
        apply(real, steps.slice(0, done));
        if (repairCut !== null) {
          apply(real, judgeIdentityFiles(real.files).steps.slice(0, repairCut));
        }
        repair(real);
        if (done > first.length) {
          model.previous = isRenewal ? model.active : null;
          model.active = name;
        }
        // The old pair was touched: it is torn, and a copy of the active one is no fallback.
        else if (done > 0) model.previous = null;
      },
    }),
  );
const forget = move<Model, Real>('forget the previous pair', (model, real) => {
  apply(real, FORGET_PREVIOUS);
  model.previous = null;
});
const goBack = fc.nat(2).map(
  (cut): Move<Model, Real> => ({
    name: `go back(cut ${cut})`,
    may: (model) => model.previous !== null,
    run(model, real) {
      apply(real, RESTORE_PREVIOUS.slice(0, cut));
      repair(real);
      if (cut === 0) return;
      model.active = model.previous;
      model.previous = null;
    },
  }),
);

describe('identity files', () => {
  itAgrees<Model, Real, undefined>({
    input: fc.constant(undefined),
    begin: () => ({
      model: { active: null, previous: null, made: 0 },
      real: { files: NONE },
    }),
    moves: [change, change, forget, goBack],
    agree(model, { files }) {
      const verdict = judgeIdentityFiles(files);
      expect(verdict.kind).toBe(model.active === null ? 'none' : 'whole');
      expect(verdict.steps).toEqual([]);
      expect([files.key, files.certificate]).toEqual([model.active, model.active]);
      if (verdict.kind === 'whole') expect(verdict.hasPrevious).toBe(model.previous !== null);
      if (model.previous !== null) expect(files.previousKey).toBe(model.previous);
    },
    runs: 200,
  });
});
