import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NodeSnapshot, nodeMachine } from '../../machines/sensor/node.machine.ts';
import type { Prepared } from '../../machines/sensor/node.rules.ts';
import { judgeExpiry, nextStepOf } from '../../machines/sensor/node.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const prepared = fc.record({
  identity: fc.constantFrom('none', 'whole', 'expired', 'revoked', 'broken'),
  hasToken: fc.boolean(),
  isReenrollment: fc.boolean(),
  reason: fc.string({ maxLength: 20 }),
}) as fc.Arbitrary<Prepared>;
const attempt = fc.oneof(
  fc.constant({ kind: 'enrolled', sensorId: 's', notAfterMs: 1 }),
  fc.constant({ kind: 'refused', code: 'token_invalid', detail: 'unknown' }),
);
const event = fc.constantFrom(
  { type: 'certificate.expired' },
  { type: 'certificate.valid' },
  { type: 'sensor.revoked' },
  { type: 'stop.requested' },
);
const INPUT = { tokenCheckMs: 1_000, stopTimeoutMs: 1_000 };

describeMachineLaws({
  name: 'node',
  machine: nodeMachine,
  input: fc.constant(INPUT),
  events: event,
  outputs: {
    prepare: prepared,
    enroll: attempt,
    lookForToken: fc.boolean(),
    startCollecting: fc.constant(undefined),
    stopEverything: fc.constant(undefined),
  },
});

const WHOLE: Prepared = {
  identity: 'whole',
  hasToken: false,
  isReenrollment: false,
  reason: '',
};
const step = (snapshot: NodeSnapshot, next: { type: string }): NodeSnapshot =>
  transition(nodeMachine, snapshot, next as never)[0];
const begin = (found: Prepared): NodeSnapshot =>
  step(initialTransition(nodeMachine, INPUT)[0], {
    type: 'xstate.done.actor.prepare',
    output: found,
  } as never);

describe('node: rules', () => {
  it('never leaves revoked except to stop, and never forwards there', () => {
    fc.assert(
      fc.property(fc.array(event), (events) => {
        let snapshot = step(begin(WHOLE), { type: 'sensor.revoked' });
        for (const next of events.filter(({ type }) => type !== 'stop.requested')) {
          snapshot = step(snapshot, next);
        }
        expect(snapshot.value).toBe('revoked');
        expect(snapshot.hasTag('forwards')).toBe(false);
        expect(snapshot.hasTag('collects')).toBe(false);
      }),
    );
  });

  it('always keeps collecting while it waits for a re-enrollment, and forwards again after it', () => {
    let snapshot = step(begin(WHOLE), { type: 'certificate.expired' });
    expect(snapshot.hasTag('collects')).toBe(true);
    expect(snapshot.hasTag('forwards')).toBe(false);
    snapshot = step(snapshot, { type: 'xstate.done.actor.lookForToken', output: true } as never);
    snapshot = step(snapshot, {
      type: 'xstate.done.actor.reenroll',
      output: { kind: 'enrolled', sensorId: 's', notAfterMs: 1 },
    } as never);
    expect(snapshot.value).toBe('running');
  });

  it('always forwards again when the clock that called the certificate expired was wrong', () => {
    const waiting = step(begin(WHOLE), { type: 'certificate.expired' });
    const back = step(waiting, { type: 'certificate.valid' });
    expect([back.value, back.hasTag('forwards')]).toEqual(['running', true]);
    expect(step(begin(WHOLE), { type: 'certificate.valid' }).value).toBe('running');
  });

  it('never ends an identity by the word of a peer', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (notAfterMs, nowMs) => {
        expect(judgeExpiry(notAfterMs, nowMs) === 'expired').toBe(nowMs >= notAfterMs);
      }),
    );
  });

  it('always ends with exit code 6 when there is neither identity nor token, or the token is refused', () => {
    for (const identity of ['none', 'broken'] as const) {
      const snapshot = begin({ ...WHOLE, identity, reason: 'no key' });
      expect(snapshot.value).toBe('failing');
      expect(snapshot.context.exitCode).toBe(6);
    }
    const refused = step(begin({ ...WHOLE, identity: 'none', hasToken: true }), {
      type: 'xstate.done.actor.enroll',
      output: { kind: 'refused', code: 'token_consumed', detail: 'used' },
    } as never);
    expect(refused.context.exitCode).toBe(6);
  });

  it('never re-enrolls a revoked identity and never spends a plain token on one that works', () => {
    fc.assert(
      fc.property(prepared, (found) => {
        const next = nextStepOf(found);
        if (found.identity === 'revoked' && found.isReenrollment) expect(next).toBe('revoked');
        if (found.identity === 'whole' && !found.isReenrollment) expect(next).toBe('run');
        if (!found.hasToken) expect(next).not.toBe('enroll');
      }),
    );
  });
});
