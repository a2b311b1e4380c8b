// The promises of the event sink: what it acknowledged is stored whole, what it refused left nothing, whatever happens
// to the store meanwhile. invariant: I1, I10; decision: D5, D8
import { describe, expect, it } from 'vitest';
import type {
  EventBatch,
  EventSink,
  EventStore,
} from '../../storage/ports/telemetry/event-store.ts';
import type { RelayFault } from './relay.ts';
import { batch, event, hex, NOW_MS } from './samples.ts';

const FAST_MS = 2_000;
const RETRY_MS = 20;
const QUEUE_ROWS = 10;
const MONTH_MS = 32 * 86_400_000;

export type SinkHarness = {
  readonly sink: EventSink;
  readonly events: EventStore;
  /** Breaks the way between the sink and its store. Questions are asked after it is whole again. */
  setFault(fault: RelayFault): Promise<void> | void;
  close(): Promise<void>;
};

export function eventSinkContract(
  open: (options: { readonly queueRowsMax?: number }) => Promise<SinkHarness>,
): void {
  async function run(
    body: (harness: SinkHarness) => Promise<void>,
    options: { readonly queueRowsMax?: number } = {},
  ): Promise<void> {
    const harness = await open(options);
    try {
      await body(harness);
    } finally {
      await harness.setFault('none');
      await harness.close();
    }
  }
  const rows = (count: number, more: Partial<EventBatch> = {}): EventBatch =>
    batch({ events: Array.from({ length: count }, () => event()), ...more });

  describe('appending', () => {
    it('should be readable as soon as it is acknowledged', () =>
      run(async ({ sink, events }) => {
        const one = batch();
        expect(await sink.append(one)).toEqual({ ok: true });
        expect(await events.batchDigest(one)).toBe(one.digest);
        expect(await events.countDistinct({ sensorId: one.sensorId })).toBe(one.events.length);
        expect(sink.queuedRows()).toBe(0);
        expect(await sink.append({ ...batch(), events: [] })).toEqual({ ok: true });
      }));

    it('should never show a part of a batch', () =>
      run(async ({ sink, events }) => {
        const count = 300;
        const batches = Array.from({ length: 8 }, (_, n) =>
          rows(count, { receivedAtMs: NOW_MS - (n % 2) * MONTH_MS }),
        );
        let isOver = false;
        const appended = Promise.all(batches.map((one) => sink.append(one))).finally(() => {
          isOver = true;
        });
        while (!isOver) {
          for (const { sensorId } of batches) {
            expect([0, count]).toContain(await events.countDistinct({ sensorId }));
          }
        }
        expect((await appended).every((one) => one.ok)).toBe(true);
        for (const { sensorId } of batches) {
          expect(await events.countDistinct({ sensorId })).toBe(count);
        }
      }));

    it('should answer what it took when it closes, and refuse afterwards', () =>
      run(async ({ sink, events }) => {
        const taken = [batch(), batch(), batch()];
        const answers = taken.map((one) => sink.append(one));
        await sink.close();
        expect(await Promise.all(answers)).toEqual(taken.map(() => ({ ok: true })));
        for (const one of taken) expect(await events.batchDigest(one)).toBe(one.digest);
        const late = batch();
        expect(await sink.append(late)).toMatchObject({ ok: false });
        expect(await events.batchDigest(late)).toBeNull();
      }));
  });

  describe('a store that is away', () => {
    it('should refuse fast, keep nothing, and store again by itself', () =>
      run(async ({ sink, events, setFault }) => {
        await setFault('away');
        const refused = [batch(), batch()];
        for (const one of refused) {
          const startedAt = performance.now();
          const outcome = await sink.append(one);
          expect(outcome).toMatchObject({ ok: false, retryAfterMs: expect.any(Number) });
          expect(performance.now() - startedAt).toBeLessThan(FAST_MS);
        }
        expect(sink.queuedRows()).toBe(0);
        await setFault('none');
        for (const one of refused) expect(await events.batchDigest(one)).toBeNull();
        const next = batch();
        await untilTaken(sink, next);
        expect(await events.batchDigest(next)).toBe(next.digest);
        for (const one of refused) expect(await events.batchDigest(one)).toBeNull();
      }));

    it('should leave one copy when it wrote and its answer was lost', () =>
      run(async ({ sink, events, setFault }) => {
        const one = batch();
        await setFault('answer_lost');
        await sink.append(one);
        await setFault('none');
        await untilTaken(sink, one);
        const found = await events.search({ sensorId: one.sensorId, limit: 10 });
        const ids = one.events.map((each) => each.event_id);
        expect(found.map((each) => each.event_id).sort()).toEqual(ids.sort());
        expect(await events.countDistinct({ sensorId: one.sensorId })).toBe(ids.length);
        const ranges = await events.storedRanges();
        expect(ranges.filter((range) => range.sensorId === one.sensorId)).toHaveLength(1);
      }));
  });

  describe('a queue that is full', () => {
    it('should refuse at once, keep nothing of it, and lose nothing it took', () =>
      run(
        async ({ sink, events, setFault }) => {
          await setFault('stalled');
          const [taken, refused] = [rows(QUEUE_ROWS - 1), rows(2, { digest: hex(32) })];
          const answer = sink.append(taken);
          const startedAt = performance.now();
          expect(await sink.append(refused)).toMatchObject({ ok: false });
          expect(performance.now() - startedAt).toBeLessThan(FAST_MS);
          expect(sink.queuedRows()).toBe(QUEUE_ROWS - 1);
          await setFault('none');
          expect(await answer).toEqual({ ok: true });
          expect(await events.batchDigest(taken)).toBe(taken.digest);
          expect(await events.batchDigest(refused)).toBeNull();
          expect(sink.queuedRows()).toBe(0);
          expect(await sink.append(refused)).toEqual({ ok: true });
        },
        { queueRowsMax: QUEUE_ROWS },
      ));
  });
}

/** Appends until it is acknowledged, as a Sensor does. */
async function untilTaken(sink: EventSink, one: EventBatch): Promise<void> {
  while (!(await sink.append(one)).ok) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
