// Forwarding never passes what is yet to be stored: Consoles whose stores answer late, refuse and write all the same, whose
// clocks go back, who fall silent, are left out and come back, or die in the middle. decision: D152; invariant: I10
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newSiemStanding } from '../../machines/console/siem/siem-standing.ts';
import {
  SINK_FLOOR_LEASE_MS,
  SINK_FLOOR_TELL_MS,
  SINK_LATE_WRITE_MS,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import type { SinkFloors } from '../../storage/ports/siem/sink-floors.ts';
import type {
  EventBatch,
  EventStore,
  SinkOutcome,
} from '../../storage/ports/telemetry/event-store.ts';
import { silentLogger as logger } from '../runtime/silent-logger.ts';
import { systemChance as chance } from '../trust/chance.ts';
import { createSiemForwarder } from './siem-forwarder.ts';
import { createSinkFloor, type SinkFloor } from './sink-floor.ts';

const BEGAN_MS = 1_700_000_000_000;
const CONSOLES = 2;
const OFF_MAX_MS = 30_000;
const RUNS_TO_CATCH_UP = 30;
const { signal } = new AbortController();

type Write = { readonly batch: EventBatch; readonly answer: (outcome: SinkOutcome) => void };
type Console = {
  floor: SinkFloor;
  /** How far its clock is off. */
  offMs: number;
  toldAtMs: number;
  open: Write[];
};
type Step =
  | { readonly does: 'arrives' | 'lands' | 'tells' | 'crashes'; readonly at: number }
  | { readonly does: 'refuses'; readonly at: number; readonly lateMs: number }
  | { readonly does: 'clock'; readonly at: number; readonly offMs: number }
  | { readonly does: 'time'; readonly ms: number }
  | { readonly does: 'forwards' };

const at = fc.nat({ max: CONSOLES - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('arrives' as const), at }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('lands' as const), at }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('tells' as const), at }) },
  { weight: 6, arbitrary: fc.constant({ does: 'forwards' as const }) },
  fc.record({ does: fc.constant('crashes' as const), at }),
  fc.record({
    ...{ does: fc.constant('refuses' as const), at },
    lateMs: fc.integer({ min: 0, max: SINK_LATE_WRITE_MS - SINK_FLOOR_TELL_MS }),
  }),
  fc.record({
    ...{ does: fc.constant('clock' as const), at },
    offMs: fc.integer({ min: -OFF_MAX_MS, max: OFF_MAX_MS }),
  }),
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('time' as const),
      ms: fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 2 * SINK_FLOOR_LEASE_MS })),
    }),
  },
);

