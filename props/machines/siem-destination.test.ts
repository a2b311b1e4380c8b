// A SIEM destination never passes what it was not told is done with: its cursor moves forward only from where a batch began,
// and back only when it is told to. decision: D153
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type SiemEvent,
  siemDestinationMachine,
} from '../../machines/console/siem/siem-destination.machine.ts';
import {
  isSameCursor,
  type SiemCursor,
  verdictOfStatus,
  waitMs,
} from '../../machines/console/siem/siem-destination.rules.ts';
import {
  eventsAllowed,
  newSiemStanding,
  type SiemStanding,
  siemAfter,
} from '../../machines/console/siem/siem-standing.ts';
import {
  SIEM_BACKOFF_MAX_MS,
  SIEM_BATCH_EVENTS_MAX,
  SIEM_FAILURES_MAX,
  SIEM_REFUSED_IN_ROW_MAX,
  SIEM_RETRY_AFTER_MAX_MS,
} from '../../machines/limits.ts';
import { describeMachineLaws } from './laws.ts';

const atMs = fc.integer({ min: 0, max: 1_000_000 });
const cursor: fc.Arbitrary<SiemCursor> = fc.record({
  receivedAtMs: fc.integer({ min: 0, max: 3 }),
  eventId: fc.constantFrom('', 'a', 'g'),
});
const moved = { from: cursor, to: cursor };
const failure = fc.constantFrom('timed out', 'answered 503');
const retryAfterMs = fc.option(fc.integer({ min: 0, max: 2 * SIEM_RETRY_AFTER_MAX_MS }));
const chance = fc.double({ min: 0, max: 1, noNaN: true });
const events = fc.integer({ min: 1, max: 3 });
const event: fc.Arbitrary<SiemEvent> = fc.oneof(
  fc.record({
    ...{ type: fc.constant('batch.accepted' as const), atMs, events, ...moved },
    refused: fc.constantFrom(0, 1),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ type: fc.constant('batch.failed' as const), atMs, failure, retryAfterMs, chance },
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ type: fc.constant('batch.refused' as const), atMs, events, failure, ...moved },
    }),
  },
  fc.record({ type: fc.constant('credentials.refused' as const), atMs, failure }),
  fc.record({ type: fc.constant('events.none' as const), ...moved }),
  fc.record({ type: fc.constant('cursor.back' as const), toMs: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant('destination.paused' as const) }),
  fc.record({
    type: fc.constant('destination.resumed' as const),
    fromMs: fc.option(fc.integer({ min: 0, max: 3 })),
  }),
);

describeMachineLaws({
  name: 'siem destination',
  machine: siemDestinationMachine,
  input: fc.record({ startMs: fc.constant(1) }),
  events: event,
});

const walked = (list: readonly SiemEvent[]): readonly SiemStanding[] => {
  const steps = [newSiemStanding(1)];
  for (const one of list) {
    const last = steps.at(-1);
    if (last !== undefined) steps.push(siemAfter(last, one));
  }
  return steps;
};
const failed: SiemEvent = {
  ...{ type: 'batch.failed', atMs: 5, failure: 'x', retryAfterMs: null, chance: 0 },
};
const HERE = { receivedAtMs: 1, eventId: '' };
const THERE = { receivedAtMs: 2, eventId: 'a' };

