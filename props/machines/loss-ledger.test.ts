// The loss ledger: every event that was appended is held, seen or lost, and nothing of that is forgotten when hours go.
// invariant: I19; decision: D48
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOSS_HOURS_MAX } from '../../machines/limits.ts';
import {
  confirmTold,
  EMPTY_LOSS_LEDGER,
  hourOf,
  hoursChangedSince,
  type LossLedger,
  lossesIn,
  lossesSince,
  lostOf,
  type Settled,
  type SettledHour,
  settle,
  startOfHourMs,
} from '../../machines/sensor/loss-ledger.rules.ts';
import {
  applyChange,
  depth,
  EMPTY_SPOOL,
  overflow,
  planClaim,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';
import { LOSS_PLACES } from '../../machines/wire/loss.ts';
import { CHANNELS } from '../../machines/wire/scalars.ts';

const CAP = 12;
const NAMES = ['seen', ...LOSS_PLACES] as const;
const counts = fc.record(
  Object.fromEntries(NAMES.map((name) => [name, fc.nat(1_000)])) as Record<
    (typeof NAMES)[number],
    fc.Arbitrary<number>
  >,
  { requiredKeys: [] },
);
const hour = fc.integer({ min: -5, max: 200 });
const steps = fc.array(fc.tuple(hour, counts), { maxLength: 120 });
const sumOf = (settled: Settled): number => settled.seen + lostOf(settled);
const apply = (entries: readonly (readonly [number, Partial<Settled>])[]): LossLedger =>
  entries.reduce((ledger, [at, more]) => settle(ledger, at, more), EMPTY_LOSS_LEDGER);

describe('loss ledger', () => {
  it('always totals what was settled, whichever hours it let go', () => {
    fc.assert(
      fc.property(steps, (entries) => {
        const { total, hours } = apply(entries);
        for (const name of NAMES) {
          expect(total[name]).toBe(entries.reduce((sum, [, more]) => sum + (more[name] ?? 0), 0));
        }
        expect(hours.length).toBeLessThanOrEqual(LOSS_HOURS_MAX);
        expect(new Set(hours.map((one) => one.hour)).size).toBe(hours.length);
        expect(hours.reduce((sum, one) => sum + sumOf(one), 0)).toBeLessThanOrEqual(sumOf(total));
      }),
    );
  });

  it('always keeps the hour that changed last, also under a clock that was far ahead', () => {
    fc.assert(
      fc.property(steps, hour, (entries, now) => {
        const ledger = settle(apply(entries), now, { spool_discarded: 1 });
        expect(ledger.hours.at(-1)?.hour).toBe(now);
      }),
    );
  });

  it('always reports enough: what changed, put over what is known, is what there is', () => {
    fc.assert(
      fc.property(steps, steps, (first, then) => {
        const before = apply(first);
        const now = then.reduce((ledger, [at, more]) => settle(ledger, at, more), before);
        const known = new Map(before.hours.map((one) => [one.hour, one]));
        for (const one of hoursChangedSince(now, before)) known.set(one.hour, one);
        for (const one of now.hours) expect(known.get(one.hour)).toEqual(one);
        expect(hoursChangedSince(now, now)).toEqual([]);
      }),
    );
  });

  it('never takes a count that is none', () => {
    for (const bad of [-1, Number.NaN, 0.5, Number.POSITIVE_INFINITY]) {
      expect(settle(EMPTY_LOSS_LEDGER, 1, { seen: bad })).toEqual(EMPTY_LOSS_LEDGER);
    }
    const full = settle(EMPTY_LOSS_LEDGER, 1, { seen: Number.MAX_SAFE_INTEGER });
    expect(settle(full, 1, { seen: 5 }).total.seen).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('always puts an instant in the hour it lies in', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 8e12 }), (atMs) => {
        const start = startOfHourMs(hourOf(atMs));
        expect(start).toBeLessThanOrEqual(atMs);
        expect(atMs - start).toBeLessThan(3_600_000);
      }),
    );
  });
});

/** What became of one telling of the hours that changed: an answer may be lost although they are stored. */
const telling = fc.constantFrom('unsent', 'unanswered', 'confirmed');
const spans = fc.array(
  fc.record({ hours: fc.integer({ min: 0, max: 3 * LOSS_HOURS_MAX }), counts, telling }),
  { maxLength: 12 },
);

/** A node and its Console, which keeps the highest counts of each hour: what a time of settling and telling leaves. */
function tellOver(all: readonly { hours: number; counts: Partial<Settled>; telling: string }[]) {
  const stored = new Map<number, SettledHour>();
  let [ledger, known] = [EMPTY_LOSS_LEDGER, EMPTY_LOSS_LEDGER];
  let now = 0;
  const tell = (how: string): void => {
    const told = hoursChangedSince(ledger, known);
    if (how === 'unsent') return;
    for (const one of told) {
      const old = stored.get(one.hour) ?? one;
      const most = NAMES.map((name) => [name, Math.max(old[name], one[name])]);
      stored.set(one.hour, { ...one, ...Object.fromEntries(most) });
    }
    if (how !== 'confirmed') return;
    known = ledger;
    ledger = confirmTold(ledger, told);
  };
  for (const span of all) {
    for (let step = 0; step <= span.hours; step += 1) {
      ledger = settle(ledger, now, span.counts);
      tell(step === span.hours ? span.telling : 'unsent');
      now += 1;
    }
  }
  tell('confirmed');
  const sums = NAMES.map((name) => [
    name,
    [...stored.values()].reduce((sum, at) => sum + at[name], 0),
  ]);
  return { ledger, sums: Object.fromEntries(sums) as Record<(typeof NAMES)[number], number> };
}

