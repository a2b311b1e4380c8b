// A section of sockets reaches the Console on two ways, with every heartbeat and with the inventory. It is one content under
// one name: it is written when it changed and only then, and what is stored is what the node has. invariant: I10
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createInventory } from '../../actors/telemetry/inventory.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { INVENTORY_BODY_MAX_BYTES } from '../../machines/limits.ts';
import type { Baseline } from '../../machines/wire/baseline.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import {
  type InventoryItem,
  InventoryRequest,
  type InventorySectionName,
} from '../../machines/wire/inventory.ts';
import { stableTextOf } from '../../machines/wire/inventory-text.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type { Parts } from '../../sensor/actors/parts.ts';
import { habitsGroup } from '../../sensor/capabilities/collection/collection.ts';
import { containerGroups } from '../../sensor/capabilities/containers/containers.ts';
import { startInventory } from '../../sensor/capabilities/inventory/inventory-sender.ts';
import { createSocketReport } from '../../sensor/capabilities/telemetry/socket-report.ts';
import { readSections } from '../../sensor/capabilities/telemetry/telemetry.ts';
import type { Listed } from '../../sensor/telemetry/shortened.ts';
import { portOf } from '../../storage/memory/plumbing/unsafe-port-of.ts';
import { inventoryCalls } from '../../storage/memory/telemetry/inventory-store.ts';
import type { BaselineStore } from '../../storage/ports/telemetry/baseline-store.ts';
import type { InventoryStore } from '../../storage/ports/telemetry/inventory-store.ts';
import { runs } from '../runs.ts';

type Connection = NonNullable<HeartbeatRequest['connections']>[number];
const SENSOR = 'sensor';
const read = parserOf(InventoryRequest);

const connection = (n: number): Connection => ({
  ...{ protocol: 'tcp', local_ip: '10.0.0.1', local_port: 40_000 + n, remote_ip: '10.0.0.2' },
  ...{ remote_port: 443, state: n % 2 === 0 ? 'established' : 'close_wait' },
  ...(n % 3 === 0 ? { pid: n, binary: '/usr/bin/"curl"' } : {}),
});

const baseline = (binary: string): Baseline => {
  const at = '2026-03-01T12:00:00.000Z';
  const nothing = { children: [], files: [], destinations: [], users: [] };
  const hours = Array.from({ length: 24 }, () => 0);
  return {
    ...{ binary, executions: 1, is_warm: false, learned_since: at, updated_at: at },
    ...{ ...nothing, hours },
  };
};

/** A node's inventory and the Console's, joined without a network between them. */
function joined() {
  const writes: string[] = [];
  const asks: string[] = [];
  const texts: string[] = [];
  const node = {
    connections: [] as Connection[],
    processes: { items: [] as { pid: number; command: string }[] },
    habits: [] as Baseline[],
    images: null as Listed<InventoryItem> | null,
    pods: null as Listed<InventoryItem> | null,
    nowMs: 0,
  };
  const store = portOf<InventoryStore>('inventory', inventoryCalls(), async (_, effect) =>
    effect(),
  );
  const rows = new Map<string, Baseline>();
  const baselines: Pick<BaselineStore, 'put' | 'baselinesOf'> = {
    async put(input) {
      for (const one of input.baselines) rows.set(one.binary, one);
      for (const binary of input.forgotten) rows.delete(binary);
    },
    baselinesOf: async () => [...rows.values()].map((one) => ({ ...one, storedAtMs: 1 })),
  };
  const inventory = createInventory({
    store: {
      ...store,
      put: async (input) => {
        writes.push(input.section);
        await store.put(input);
      },
    },
    ...{ baselines, platform: 'standard', logger: silentLogger },
  });
  let turn: () => void = () => undefined;
  const parts = {
    client: {
      async post(_path: string, text: string) {
        texts.push(text);
        const request = read(text);
        if (!request.ok) throw new Error(JSON.stringify(request));
        asks.push(...Object.keys(request.value.sections));
        const answer = await inventory.receive(SENSOR, request.value, 1);
        return answer.ok ? { ok: true, json: answer.response } : { ok: false };
      },
    },
    config: { intervals: DEFAULT_INTERVALS },
    logger: silentLogger,
    monotonicNow: () => node.nowMs,
    clock: {
      setTimeout(run: () => void) {
        turn = run;
        return 1;
      },
      clearTimeout: () => undefined,
    },
  };
  const telemetry = {
    sockets: async () => ({ connections: [...node.connections], listening_services: [] }),
    processes: async () => node.processes,
  };
  startInventory(parts as unknown as Parts, [
    { isSnapshot: true, read: () => readSections(telemetry) },
    habitsGroup({ items: () => node.habits }),
    ...containerGroups({ images: async () => node.images, pods: () => node.pods }),
  ]);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    inventoryOf: inventory,
    texts,
    node,
    writes,
    asks,
    rows,
    section: (name: InventorySectionName) => store.get(SENSOR, name),
    stored: async () => (await store.get(SENSOR, 'connections'))?.items ?? [],
    async heartbeat() {
      // In the order in which the kernel happens to list them.
      const told = { items: node.connections.toReversed(), hash: undefined };
      inventory.observe(SENSOR, 'connections', told, 1);
      await settle();
    },
    async inventory() {
      turn();
      await settle();
    },
  };
}