describe('a SIEM destination', () => {
  it('always moves its cursor from where a batch began, or back where it is told to', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (list) => {
        const steps = walked(list);
        for (const [at, one] of list.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before === undefined || after === undefined) continue;
          if (isSameCursor(before.cursor, after.cursor)) continue;
          if ('from' in one) {
            expect(one.from).toEqual(before.cursor);
            expect(one.to).toEqual(after.cursor);
            continue;
          }
          const isTold = one.type === 'cursor.back' || one.type === 'destination.resumed';
          expect(isTold).toBe(true);
          if (one.type === 'cursor.back') {
            expect(after.cursor.receivedAtMs).toBeLessThanOrEqual(before.cursor.receivedAtMs);
          }
        }
      }),
    );
  });

  it('never sends while it is paused or stopped, and only an operator ends that', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (list) => {
        const steps = walked(list);
        for (const [at, one] of list.entries()) {
          const [before, after] = [steps[at], steps[at + 1]];
          if (before === undefined || after === undefined) continue;
          const isHeld = before.state === 'paused' || before.state === 'stopped';
          if (!isHeld) continue;
          expect(eventsAllowed(before, Number.MAX_SAFE_INTEGER)).toBe(0);
          if (one.type === 'destination.resumed') expect(after.state).toBe('forwarding');
          else expect(['paused', before.state]).toContain(after.state);
        }
      }),
    );
  });

  it('always counts every event of a batch that was taken, and every one that was left out', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (list) => {
        const last = walked(list).at(-1);
        const taken = list.flatMap((one) => (one.type === 'batch.accepted' ? [one] : []));
        const sum = taken.reduce((count, one) => count + one.events - one.refused, 0);
        expect(last?.sentEvents).toBe(sum);
        expect(last?.refusedEvents).toBeGreaterThanOrEqual(
          taken.reduce((count, one) => count + one.refused, 0),
        );
      }),
    );
  });

  it('should open after several failures in a row, and close with one batch that is taken', () => {
    let standing = newSiemStanding(1);
    for (let count = 1; count < SIEM_FAILURES_MAX; count += 1) {
      standing = siemAfter(standing, failed);
      expect(standing.state).toBe('holding');
    }
    standing = siemAfter(standing, failed);
    expect(standing.state).toBe('open');
    expect(eventsAllowed(standing, standing.untilMs - 1)).toBe(0);
    expect(eventsAllowed(standing, standing.untilMs)).toBeLessThan(SIEM_BATCH_EVENTS_MAX);
    standing = siemAfter(standing, {
      ...{ type: 'batch.accepted', atMs: 9, events: 1, refused: 0, from: HERE, to: THERE },
    });
    expect(standing).toMatchObject({ state: 'forwarding', failures: 0, cursor: THERE });
  });

  it('should find the event that a receiver refuses, leave out that one, and stop when all are', () => {
    let standing = newSiemStanding(1);
    const refused = (count: number, from: SiemCursor, to: SiemCursor): SiemEvent => ({
      ...{ type: 'batch.refused', atMs: 5, failure: 'answered 400', events: count, from, to },
    });
    standing = siemAfter(standing, refused(8, HERE, HERE));
    expect(standing).toMatchObject({ state: 'forwarding', batchEvents: 4, cursor: HERE });
    standing = siemAfter(standing, refused(4, HERE, HERE));
    standing = siemAfter(standing, refused(2, HERE, HERE));
    expect(standing).toMatchObject({ batchEvents: 1, refusedEvents: 0 });
    standing = siemAfter(standing, refused(1, HERE, THERE));
    expect(standing).toMatchObject({ cursor: THERE, refusedEvents: 1, state: 'forwarding' });
    for (let count = 2; count < SIEM_REFUSED_IN_ROW_MAX; count += 1) {
      standing = siemAfter(standing, refused(1, THERE, THERE));
    }
    expect(standing.state).toBe('forwarding');
    standing = siemAfter(standing, refused(1, THERE, { receivedAtMs: 3, eventId: 'a' }));
    expect(standing).toMatchObject({ state: 'stopped', cursor: THERE });
  });

  it('always waits within bounds, and as long as the receiver asks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 99 }),
        chance,
        retryAfterMs,
        (failures, one, wanted) => {
          const ms = waitMs({ failures, chance: one, retryAfterMs: wanted });
          expect(ms).toBeGreaterThanOrEqual(Math.min(SIEM_RETRY_AFTER_MAX_MS, wanted ?? 0));
          expect(ms).toBeLessThanOrEqual(Math.max(SIEM_BACKOFF_MAX_MS, SIEM_RETRY_AFTER_MAX_MS));
        },
      ),
    );
  });

  it('should take a status for what the makers say it means', () => {
    for (const status of [200, 202, 204]) expect(verdictOfStatus(status)).toBe('accepted');
    for (const status of [401, 403]) expect(verdictOfStatus(status)).toBe('unauthorized');
    for (const status of [408, 429, 500, 502, 503, 504, 302, 404]) {
      expect(verdictOfStatus(status)).toBe('again');
    }
    for (const status of [400, 413, 415, 422]) expect(verdictOfStatus(status)).toBe('refused');
  });
});