/** The world of one run. `promises`: false leaves the floors out, as a reader would that guesses. */
async function openWorld(promises = true) {
  let nowMs = BEGAN_MS;
  let made = 0;
  const late: { readonly dueMs: number; readonly batch: EventBatch }[] = [];
  const stored: StoredEvent[] = [];
  const sent = new Set<string>();
  const { siem, sinkFloors, designation } = createMemoryRelational();
  // The database has a clock of its own, whatever a Console says.
  const floors: SinkFloors = {
    ...sinkFloors,
    join: (input) => sinkFloors.join({ ...input, nowMs }),
    tell: (input) => sinkFloors.tell({ ...input, nowMs }),
  };
  await siem.create({
    ...{ actor: 'test', nowMs },
    destination: {
      ...{ destinationId: 's', name: 's', targetUrl: 'https://s.example', kind: 'observe' },
      ...{
        secretSealed: null,
        hasToken: false,
        filter: '',
        standing: newSiemStanding(BEGAN_MS - OFF_MAX_MS),
      },
      options: { caPem: null, proxyUrl: null, category: null, sourceName: null },
    },
  });
  const tenure = await designation.stand({ holder: 'x', nowMs, onLost: () => undefined });

  function store({ receivedAtMs, events }: EventBatch): void {
    for (const event of events) {
      stored.push({ ...event, received_at: new Date(receivedAtMs).toISOString() } as StoredEvent);
    }
  }
  const eventStore: Pick<EventStore, 'receivedAfter'> = {
    async receivedAfter({ after, beforeMs, limit }) {
      const placeOf = (one: StoredEvent) => [Date.parse(one.received_at), one.event_id] as const;
      return stored
        .toSorted((a, b) => (placeOf(a).join() < placeOf(b).join() ? -1 : 1))
        .filter((one) => {
          const [ms, id] = placeOf(one);
          const isAfter = ms === after.receivedAtMs ? id > after.eventId : ms > after.receivedAtMs;
          return isAfter && ms < beforeMs;
        })
        .slice(0, limit);
    },
  };
  async function openConsole(): Promise<Console> {
    made += 1;
    const open: Write[] = [];
    const own: Console = { offMs: 0, toldAtMs: nowMs, open, floor: undefined as never };
    own.floor = createSinkFloor({
      ...{ floors, life: `life ${made}`, monotonicNow: () => nowMs, logger },
      now: () => nowMs + own.offMs,
      sink: {
        append: (batch) => new Promise((answer) => open.push({ batch, answer })),
        queuedRows: () => 0,
        close: async () => undefined,
      },
    });
    await own.floor.join();
    return own;
  }
  const consoles = await Promise.all(Array.from({ length: CONSOLES }, openConsole));
  const forwarder = createSiemForwarder({
    ...{ siem, chance, logger, now: () => nowMs, onDone: () => undefined, events: eventStore },
    floors: promises ? floors : { horizon: async () => nowMs },
    sender: {
      async send({ events }) {
        for (const { event_id } of events) sent.add(event_id);
        const outcome = { kind: 'accepted', refused: 0 } as const;
        const { length } = events;
        return { outcome, events: length, bytes: 1, status: 200, detail: '', durationMs: 1 };
      },
    },
    alerts: { raise: async () => [], pass: async () => undefined },
  });

  async function forwards(times = 3): Promise<void> {
    for (let runs = 0; runs < times; runs += 1) {
      await forwarder.loop.run({ epoch: tenure?.epoch ?? 0, signal });
      // Batches go on after a run.
      await new Promise(setImmediate);
    }
  }
  function pass(ms: number): void {
    nowMs += ms;
    for (const one of late.splice(0)) {
      if (one.dueMs <= nowMs) store(one.batch);
      else late.push(one);
    }
  }
  async function tells(own: Console): Promise<void> {
    await own.floor.loop.run({ signal });
    own.toldAtMs = nowMs;
  }
  async function arrives(own: Console): Promise<void> {
    made += 1;
    const event_id = `e${String(made).padStart(6, '0')}`;
    void own.floor.sink.append({
      ...{ sensorId: 's', nodeName: 'n', streamId: 'x', channel: 'stream', sequence: made },
      ...{ digest: event_id, receivedAtMs: nowMs + own.offMs, events: [{ event_id } as never] },
    });
    await Promise.resolve();
  }
  async function answered(own: Console, outcome: SinkOutcome): Promise<EventBatch | null> {
    const one = own.open.shift();
    if (one === undefined) return null;
    if (outcome.ok) store(one.batch);
    one.answer(outcome);
    await Promise.resolve();
    return one.batch;
  }
  async function crashes(index: number, own: Console): Promise<void> {
    // Silent for long and dead before it came back is what D152 leaves.
    if (nowMs - own.toldAtMs > SINK_FLOOR_LEASE_MS - SINK_LATE_WRITE_MS) return;
    for (const { batch } of own.open) late.push({ dueMs: nowMs + SINK_LATE_WRITE_MS - 1, batch });
    consoles[index] = await openConsole();
  }
  async function take(one: Step): Promise<void> {
    if (one.does === 'time') return pass(one.ms);
    if (one.does === 'forwards') return forwards();
    const own = consoles[one.at];
    if (own === undefined) return;
    if (one.does === 'clock') own.offMs = one.offMs;
    else if (one.does === 'arrives') await arrives(own);
    else if (one.does === 'lands') await answered(own, { ok: true });
    else if (one.does === 'tells') await tells(own);
    else if (one.does === 'crashes') await crashes(one.at, own);
    else if (one.does === 'refuses') {
      const batch = await answered(own, { ok: false, retryAfterMs: 1 });
      if (batch !== null) late.push({ dueMs: nowMs + one.lateMs, batch });
    }
  }
  /** Everything that was begun ends, and everybody tells for a while. */
  async function settles(): Promise<void> {
    for (const own of consoles) {
      own.offMs = 0;
      while ((await answered(own, { ok: true })) !== null);
    }
    for (let told = 0; told < 3; told += 1) {
      for (const own of consoles) await tells(own);
      await forwards();
      pass(SINK_FLOOR_LEASE_MS);
      for (const own of consoles) await tells(own);
      await forwards(RUNS_TO_CATCH_UP);
    }
    forwarder.close();
  }
  return { take, settles, missing: () => stored.filter(({ event_id: id }) => !sent.has(id)) };
}

async function missingAfter(steps: readonly Step[], promises = true): Promise<number> {
  const world = await openWorld(promises);
  for (const one of steps) await world.take(one);
  await world.settles();
  return world.missing().length;
}

it('should forward every event that is ever stored, however late', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      expect(await missingAfter(steps)).toBe(0);
    }),
    { numRuns: 300 },
  );
});

it('should miss one without the promise: what the property sees is there to be seen', async () => {
  const steps: readonly Step[] = [
    { does: 'arrives', at: 0 },
    { does: 'time', ms: 1_000 },
    { does: 'forwards' },
    { does: 'lands', at: 0 },
  ];
  expect([await missingAfter(steps), await missingAfter(steps, false)]).toEqual([0, 1]);
});
