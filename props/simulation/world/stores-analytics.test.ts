// Every fault of the simulated event store, and what is left of it: in virtual time, with the product's own sink on top.
import { describe, expect, it } from 'vitest';
import { SINK_INSERT_TIMEOUT_MS, STORE_PROBE_INTERVAL_MS } from '../../../machines/limits.ts';
import { batch, event } from '../../contracts/samples.ts';
import { bench, follow, LONG_MS } from './stores.fixture.ts';
import { EVERYBODY } from './stores-faults.ts';

describe('the simulated event store', () => {
  it('should tell every durable batch with the keys of its events', async () => {
    const { begin, seen, world, pass } = bench();
    const { sink } = begin('console-1');
    const one = batch();
    const answer = follow(world, sink.append(one));
    await pass(1_000);
    expect(answer.value).toEqual({ ok: true });
    expect(seen).toEqual([
      {
        kind: 'events.stored',
        console: 'console-1',
        batches: [
          {
            sensor: one.sensorId,
            stream: one.streamId,
            channel: one.channel,
            sequence: one.sequence,
            events: one.events.map((each) => each.event_id),
            receivedAtMs: one.receivedAtMs,
          },
        ],
      },
    ]);
  });

  it('should store once what the sink repeats under one token', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink } = begin('console-1');
    stores.analytics.faults.silentAfter = 1;
    const answer = follow(world, sink.append(batch()));
    await pass(1.5 * SINK_INSERT_TIMEOUT_MS);
    stores.heal();
    await pass(2 * SINK_INSERT_TIMEOUT_MS);
    expect(answer.value).toEqual({ ok: true });
    expect(stores.analytics.rows.batches()).toHaveLength(1);
  });

  it('should keep both copies of a batch that came again under another token', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink, events } = begin('console-1');
    stores.analytics.faults.failAfter = 1;
    const one = batch();
    const refused = follow(world, sink.append(one));
    await pass(1_000);
    stores.heal();
    await pass(STORE_PROBE_INTERVAL_MS);
    const taken = follow(world, sink.append(one));
    await pass(1_000);
    expect([refused.value, taken.value]).toMatchObject([{ ok: false }, { ok: true }]);
    expect(stores.analytics.rows.batches()).toHaveLength(2);
    expect(await events.countDistinct({})).toBe(one.events.length);
    expect(await events.storedRanges()).toHaveLength(1);
  });

  it.each([0, 1])('should write a stalled insert late with probability %i', async (chance) => {
    const { begin, stores, world, pass } = bench();
    const { sink, events } = begin('console-1');
    const { faults } = stores.analytics;
    faults.stall.add(EVERYBODY);
    const refused = follow(world, sink.append(batch()));
    await pass(4 * SINK_INSERT_TIMEOUT_MS);
    expect(refused.value).toMatchObject({ ok: false });
    stores.heal();
    faults.lateWrite = chance;
    await pass(100);
    expect(stores.analytics.rows.batches()).toHaveLength(chance);
    await pass(LONG_MS);
    expect(await events.ping()).toBe(true);
  });

  it('should refuse content and take the other batches of the group', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink } = begin('console-1');
    stores.analytics.faults.refusesContent = ({ sequence }) => sequence === 2;
    const answers = [1, 2, 3].map((sequence) =>
      follow(world, sink.append(batch({ sequence, events: [event()] }))),
    );
    await pass(1_000);
    expect(answers.map(({ value }) => value)).toMatchObject([
      { ok: true },
      { ok: false },
      { ok: true },
    ]);
    expect(stores.analytics.rows.batches().map((one) => one.sequence)).toEqual([1, 3]);
  });

  it('should refuse at once while it is away, questions too, and come back', async () => {
    const { begin, stores, world, pass } = bench();
    const { sink, events } = begin('console-1');
    stores.analytics.faults.away.add('console-1');
    const first = follow(world, sink.append(batch()));
    await pass(1_000);
    expect(first.value).toMatchObject({ ok: false });
    expect(await sink.append(batch())).toMatchObject({ ok: false });
    await expect(events.storedRanges()).rejects.toThrow('cannot answer');
    stores.heal();
    await pass(STORE_PROBE_INTERVAL_MS);
    const next = follow(world, sink.append(batch()));
    await pass(1_000);
    expect(next.value).toEqual({ ok: true });
  });
});

it('should give the same world twice from one seed', async () => {
  async function run(seed: string): Promise<readonly [string, number]> {
    const { begin, stores, world, pass } = bench(seed);
    const { sink } = begin('console-1');
    stores.analytics.faults.latencyMs = { least: 1, most: 2_000 };
    stores.analytics.faults.failAfter = 0.3;
    for (let sequence = 1; sequence <= 50; sequence += 1) {
      const events = [event({ event_id: `event-${sequence}` })];
      const more = { sensorId: 'sensor-1', streamId: 'stream-1', receivedAtMs: 1, sequence };
      void sink.append(batch({ ...more, events }));
      await pass(700);
    }
    return [world.log.hash(), world.scheduler.steps()];
  }
  expect(await run('a')).toEqual(await run('a'));
  expect(await run('a')).not.toEqual(await run('b'));
});