const sorted = (items: readonly object[]) =>
  items.map((item) => stableTextOf(item as Record<string, unknown>)).sort();

describe('sections of sockets', () => {
  it('should be written once, whichever way tells them first', async () => {
    const { node, writes, heartbeat, inventory } = joined();
    node.connections = [connection(1), connection(3)];
    await inventory();
    for (let beat = 0; beat < 20; beat += 1) await heartbeat();
    await inventory();
    expect(writes.filter((section) => section === 'connections')).toHaveLength(1);
    node.connections = [connection(1), connection(2), connection(4)];
    for (let beat = 0; beat < 20; beat += 1) await heartbeat();
    await inventory();
    for (let beat = 0; beat < 20; beat += 1) await heartbeat();
    expect(writes.filter((section) => section === 'connections')).toHaveLength(2);
  });

  it('should keep what is equal once, so that a delta on it comes out right', async () => {
    const { node, stored, heartbeat, inventory } = joined();
    node.connections = [connection(1), connection(1), connection(2)];
    await heartbeat();
    await inventory();
    node.connections = [connection(2), connection(3)];
    await inventory();
    expect(sorted(await stored())).toEqual(sorted([connection(2), connection(3)]));
  });

  it('always are what the node has, written no more often than they change', async () => {
    const way = fc.constantFrom('heartbeat' as const, 'inventory' as const);
    const step = fc.record({ ports: fc.array(fc.nat(6), { maxLength: 6 }), way });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const own = joined();
        let changes = 0;
        let before = '';
        for (const { ports, way } of steps) {
          own.node.connections = ports.map(connection);
          await own[way]();
          const now = sorted([...new Map(ports.map((n) => [n, connection(n)])).values()]);
          // What heartbeats told since is not the inventory's to know: the next heartbeat tells it at the latest.
          if (sorted(await own.stored()).join() !== now.join()) await own.heartbeat();
          expect(sorted(await own.stored())).toEqual(now);
          if (now.join() !== before) changes += 1;
          before = now.join();
        }
        const written = own.writes.filter((section) => section === 'connections').length;
        // An empty section that nobody has told before is told by the inventory alone.
        expect(written).toBeLessThanOrEqual(changes + 1);
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('lists that are too long', () => {
  const many = (name: string) => ({
    items: Array.from({ length: 5_000 }, (_, n) => ({
      ...{ pid: n + 1, command: `/bin/${n === 4_999 ? 'quiet' : name} ${'\u0001'.repeat(500)}` },
    })),
  });
  const flood = (from: number) =>
    Array.from({ length: 5_000 }, (_, n) => ({
      ...{ ...connection(from + n), pid: 1, binary: '\u0001'.repeat(200) },
    }));

  it('should be told shortened and say so, whatever came and went', async () => {
    const own = joined();
    for (const name of ['flood', 'other']) {
      own.node.processes = many(name);
      own.node.connections = flood(name.length * 10_000);
      await own.inventory();
      const processes = await own.section('processes');
      expect(processes?.nodeTotal).toBe(5_000);
      const commands = processes?.items.map((one) => String(one['command'])) ?? [];
      expect(new Set(commands.map((command) => command.split(' ')[0]))).toEqual(
        new Set([`/bin/${name}`, '/bin/quiet']),
      );
      const connections = await own.section('connections');
      expect(connections?.nodeTotal).toBe(5_000);
      expect(sorted(connections?.items ?? []).length).toBeGreaterThan(500);
    }
    for (const text of own.texts) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(INVENTORY_BODY_MAX_BYTES);
    }
    own.node.processes = { items: [{ pid: 1, command: 'init' }] };
    await own.inventory();
    expect(await own.section('processes')).toMatchObject({ nodeTotal: null, items: [{ pid: 1 }] });
  });

  it('should have one name on both ways, and another when only the whole number changed', async () => {
    const own = joined();
    own.node.connections = flood(0);
    await own.inventory();
    const said = createSocketReport().next({
      ...{ connections: own.node.connections.toReversed(), listening_services: [] },
    });
    const hash = (await own.section('connections'))?.hash;
    expect(said).toContain(`"connections":"${hash}"`);
    expect(said).toContain('"section_totals":{"connections":5000}');
    const more = { connections: own.node.connections, listening_services: [] };
    const grown = createSocketReport().next({ ...more, totals: { connections: 5_001 } });
    expect(grown).not.toContain(hash);
  });
});

describe('habits', () => {
  it('should be forgotten when the node has none any more, and nothing be written where none were', async () => {
    const own = joined();
    await own.inventory();
    expect(own.writes.filter((section) => section === 'baselines')).toEqual([]);
    own.node.habits = [baseline('/bin/a'), baseline('/bin/b')];
    await own.inventory();
    expect([...own.rows.keys()]).toEqual(['/bin/a', '/bin/b']);
    own.node.habits = [baseline('/bin/b')];
    await own.inventory();
    expect([...own.rows.keys()]).toEqual(['/bin/b']);
    own.node.habits = [];
    await own.inventory();
    expect([...own.rows.keys()]).toEqual([]);
  });

  it('should come back when a request of earlier ones came once more', async () => {
    const own = joined();
    own.node.habits = [baseline('/bin/a')];
    await own.inventory();
    const earlier = read(own.texts.find((text) => text.includes('/bin/a')) ?? '');
    own.node.habits = [baseline('/bin/b')];
    await own.inventory();
    if (!earlier.ok) throw new Error('nothing was told');
    await own.inventoryOf.receive(SENSOR, earlier.value, 1);
    expect([...own.rows.keys()]).toEqual(['/bin/a']);
    await own.inventory();
    expect([...own.rows.keys()]).toEqual(['/bin/a']);
    // Drawn up anew, as every hour.
    own.node.habits = [...own.node.habits];
    await own.inventory();
    expect([...own.rows.keys()]).toEqual(['/bin/b']);
    const writes = own.writes.length;
    own.node.habits = [...own.node.habits];
    await own.inventory();
    expect(own.writes.length).toBe(writes);
  });
});

describe('images and pods', () => {
  const image = (n: number) => ({ runtime: 'docker', id: `sha256:${n}`, names: [`r.test/a:${n}`] });

  it('should be told when they changed, as what came and what went', async () => {
    const own = joined();
    await own.inventory();
    // Nobody knows yet whether there are any.
    expect(await own.section('container_images')).toBe(null);
    own.node.images = { items: [image(1), image(2)] };
    own.node.pods = { items: [] };
    await own.inventory();
    expect(await own.section('kubernetes')).toMatchObject({ items: [] });
    const told = own.asks.length;
    await own.inventory();
    expect(own.asks.length).toBe(told);
    own.node.images = { items: [image(3), image(2)] };
    await own.inventory();
    expect(own.texts.at(-1)).toContain('"base_hash"');
    expect(own.texts.at(-1)).not.toContain('sha256:2');
    const stored = await own.section('container_images');
    expect(sorted(stored?.items ?? [])).toEqual(sorted([image(2), image(3)]));
  });

  it('should be right again within an hour when a request of earlier ones came once more', async () => {
    const own = joined();
    own.node.images = { items: [image(1)] };
    await own.inventory();
    const earlier = read(own.texts.find((text) => text.includes('sha256:1')) ?? '');
    own.node.images = { items: [image(2)] };
    await own.inventory();
    if (!earlier.ok) throw new Error('nothing was told');
    await own.inventoryOf.receive(SENSOR, earlier.value, 1);
    await own.inventory();
    expect((await own.section('container_images'))?.items).toEqual([image(1)]);
    own.node.nowMs += DEFAULT_INTERVALS.INVENTORY_REPEAT_MS;
    await own.inventory();
    expect((await own.section('container_images'))?.items).toEqual([image(2)]);
    const writes = own.writes.length;
    own.node.nowMs += DEFAULT_INTERVALS.INVENTORY_REPEAT_MS;
    await own.inventory();
    expect(own.writes.length).toBe(writes);
  });

  it('should be told shortened by turns of their namespaces, and never be too long', async () => {
    const own = joined();
    const names = ['x'.repeat(512)];
    const items = Array.from({ length: 4_096 }, (_, n) => ({
      ...{ runtime: 'containerd', namespace: n === 4_095 ? 'small' : 'big', id: `${n}`, names },
    }));
    own.node.images = { items, total: 6_000 };
    await own.inventory();
    const stored = await own.section('container_images');
    expect(stored?.nodeTotal).toBe(6_000);
    expect(stored?.items.length).toBeGreaterThan(1_000);
    expect(stored?.items.some(({ namespace }) => namespace === 'small')).toBe(true);
  });
});
