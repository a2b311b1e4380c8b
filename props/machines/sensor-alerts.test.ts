// What is told of a sensor: every change that people wait for once, and nothing twice. decision: D103
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSameMark,
  newsOf,
  type SensorMark,
  UNMARKED,
} from '../../machines/console/delivery/sensor-alerts.rules.ts';

const mark: fc.Arbitrary<SensorMark> = fc.record({
  trust: fc.constantFrom('trusted', 'renewal_recommended', 'renewal_due', 'revoked'),
  isExpired: fc.boolean(),
  notAfterMs: fc.option(fc.integer({ min: 0, max: 3 })),
  isStale: fc.boolean(),
  orderId: fc.option(fc.constantFrom('1', '2')),
  containment: fc.constantFrom('released', 'contained', 'failed'),
});
const kindsOf = (before: SensorMark, now: SensorMark) =>
  newsOf(before, now, 'node-1').map(({ kind }) => kind);

describe('news of a sensor', () => {
  it('never tells what the mark says already', () => {
    fc.assert(
      fc.property(mark, (one) => {
        expect(newsOf(one, one, 'n')).toEqual([]);
        expect(isSameMark(one, { ...one })).toBe(true);
      }),
    );
  });

  it('always tells a revocation once, and nothing after it', () => {
    fc.assert(
      fc.property(mark, mark, (before, now) => {
        const kinds = kindsOf(before, { ...now, trust: 'revoked' });
        expect(kinds.includes('sensor_revoked')).toBe(before.trust !== 'revoked');
        expect(kindsOf({ ...before, trust: 'revoked' }, now)).toEqual([]);
      }),
    );
  });

  it('always tells when a sensor falls silent or a node changes its containment', () => {
    fc.assert(
      fc.property(mark, mark, (before, now) => {
        if (before.trust === 'revoked' || now.trust === 'revoked') return;
        const kinds = kindsOf(before, now);
        expect(kinds.includes('sensor_stale')).toBe(now.isStale && !before.isStale);
        const hasMoved = before.containment !== now.containment || before.orderId !== now.orderId;
        expect(kinds.filter((kind) => kind === 'containment_changed').length).toBe(
          hasMoved ? 1 : 0,
        );
      }),
    );
  });

  it('always tells the windows of a certificate in their order, and a renewal begins anew', () => {
    const at = (more: Partial<SensorMark>): SensorMark => ({ ...UNMARKED, notAfterMs: 1, ...more });
    const steps: readonly [SensorMark, readonly string[]][] = [
      [at({}), []],
      [at({ trust: 'renewal_recommended' }), ['certificate_renewal_recommended']],
      [at({ trust: 'renewal_due' }), ['certificate_renewal_due']],
      [at({ trust: 'renewal_due', isExpired: true }), ['certificate_expired']],
      [at({ notAfterMs: 2 }), ['certificate_renewed']],
      [at({ notAfterMs: 2, trust: 'renewal_due' }), ['certificate_renewal_due']],
      [
        at({ notAfterMs: 3, trust: 'renewal_due' }),
        ['certificate_renewed', 'certificate_renewal_due'],
      ],
    ];
    let before = UNMARKED;
    for (const [now, kinds] of steps) {
      expect(kindsOf(before, now)).toEqual(kinds);
      before = now;
    }
  });
});
