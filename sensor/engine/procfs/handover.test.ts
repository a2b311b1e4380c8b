import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHandover, type LastTold } from './handover.ts';

type Happening = { readonly gap: number; readonly apart: number };
/** As the Sensor passes it on. */
const wordOf = ({ told_since, told_last, told_until }: LastTold): string =>
  `told since ${told_since}: ${told_last}\ntake over after ${told_until}\n`;

const happenings = (gapMaxUs: number, apartMaxUs: number, size: number) =>
  fc.array(
    fc.record({
      gap: fc.nat(gapMaxUs),
      apart: fc.nat(apartMaxUs),
    }),
    { minLength: 1, maxLength: size, size: 'max' },
  );

/** What two engines tell of the same events, when the first stops reading at some of them and never got to others. */
function tellBoth(all: readonly Happening[], stop: number, late: ReadonlySet<number>) {
  let now = 1_000_000;
  // Equal events happen beside each other.
  const stamped = all.map(({ gap, apart }, at) => {
    now += gap;
    return { event: `sched_process_exec ${at >> 1}`, first: now, second: now + apart };
  });
  const one = createHandover();
  const told: string[] = [];
  const read = stamped.slice(0, stop).filter((_, at) => !late.has(stop - 1 - at));
  for (const { event, first } of read) {
    one.note(first, event);
    told.push(event);
  }
  const other = createHandover();
  expect(other.hear(wordOf(one.lastTold()))).toBe(true);
  for (const { event, second } of stamped.sort((a, b) => a.second - b.second)) {
    if (!other.wasTold(second, event)) told.push(event);
  }
  return { told: told.sort(), happened: stamped.map(({ event }) => event).sort() };
}

describe('handover of the procfs engine', () => {
  it('should have each event told once, however its two stamps differ and whoever read the last ones', () => {
    fc.assert(
      fc.property(
        happenings(3_000, 10_000, 60),
        fc.nat(60),
        fc.uniqueArray(fc.nat(4), { maxLength: 3 }),
        (all, stop, late) => {
          const { told, happened } = tellBoth(all, stop, new Set(late));
          expect(told).toEqual(happened);
        },
      ),
    );
  });

  it('should do so too when more happened in the last moment than can be handed over', () => {
    fc.assert(
      fc.property(happenings(4, 200, 4_000), fc.nat(4_000), (all, stop) => {
        const { told, happened } = tellBoth(all, stop, new Set([0, 2]));
        expect(told).toEqual(happened);
      }),
      { numRuns: 30 },
    );
  });

  it('should go by the time alone when the one before hands over no events', () => {
    const one = createHandover();
    expect(one.hear('take over after 42\n')).toBe(true);
    expect([41, 42, 43].map((us) => one.wasTold(us, 'event'))).toEqual([true, true, false]);
  });

  it('should take everything for untold when the one before told nothing', () => {
    const one = createHandover();
    expect(one.hear(wordOf(createHandover().lastTold()))).toBe(true);
    expect(one.wasTold(1, 'event')).toBe(false);
  });

  it('should understand the word in whatever pieces it comes, and not before it is whole', () => {
    const before = createHandover();
    for (let us = 0; us < 2_000; us += 1) before.note(us, `event ${us}`);
    const word = wordOf(before.lastTold());
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(word.length - 2), { minLength: 1, maxLength: 9 }),
        (cuts) => {
          const one = createHandover();
          let from = 0;
          for (const cut of cuts.map((at) => at + 1).sort((a, b) => a - b)) {
            expect(one.hear(word.slice(from, cut))).toBe(false);
            from = cut;
          }
          expect(one.hear(word.slice(from))).toBe(true);
          expect(one.wasTold(1_999, 'event 1999')).toBe(true);
          expect(one.wasTold(1_999, 'another event')).toBe(false);
        },
      ),
      { numRuns: 30 },
    );
  });
});
