// A day is told once at most: after an attempt that may have arrived none follows, whatever crashes. decision: D166
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DigestRunEvent,
  digestDelayMs,
  digestRunMachine,
} from '../../machines/console/digest/digest-run.machine.ts';
import {
  type DigestStanding,
  digestRunAfter,
  newDigestRun,
} from '../../machines/console/digest/standing.ts';
import {
  DIGEST_BACKOFF_MAX_MS,
  DIGEST_BACKOFF_MIN_MS,
  DIGEST_GIVE_UP_MS,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const atMs = fc.integer({ min: 0, max: 2 * DIGEST_GIVE_UP_MS });
const chance = fc.double({ min: 0, max: 1, noNaN: true });
const reason = fc.constantFrom('away', 'refused');
const event: fc.Arbitrary<DigestRunEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('attempt.began' as const), atMs }) },
  fc.record({ type: fc.constant('attempt.taken' as const), atMs, note: fc.option(reason) }),
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ type: fc.constant('attempt.failed' as const), atMs, reason, chance },
      isFinal: fc.boolean(),
    }),
  },
  fc.record({ type: fc.constant('attempt.unsure' as const), atMs, reason }),
  fc.record({ type: fc.constant('run.lost' as const), atMs, reason }),
  fc.record({ type: fc.constant('day.passed' as const), atMs, reason }),
);

describeMachineLaws({
  name: 'digest run',
  machine: digestRunMachine,
  input: fc.record({ nowMs: fc.constant(0) }),
  events: event,
});

const ENDS = ['sent', 'failed', 'unsure', 'missed'];

function walked(events: readonly DigestRunEvent[]): readonly DigestStanding[] {
  const steps = [newDigestRun(0)];
  for (const one of events) {
    const last = steps.at(-1);
    if (last !== undefined) steps.push(digestRunAfter(last, one));
  }
  return steps;
}

describe('a digest run', () => {
  it('never goes on from an end', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let ended: DigestStanding | null = null;
        for (const one of walked(events)) {
          if (ended !== null) expect(one).toEqual(ended);
          if (ENDS.includes(one.state)) ended = one;
        }
      }),
    );
  });

  it('never begins an attempt after one that may have arrived', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const steps = walked(events);
        let mayBeThere = false;
        for (const [at, one] of events.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before?.state === 'sending' && after?.state !== 'sending') {
            mayBeThere ||= one.type !== 'attempt.failed';
          }
          if (before?.state !== 'sending' && after?.state === 'sending') {
            expect(mayBeThere).toBe(false);
          }
        }
      }),
    );
  });

  it('always waits after what surely failed, and gives up when it is of no use or too late', () => {
    fc.assert(
      fc.property(atMs, chance, fc.boolean(), (failedAtMs, by, isFinal) => {
        const sending = digestRunAfter(newDigestRun(0), { type: 'attempt.began', atMs: 0 });
        const failed = { type: 'attempt.failed', atMs: failedAtMs, reason: 'away' } as const;
        const next = digestRunAfter(sending, { ...failed, isFinal, chance: by });
        const isOver = isFinal || failedAtMs >= DIGEST_GIVE_UP_MS;
        expect(next).toMatchObject({ state: isOver ? 'failed' : 'waiting', reason: 'away' });
        if (!isOver) expect(next.dueAtMs).toBeGreaterThan(failedAtMs);
      }),
    );
  });

  it('always waits between its bounds, longer after each attempt', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), chance, (attempts, by) => {
        const waitMs = digestDelayMs(attempts, by);
        expect(waitMs).toBeLessThanOrEqual(DIGEST_BACKOFF_MAX_MS);
        expect(waitMs).toBeGreaterThanOrEqual(DIGEST_BACKOFF_MIN_MS * 0.8);
        expect(digestDelayMs(attempts + 1, by)).toBeGreaterThanOrEqual(waitMs);
      }),
    );
  });
});
