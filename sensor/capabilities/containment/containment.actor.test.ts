// Orders that come faster than the disk answers: what was overtaken while it waited is not carried out.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from 'xstate';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { type ContainmentActorRef, stateOf } from '../../../machines/sensor/containment.machine.ts';
import { createSimulatedFilter } from '../../../props/simulation/world/packet-filter.ts';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { startContainment } from './containment.actor.ts';

let stateDir: string;
let did: string[];
let actor: ContainmentActorRef;
/** What a rename waits for: a disk that hangs. */
let over: Promise<void>;
/** Renames that the disk still does. */
let before: number;
/** The node's clock beside the true time. */
let offsetMs: number;
/** How often the node looks. */
let lookMs: number;
/** The disk was asked for one that it does not do. */
let hangs: PromiseWithResolvers<void>;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'containment-'));
  did = [];
  over = Promise.resolve();
  before = 0;
  offsetMs = 0;
  lookMs = DEFAULT_INTERVALS.HEARTBEAT_INTERVAL_MS;
  hangs = Promise.withResolvers<void>();
  actor = await start();
});
afterEach(async () => {
  actor.stop();
  await rm(stateDir, { recursive: true, force: true, maxRetries: 10 });
});

function start(): Promise<ContainmentActorRef> {
  const files: Files = {
    ...diskFiles,
    async rename(from, to) {
      before -= 1;
      if (before < 0) {
        hangs.resolve();
        await over;
      }
      await diskFiles.rename(from, to);
    },
  };
  const life = { call: async (_name: string, effect: () => unknown) => effect() };
  const filter = createSimulatedFilter((what) => void did.push(what));
  const parts = {
    config: {
      ...{ stateDir, proxyUrl: null },
      intervals: { ...DEFAULT_INTERVALS, HEARTBEAT_INTERVAL_MS: lookMs },
    },
    ...{ clock: createWheelClock(), logger: silentLogger, now: () => Date.now() + offsetMs },
    onCrash(_kind: string, error: unknown) {
      throw error;
    },
    client: { baseUrl: new URL('https://192.0.2.1:15483') },
    ports: { files, packetFilter: filter.filterFor(life as never) },
  };
  return startContainment(parts as never);
}

const send = (orderId: string, wanted: 'contained' | 'released'): void =>
  actor.send({
    type: 'order.received',
    order: { orderId, wanted, reason: '', untilMs: null },
    atMs: Date.now(),
  });
const become = (state: string) => waitFor(actor, (snapshot) => stateOf(snapshot) === state);
const kept = () => diskFiles.readFile(join(stateDir, 'containment.json')).then(String);

/** The disk hangs while these come, and is back. */
async function hangWhile(run: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  over = promise;
  run();
  over = Promise.resolve();
  resolve();
}

describe('orders to a node that is another sensor now', () => {
  const under = (sensorId: string, orderId: string, wanted: 'contained' | 'released'): void =>
    actor.send({
      type: 'order.received',
      order: { orderId, wanted, reason: '', untilMs: null, sensorId },
      atMs: Date.now(),
    });

  it('should be taken whatever their names are, also after a restart', async () => {
    under('a sensor that the database forgot', '9', 'contained');
    await become('contained');
    actor.stop();
    actor = await start();
    under('a sensor that it knows again', '1', 'released');
    await become('released');
    under('a sensor that it knows again', '2', 'contained');
    await become('contained');
    expect(JSON.parse(await kept())).toMatchObject({ order_id: '2', is_applied: true });

    under('a sensor that it knows again', '1', 'released');
    await become('contained');
    expect(JSON.parse(await kept())).toMatchObject({ order_id: '2', is_applied: true });
  });
});

describe('orders to a node whose disk hangs', () => {
  it('should not let the node go for a release that was overtaken while it waited', async () => {
    await hangWhile(() => {
      send('1', 'contained');
      send('2', 'released');
      send('3', 'contained');
    });
    await become('contained');
    expect(did).toEqual(['filter.applied']);
    expect(JSON.parse(await kept())).toMatchObject({ order_id: '3', is_applied: true });
  });

  it('should not remove rules for a release that was overtaken while it was kept', async () => {
    send('1', 'contained');
    await become('contained');
    await hangWhile(() => {
      send('2', 'released');
      send('3', 'contained');
    });
    await become('contained');
    expect(did).toEqual(['filter.applied', 'filter.applied']);
    expect(JSON.parse(await kept())).toMatchObject({ order_id: '3', is_applied: true });
  });

  it('should not contain a node for a moment where a release came last', async () => {
    await hangWhile(() => {
      send('1', 'contained');
      send('2', 'contained');
      send('3', 'released');
    });
    await become('released');
    expect(did).toEqual([]);
    expect(JSON.parse(await kept())).toMatchObject({ order_id: '3', is_applied: false });
  });

  it('should bring no rules into force for an order that was overtaken while they were noted', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    over = promise;
    // The order is kept, and the disk hangs as what its rules let through is to be.
    before = 1;
    send('1', 'contained');
    await hangs.promise;
    send('2', 'released');
    resolve();
    await become('released');
    expect(did).not.toContain('filter.applied');
    send('3', 'contained');
    await become('contained');
    expect(did.at(-1)).toBe('filter.applied');
  });
});

describe('orders with an end, on a node whose clock is wrong', () => {
  const HOUR_MS = 3_600_000;
  const DAY_MS = 24 * HOUR_MS;
  const restart = async (): Promise<void> => {
    actor.stop();
    actor = await start();
  };
  const containFor = (orderId: string, ms: number): void =>
    actor.send({
      type: 'order.received',
      order: { orderId, wanted: 'contained', reason: '', untilMs: Date.now() + ms },
      atMs: Date.now() + offsetMs,
    });

  beforeEach(() => {
    lookMs = 10;
    return restart();
  });

  it('should be carried out once the clock is right, also after a restart', async () => {
    offsetMs = DAY_MS;
    containFor('1', HOUR_MS);
    await become('released');
    await restart();
    await become('released');
    expect(did).toEqual([]);

    offsetMs = 0;
    await become('contained');
    expect(did).toEqual(['filter.applied']);
    expect(JSON.parse(await kept())).toMatchObject({ order_id: '1', is_applied: true });
  });

  it('should be over for good where they came to their end, though a restart finds the clock set back', async () => {
    containFor('1', HOUR_MS);
    await become('contained');
    offsetMs = DAY_MS;
    await become('released');
    expect(JSON.parse(await kept())).toMatchObject({ has_ended: true, is_applied: false });

    offsetMs = -DAY_MS;
    await restart();
    await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
    expect(stateOf(actor.getSnapshot())).toBe('released');
    expect(did).toEqual(['filter.applied', 'filter.lifted']);
  });
});
