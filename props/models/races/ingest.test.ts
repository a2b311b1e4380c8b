// Batches of many sensors at once over a sink that answers when it likes: one batch of a sensor in flight, in the order
// they came; repeats and conflicts told apart under any interleaving; nothing acknowledged that is not stored, nothing
// stored twice. invariant: I1, I6, I10; decision: D6
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIngest } from '../../../actors/telemetry/ingest.ts';
import { createLanes } from '../../../actors/telemetry/lane.ts';
import { createSequenceLedgers } from '../../../actors/telemetry/sequence-ledger.ts';
import type { EventBatch, EventSink } from '../../../storage/ports/telemetry/event-store.ts';
import { EventStoreUnavailable } from '../../../storage/ports/telemetry/event-store.ts';
import { event } from '../../contracts/samples.ts';
import { begun, raced, scheduledPort } from './scheduled-port.ts';

const STREAM_ID = '0'.repeat(32);
const CONTENTS = [[event()], [event(), event()]];
const batches = fc.array(
  fc.record({
    sensorId: fc.constantFrom('a', 'b'),
    sequence: fc.integer({ min: 1, max: 4 }),
    content: fc.constantFrom(0, 0, 0, 1),
    sink: fc.constantFrom('stores', 'stores', 'stores', 'refuses', 'stores and refuses'),
  }),
  { minLength: 1, maxLength: 14 },
);
const nameOf = (batch: Pick<EventBatch, 'sensorId' | 'sequence'>) =>
  `${batch.sensorId}/${batch.sequence}`;

describe('ingest', () => {
  it('always acknowledges what is stored, once, and keeps each sensor in order', async () => {
    await raced(
      batches,
      async (scheduler, all) => {
        const stored = new Map<string, string>();
        const inFlight = new Set<string>();
        const modes = all.map((one) => one.sink);
        const sink: Pick<EventSink, 'append'> = {
          async append(batch) {
            expect(inFlight.has(batch.sensorId)).toBe(false);
            inFlight.add(batch.sensorId);
            const mode = modes.shift() ?? 'stores';
            await scheduler.schedule(Promise.resolve(), `append ${nameOf(batch)}`);
            const before = stored.get(nameOf(batch));
            // Only a write whose answer was lost is written again, and then with what the sender holds now.
            if (mode !== 'refuses') stored.set(nameOf(batch), batch.digest);
            if (before !== undefined) doubtful.add(nameOf(batch));
            inFlight.delete(batch.sensorId);
            return mode === 'stores' ? { ok: true } : { ok: false, retryAfterMs: 1 };
          },
        };
        const doubtful = new Set<string>();
        const lost = new Set<string>();
        const ledgers = createSequenceLedgers(
          scheduledPort(scheduler, {
            storedRanges: async () => [],
            batchDigest: async (batch: Pick<EventBatch, 'sensorId' | 'sequence'>) =>
              stored.get(nameOf(batch)) ?? null,
          }),
        );
        const ingest = createIngest({ sink, ledgers });
        const told: string[] = [];
        ingest.onStored((batch) => told.push(nameOf(batch)));
        const asked: Record<string, number> = {};
        const answered: Record<string, number> = {};
        const sending = all.map(({ sensorId, sequence, content }) =>
          begun(scheduler, `batch ${sensorId}/${sequence}`, async () => {
            const turn = (asked[sensorId] ?? 0) + 1;
            asked[sensorId] = turn;
            const outcome = await ingest.ingest({
              identity: { sensorId, nodeName: sensorId },
              streamId: STREAM_ID,
              channel: 'batch',
              sequence,
              events: CONTENTS[content] ?? [],
              receivedAtMs: 0,
            });
            answered[sensorId] = (answered[sensorId] ?? 0) + 1;
            expect(answered[sensorId]).toBe(turn);
            const name = `${sensorId}/${sequence}`;
            if (outcome.ok) {
              expect(outcome.acknowledged).toBe(sequence);
              expect(stored.has(name)).toBe(true);
            } else if (outcome.busy) lost.add(name);
            else expect(outcome.code).toBe('sequence_conflict');
          }),
        );
        await scheduler.waitFor(Promise.all(sending));
        await scheduler.waitIdle();
        // A batch whose refusal was honest or whose answer was lost may be written again; any other never.
        expect([...doubtful].filter((name) => !lost.has(name))).toEqual([]);
        expect(told.length).toBe(new Set(told).size);
      },
      200,
    );
  });

  it('always says busy for a lookup that fails, and goes on afterwards', async () => {
    await raced(fc.nat(3), async (scheduler, failures) => {
      let left = failures;
      const ledgers = createSequenceLedgers({
        storedRanges: async () => [
          { sensorId: 'a', streamId: STREAM_ID, channel: 'batch', first: 5, last: 5 },
        ],
        async batchDigest() {
          await scheduler.schedule(Promise.resolve(), 'digest');
          if (left-- > 0) throw new EventStoreUnavailable('away');
          return null;
        },
      });
      await ledgers.load();
      const ingest = createIngest({ sink: { append: async () => ({ ok: true }) }, ledgers });
      const outcomes: boolean[] = [];
      const sending = [1, 2, 3, 4].map((sequence) =>
        ingest
          .ingest({
            identity: { sensorId: 'a', nodeName: 'a' },
            streamId: STREAM_ID,
            channel: 'batch',
            sequence,
            events: CONTENTS[0] ?? [],
            receivedAtMs: 0,
          })
          .then((outcome) => outcomes.push(outcome.ok)),
      );
      await scheduler.waitFor(Promise.all(sending));
      expect(outcomes).toEqual([1, 2, 3, 4].map((at) => at > failures));
    });
  });
});

describe('lanes', () => {
  const work = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.boolean()), {
    minLength: 1,
    maxLength: 20,
  });

  it('always run one piece of work of a key at a time, in order, and are gone when idle', async () => {
    await raced(work, async (scheduler, all) => {
      const lanes = createLanes(3);
      const busy = new Map<string, number>();
      const ran: Record<string, number[]> = { a: [], b: [] };
      const taken: Record<string, number[]> = { a: [], b: [] };
      const asking = all.map(([key, fails], at) =>
        begun(scheduler, `${key} ${at}`, async () => {
          const before = busy.get(key) ?? 0;
          const running = lanes.run(key, async () => {
            ran[key]?.push(at);
            const own = ran[key]?.length ?? 0;
            await scheduler.schedule(Promise.resolve(), `work of ${key}`);
            // Nothing of the same key began while this ran.
            expect(ran[key]?.length).toBe(own);
            if (fails) throw new Error('failed');
          });
          // One in flight and three waiting is a full lane.
          expect(running === null).toBe(before > 3);
          if (running === null) return;
          busy.set(key, before + 1);
          taken[key]?.push(at);
          const outcome = await running.then(
            () => false,
            () => true,
          );
          expect(outcome).toBe(fails);
          busy.set(key, (busy.get(key) ?? 1) - 1);
        }),
      );
      await scheduler.waitFor(Promise.all(asking));
      expect(ran).toEqual(taken);
      expect(lanes.size()).toBe(0);
    });
  });
});