describe('telling the ledger', () => {
  it('never forgets what was lost in an outage of any length', () => {
    fc.assert(
      fc.property(spans, (all) => {
        const { ledger, sums } = tellOver(all.filter((one) => one.telling !== 'unanswered'));
        for (const name of NAMES) expect(sums[name]).toBe(ledger.total[name]);
      }),
    );
  });

  it('never tells too little, whichever answers are lost', () => {
    fc.assert(
      fc.property(spans, (all) => {
        const { ledger, sums } = tellOver(all);
        for (const name of NAMES) expect(sums[name]).toBeGreaterThanOrEqual(ledger.total[name]);
      }),
    );
  });

  it('always keeps the hours of a long outage apart, but the first, which takes what is older', () => {
    const hours = 3 * LOSS_HOURS_MAX;
    let ledger = EMPTY_LOSS_LEDGER;
    for (let at = 0; at < hours; at += 1) ledger = settle(ledger, at, { spool_discarded: 1 });
    const rest = hours - LOSS_HOURS_MAX;
    expect(ledger.hours).toHaveLength(LOSS_HOURS_MAX);
    expect(ledger.hours[0]).toMatchObject({ hour: 0, spool_discarded: rest + 1 });
    expect(ledger.hours.slice(1).map((one) => [one.hour, one.spool_discarded])).toEqual(
      Array.from({ length: LOSS_HOURS_MAX - 1 }, (_, at) => [rest + 1 + at, 1]),
    );
  });
});

const channel = fc.constantFrom(...CHANNELS);
type Step = (state: SpoolState, produced: { events: number }) => SpoolState;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ count: fc.nat(9), hour }).map(
    ({ count, hour: at }): Step =>
      (state, produced) => {
        produced.events += count;
        const more = applyChange(state, { kind: 'append', count });
        return applyChange(more, { kind: 'drop', count: overflow(more, CAP), hour: at });
      },
  ),
  fc.record({ lost: counts, hour }).map(
    ({ lost: { seen: _, ...lost }, hour: at }): Step =>
      (state, produced) => {
        produced.events += lostOf({ ...EMPTY_LOSS_LEDGER.total, ...lost });
        return applyChange(state, { kind: 'lose', lost, hour: at });
      },
  ),
  fc.record({ on: channel, max: fc.integer({ min: 1, max: 6 }) }).map(
    ({ on, max }): Step =>
      (state) => {
        const claim = planClaim(state, on, max);
        return claim === null ? state : applyChange(state, { kind: 'claim', ...claim });
      },
  ),
  fc
    .record({
      on: channel,
      unread: fc.nat(3),
      isRefused: fc.boolean(),
      hour: fc.option(hour, { nil: undefined }),
    })
    .map(
      ({ on, ...more }): Step =>
        (state) => {
          const sequence = state.claims.find((one) => one.channel === on)?.sequence ?? 99;
          return applyChange(state, { kind: 'ack', channel: on, sequence, ...more });
        },
    ),
  fc.record({ from: fc.nat(60), to: fc.nat(60) }).map(
    (range): Step =>
      (state) =>
        applyChange(state, { kind: 'forget', ...range }),
  ),
);

describe('the spool and its ledger', () => {
  it('always: produced = held + seen + lost', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (all) => {
        const produced = { events: 0 };
        let state = EMPTY_SPOOL;
        for (const one of all) {
          state = one(state, produced);
          expect(depth(state) + sumOf(state.ledger.total)).toBe(produced.events);
        }
      }),
    );
  });

  it('should settle a batch as seen, as refused, and what could not be read of it as lost', () => {
    const held = applyChange(EMPTY_SPOOL, { kind: 'append', count: 9 });
    const claimed = applyChange(held, {
      kind: 'claim',
      channel: 'batch',
      sequence: 1,
      from: 0,
      to: 5,
    });
    const ack = { kind: 'ack', channel: 'batch', sequence: 1, hour: 7 } as const;
    expect(applyChange(claimed, { ...ack, unread: 2 }).ledger.hours).toMatchObject([
      { hour: 7, seen: 3, spool_discarded: 2 },
    ]);
    expect(applyChange(claimed, { ...ack, isRefused: true }).ledger.total).toMatchObject({
      seen: 0,
      console_refused: 5,
    });
  });
});

describe('what was lost, as people are told', () => {
  it('should always be what an hour lost, and what was lost since some moment', () => {
    fc.assert(
      fc.property(steps, steps, hour, (before, after, at) => {
        const [then, now] = [apply(before), apply([...before, ...after])];
        const settled = now.hours.find((one) => one.hour === at);
        const since = lossesSince(now.total, then.total);
        for (const place of LOSS_PLACES) {
          expect(lossesIn(now, at)[place] ?? 0).toBe(settled?.[place] ?? 0);
          expect(then.total[place] + (since[place] ?? 0)).toBe(now.total[place]);
        }
        expect(Object.values(since)).not.toContain(0);
      }),
    );
  });
});
