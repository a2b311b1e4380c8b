// Connections and listening services travel only when they changed. Whatever is lost, begun again or put back on either
// side, two heartbeats later the Console shows what the node has, and from then on neither list travels.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createInventory } from '../../../actors/telemetry/inventory.ts';
import type { HeartbeatRequest, SectionHashes } from '../../../machines/wire/heartbeat.ts';
import { createSocketReport } from '../../../sensor/capabilities/telemetry/socket-report.ts';
import type { Sockets } from '../../../sensor/telemetry/sockets.ts';
import { createMemoryInventory } from '../../../storage/memory/telemetry/inventory-store.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { InventoryStore } from '../../../storage/ports/telemetry/inventory-store.ts';

const NO_BASELINES = { put: async () => undefined, baselinesOf: async () => [] };
const SECTIONS = ['connections', 'listening_services'] as const;
const SENSORS = ['one', 'other'] as const;

type Move =
  | { readonly kind: 'change'; readonly sockets: Sockets }
  | {
      readonly kind: 'beat';
      readonly lost: 'nothing' | 'request' | 'answer';
      readonly rest: boolean;
    }
  | { readonly kind: 'store'; readonly mood: Mood }
  | { readonly kind: 'console' | 'sensor' | 'identity' | 'inventory' | 'restore' };
type Mood = 'fine' | 'refuses' | 'forgets to answer' | 'slow';

const port = fc.integer({ min: 1, max: 3 });
const service = port.map((one) => ({ protocol: 'tcp', ip: '::', port: one, pid: 7 }));
const connection = port.map((one) => ({
  ...{ protocol: 'tcp', local_ip: '10.0.0.1', local_port: one, remote_ip: '10.0.0.2' },
  ...{ remote_port: 443, state: 'established', binary: '/usr/bin/ü' },
}));
const sockets = fc.record({
  connections: fc.array(connection, { maxLength: 3 }),
  listening_services: fc.array(service, { maxLength: 3 }),
});
const move = fc.oneof(
  { weight: 3, arbitrary: sockets.map((one): Move => ({ kind: 'change', sockets: one })) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('beat' as const),
      lost: fc.constantFrom('nothing' as const, 'nothing', 'request', 'answer'),
      rest: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      mood: fc.constantFrom<Mood>('fine', 'fine', 'refuses', 'forgets to answer', 'slow'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('console' as const, 'sensor', 'identity', 'inventory', 'restore'),
    }),
  },
);
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** What a Console was writing has ended, one way or the other: its sections one after the other, each as slow as it gets. */
const writesToEnd = async (): Promise<void> => {
  for (const _ of [...SECTIONS, 'what comes after']) await turns();
};

/** A Sensor and a Console whose store has moods. */
async function startWorld() {
  const { inventory: real } = createMemoryInventory();
  let mood: Mood = 'fine';
  const store: InventoryStore = {
    ...real,
    async put(input) {
      if (mood === 'refuses') throw new StoreUnavailable('away');
      if (mood === 'slow') await turns();
      await real.put(input);
      if (mood === 'forgets to answer') throw new StoreUnavailable('away');
    },
  };
  const startConsole = async () => {
    const own = createInventory({
      ...{ store, baselines: NO_BASELINES, platform: 'standard', logger: silentLogger },
    });
    await own.load();
    return own;
  };
  let console = await startConsole();
  let report = createSocketReport();
  let sensorId: (typeof SENSORS)[number] = 'one';
  let now: Sockets = { connections: [], listening_services: [] };
  let clockMs = 0;

  async function beat(lost: 'nothing' | 'request' | 'answer', rest: boolean) {
    clockMs += 1;
    const body: Pick<HeartbeatRequest, (typeof SECTIONS)[number] | 'section_hashes'> = JSON.parse(
      `{${report.next(now)}}`,
    );
    if (lost === 'request') return body;
    for (const section of SECTIONS) {
      const told = { items: body[section], hash: body.section_hashes?.[section] };
      console.observe(sensorId, section, told, clockMs);
    }
    if (rest) await turns();
    const stored: SectionHashes = console.storedSections(sensorId);
    if (lost === 'nothing') report.confirm(stored);
    return body;
  }

  async function apply(one: Move): Promise<void> {
    if (one.kind === 'change') now = one.sockets;
    else if (one.kind === 'beat') await beat(one.lost, one.rest);
    else if (one.kind === 'store') mood = one.mood;
    else if (one.kind === 'console') {
      await writesToEnd();
      console = await startConsole();
    } else if (one.kind === 'sensor') report = createSocketReport();
    else if (one.kind === 'identity') sensorId = sensorId === 'one' ? 'other' : 'one';
    else await tamper(one.kind);
  }

  /** The other way of an inventory writes the same sections; an operator puts an older database back. */
  async function tamper(kind: 'inventory' | 'restore'): Promise<void> {
    const items = [{ protocol: 'tcp', ip: 'old', port: 1 }];
    const content = { hash: 'a'.repeat(64), items };
    if (kind === 'inventory') {
      const sections = { connections: content, listening_services: content };
      await console.receive(sensorId, { is_full_snapshot: true, sections }, clockMs);
      return;
    }
    await writesToEnd();
    for (const section of SECTIONS)
      await real.put({ sensorId, section, ...content, nowMs: clockMs });
    console = await startConsole();
  }

  return {
    apply,
    /** Nothing is broken any more; what the last of some heartbeats said. */
    async heal() {
      mood = 'fine';
      await turns();
      await turns();
      await beat('nothing', true);
      await beat('nothing', true);
      return beat('nothing', true);
    },
    now: () => now,
    stored: async (section: (typeof SECTIONS)[number]) =>
      (await real.get(sensorId, section))?.items ?? [],
  };
}

const textsOf = (items: readonly object[]): readonly string[] =>
  [...new Set(items.map((item) => JSON.stringify(Object.entries(item).sort())))].sort();

it('always ends with the lists of the node in the store, and no list on the way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 30 }), async (moves) => {
      const world = await startWorld();
      for (const one of moves) await world.apply(one);
      const last = await world.heal();
      for (const section of SECTIONS) {
        expect(textsOf(await world.stored(section))).toEqual(textsOf(world.now()[section]));
        // A node that never had any tells so: two signs, and no row.
        expect(last[section] ?? []).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});
