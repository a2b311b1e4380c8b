// The group commit under writes that end in any order of events: an item is answered after the write that held it and
// not before, one write runs at a time, and each sensor's items are written in the order they were offered.
// decision: D5; invariant: I1, I6, I10
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGroupCommit } from '../../../storage/ports/plumbing/group-commit.ts';
import { begun, raced } from './scheduled-port.ts';

const ROWS_MAX = 6;
const QUEUE_ROWS_MAX = 14;
type Item = { readonly sensor: string; readonly at: number; readonly month: number };
const offers = fc.array(
  fc.record({
    sensor: fc.constantFrom('a', 'b', 'c'),
    rows: fc.integer({ min: 1, max: 4 }),
    month: fc.constantFrom(1, 1, 1, 2),
  }),
  { minLength: 1, maxLength: 20 },
);
const input = fc.record({
  offers,
  writes: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
  isClosed: fc.boolean(),
});

describe('group commit', () => {
  it('never answers before the write, never writes twice at once, always keeps the order', async () => {
    await raced(
      input,
      async (scheduler, given) => {
        const written: Item[] = [];
        const refused = new Set<Item>();
        const outcomes = [...given.writes];
        let running = 0;
        const group = createGroupCommit<Item>({
          timers: {
            now: () => 0,
            setTimeout(run) {
              const timer = { isSet: true };
              void scheduler
                .schedule(Promise.resolve(), 'interval over')
                .then(() => (timer.isSet ? run() : undefined));
              return timer;
            },
            clearTimeout: (timer) => {
              (timer as { isSet: boolean }).isSet = false;
            },
          },
          intervalMs: 250,
          rowsMax: ROWS_MAX,
          queueRowsMax: QUEUE_ROWS_MAX,
          fits: (first, item) => first.month === item.month,
          async commit(items) {
            running += 1;
            expect(running).toBe(1);
            expect(new Set(items.map((item) => item.month)).size).toBe(1);
            await scheduler.schedule(Promise.resolve(), `write of ${items.length}`);
            running -= 1;
            const isWell = outcomes.shift() ?? true;
            for (const item of items) {
              if (isWell) written.push(item);
              else refused.add(item);
            }
            return items.map(() => isWell);
          },
        });
        let offered = 0;
        let queued = 0;
        const asking = given.offers.map(({ sensor, rows, month }) =>
          begun(scheduler, `offer of ${sensor}`, async () => {
            const item: Item = { sensor, at: offered++, month };
            const isRoom = group.queuedRows() + rows <= QUEUE_ROWS_MAX;
            const answering = group.offer(item, rows);
            if (isRoom) queued += 1;
            expect(group.queuedRows()).toBeLessThanOrEqual(QUEUE_ROWS_MAX);
            const isCommitted = await answering;
            expect(isCommitted).toBe(written.includes(item));
            if (!isCommitted && isRoom && !isClosed) expect(refused.has(item)).toBe(true);
          }),
        );
        let isClosed = false;
        const closing = begun(scheduler, 'close', () => {
          if (!given.isClosed) return Promise.resolve();
          isClosed = true;
          return group.close();
        });
        await scheduler.waitFor(Promise.all([...asking, closing]));
        await scheduler.waitIdle();
        expect(group.queuedRows()).toBe(0);
        expect(written.length + refused.size).toBeLessThanOrEqual(queued);
        if (!isClosed) expect(written.length + refused.size).toBe(queued);
        for (const sensor of ['a', 'b', 'c']) {
          const own = written.filter((item) => item.sensor === sensor).map((item) => item.at);
          expect(own).toEqual(own.toSorted((a, b) => a - b));
        }
        expect(await group.close().then(() => group.queuedRows())).toBe(0);
        if (given.isClosed) {
          expect(await group.offer({ sensor: 'a', at: 0, month: 1 }, 1)).toBe(false);
        }
      },
      200,
    );
  });
});
