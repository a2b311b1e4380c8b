// The license beside three dates and a clock that only goes forward: whatever the wall clock says, the phase follows the
// largest time that was seen or that must have passed. invariant: I16
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { licenseMachine } from '../../machines/console/license/license.machine.ts';
import { LICENSE_CHECK_MAX_MS } from '../../machines/limits.ts';
import type { LicenseFacts } from '../../machines/trust/license.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

const START_MS = 1_000_000_000;
const MINUTES_MAX = 6;
type Model = { license: LicenseFacts | null; seenMs: number };
type Real = Driven<typeof licenseMachine>;

const licenseFrom = (fromMs: number, validMs: number, graceMs: number): LicenseFacts => ({
  licenseId: 'l',
  customerId: 'c',
  workspaceId: 'w',
  plan: 'p',
  maxProtectedNodes: 1,
  validFromMs: fromMs,
  validUntilMs: fromMs + validMs,
  graceUntilMs: fromMs + validMs + graceMs,
  issuedAtMs: fromMs,
});
const span = fc.constantFrom(1, 2, 1_000, LICENSE_CHECK_MAX_MS, 3 * LICENSE_CHECK_MAX_MS + 7);
const aroundMs = fc.constantFrom(-200_000, -1, 0, 1, 1_000, 60_000, 200_000);

function phaseOf({ license, seenMs }: Model): string {
  if (license === null) return 'absent';
  if (seenMs < license.validFromMs) return 'pending';
  if (seenMs < license.validUntilMs) return 'valid';
  return seenMs < license.graceUntilMs ? 'grace' : 'expired';
}

const importing = fc.tuple(aroundMs, span, fc.oneof(span, fc.constant(0)), aroundMs).map(
  ([fromMs, validMs, graceMs, shiftMs]): Move<Model, Real> => ({
    name: `import(${fromMs}, ${validMs}, ${graceMs}, seen ${shiftMs})`,
    run(model, real) {
      model.license = licenseFrom(model.seenMs + fromMs, validMs, graceMs);
      model.seenMs += shiftMs;
      const { license, seenMs } = model;
      real.send({ type: 'license.imported', license, seenMs } as never);
    },
  }),
);
const seeing = aroundMs.map(
  (byMs): Move<Model, Real> => ({
    name: `see(${byMs})`,
    run(model, real) {
      const atMs = model.seenMs + byMs;
      real.send({ type: 'time.seen', atMs } as never);
      model.seenMs = Math.max(model.seenMs, atMs);
    },
  }),
);
// What waits in a phase that can end moves when its timer is due; a phase that cannot end needs no time.
const waiting = move<Model, Real>('wait for the timer', (model, real) => {
  const ms = real.nextTimerMs();
  if (ms === null) {
    expect(['absent', 'expired']).toContain(phaseOf(model));
    real.advance(MINUTES_MAX * LICENSE_CHECK_MAX_MS);
    return;
  }
  expect(ms).toBeLessThanOrEqual(LICENSE_CHECK_MAX_MS);
  real.advance(ms - 1);
  expect(real.snapshot().value).toBe(phaseOf(model));
  real.advance(1);
  model.seenMs += ms;
});

describe('license', () => {
  itsMachineAgrees(licenseMachine, {
    input: fc.boolean(),
    begin: (isLicensed) => {
      const license = isLicensed ? licenseFrom(START_MS, 1_000, 1_000) : null;
      return {
        model: { license, seenMs: START_MS } as Model,
        real: drive(licenseMachine, { license, seenMs: START_MS }, START_MS),
      };
    },
    moves: [importing, seeing, seeing, waiting, waiting],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(phaseOf(model));
      expect(context).toEqual({ license: model.license, seenMs: model.seenMs });
    },
  });
});
