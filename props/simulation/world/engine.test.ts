import { expect, it } from 'vitest';
import { createExportReader } from '../../../sensor/engine/export-reader.ts';
import { normalise } from '../../../sensor/pipeline/normalise.ts';
import { createProcessCache } from '../../../sensor/pipeline/process-cache.ts';
import { createSimulatedDisk } from './disk.ts';
import { createSimulatedEngine, keyOfEvent } from './engine.ts';
import { beginLife, type Life } from './life.ts';
import type { Observation } from './observation.ts';
import { createWorld } from './world.ts';

const EXPORT = '/var/lib/service-sensor/export/events.log';
const HOUR_MS = 3_600_000;

function stage(seed: string, more: { rotateBytes?: number; backupsMax?: number } = {}) {
  const world = createWorld(seed);
  const { scheduler } = world;
  const disk = createSimulatedDisk(world, 'node-1');
  const engine = createSimulatedEngine({
    world,
    node: 'node-1',
    disk,
    meanQuietMs: 20_000,
    ...more,
  });
  const told = { wrote: [] as string[], pruned: [] as string[], lost: [] as string[] };
  world.subscribe((one: Observation) => {
    if (one.kind === 'engine.wrote') told.wrote.push(...one.events);
    if (one.kind === 'engine.rotated') told.pruned.push(...one.removed);
    if (one.kind === 'export.lost') told.lost.push(...one.events);
  });
  let incarnation = 0;
  const words: Record<string, unknown>[] = [];
  const errors: string[] = [];
  /** A life of the Sensor with one run of the engine in it. */
  function start() {
    incarnation += 1;
    const life = beginLife(scheduler, { host: 'node-1', incarnation });
    const ends: string[] = [];
    const run = engine.launcherFor(life).launch({
      exportFile: EXPORT,
      nodeName: 'node-1',
      onLine: (line) => words.push(JSON.parse(line)),
      onErrorLine: (line) => errors.push(line),
    });
    void run.gone.then((how) => ends.push(how));
    return { life, run, ends };
  }
  const pass = (ms: number) => scheduler.runUntil(scheduler.now() + ms);
  return { world, disk, engine, told, words, errors, start, pass };
}

type Stage = ReturnType<typeof stage>;

/** Reads on from a cursor as the Sensor does, and gives the keys of the events. */
async function readAll({ disk }: Stage, life: Life, from?: unknown) {
  const reader = createExportReader({
    path: EXPORT,
    cursor: from,
    files: disk.exportFilesFor(life),
  });
  const cache = createProcessCache();
  const keys: string[] = [];
  const kinds = new Set<string>();
  let refused = 0;
  let cursor: unknown;
  for (;;) {
    const batch = await reader.read(100);
    refused += batch.malformed + batch.skippedLines;
    cursor = batch.cursor;
    for (const line of batch.lines) {
      const result = normalise(line, { sensorId: 'a'.repeat(32), cache });
      if (!result.ok) refused += 1;
      else {
        keys.push(keyOfEvent(result.event));
        kinds.add(result.event.event_kind);
      }
    }
    if (batch.lines.length === 0) break;
  }
  await reader.close();
  return { keys, kinds, refused, cursor };
}

it('should say hello and alive, and write events of many kinds that the Sensor understands', async () => {
  const stand = stage('kinds');
  const { life } = stand.start();
  await stand.pass(HOUR_MS);
  expect(stand.words[0]).toMatchObject({ engine: 'procfs', version: '1.7.0' });
  expect(stand.words.filter((word) => word['alive'] !== undefined).length).toBe(359);
  const { keys, kinds, refused } = await readAll(stand, life);
  expect(keys).toEqual(stand.told.wrote);
  expect(keys.length).toBeGreaterThan(100);
  expect(new Set(keys).size).toBe(keys.length);
  expect(refused).toBe(0);
  const wanted = ['process_exec', 'process_exit', 'network_connect', 'file_open', 'file_write'];
  for (const kind of wanted) expect(kinds).toContain(kind);
});

it('should rotate by size, prune the oldest, and tell which keys went', async () => {
  const stand = stage('rotation', { rotateBytes: 20_000, backupsMax: 2 });
  const { life } = stand.start();
  await stand.pass(1_000);
  stand.engine.flood(300);
  await stand.pass(2_000);
  expect(stand.told.wrote.length).toBeGreaterThan(300);
  expect(stand.told.pruned.length).toBeGreaterThan(100);
  const { keys } = await readAll(stand, life);
  expect([...stand.told.pruned, ...keys]).toEqual(stand.told.wrote);
  expect((await stand.disk.exportFilesFor(life).list(EXPORT)).length).toBe(3);
});

it('should name backups in the order they were made, also when the clock goes back', async () => {
  const world = createWorld('clock');
  const disk = createSimulatedDisk(world, 'node-1');
  let wallMs = Date.UTC(2026, 5, 1);
  const clock = { wallNow: () => wallMs };
  const engine = createSimulatedEngine({ world, node: 'node-1', disk, clock });
  const life = beginLife(world.scheduler, { host: 'node-1', incarnation: 1 });
  const quiet = { exportFile: EXPORT, nodeName: 'n', onLine: () => 0, onErrorLine: () => 0 };
  engine.launcherFor(life).launch(quiet);
  await world.scheduler.runUntil(1_000);
  const inodes: (string | undefined)[] = [];
  for (const jump of [0, -86_400_000, 0, 5]) {
    wallMs += jump;
    engine.flood(1); // an empty file is not rotated
    await world.scheduler.runUntil(world.scheduler.now() + 2_000);
    inodes.push(await disk.exportFilesFor(life).inodeOf(EXPORT));
    engine.rotate();
  }
  const listed = await disk.exportFilesFor(life).list(EXPORT);
  expect(listed.slice(0, -1).map((one) => one.inode)).toEqual(inodes);
});

it('should end with its input, by kill, by a crash, and at once when it refuses', async () => {
  const stand = stage('ends');
  const input = stand.start();
  await stand.pass(2_000);
  input.run.endInput();
  expect(input.run.hasEnded()).toBe(false);
  await stand.pass(1_000);
  expect(input.ends).toEqual(['it ended with 0']);
  const killed = stand.start();
  killed.run.kill();
  const crashed = stand.start();
  await stand.pass(2_000);
  stand.engine.crash(139);
  stand.engine.setRefusal(true);
  const refused = stand.start();
  await stand.pass(1_000);
  expect([killed.ends, crashed.ends, refused.ends]).toEqual([
    ['it ended with SIGKILL'],
    ['it ended with 139'],
    ['it ended with 1'],
  ]);
  expect(stand.engine.running()).toBe(0);
});

it('should outlive a killed Sensor for a moment, and tell it nothing any more', async () => {
  const stand = stage('orphan');
  const { life, run, ends } = stand.start();
  await stand.pass(60_000);
  const words = stand.words.length;
  life.end();
  expect(run.hasEnded()).toBe(false);
  await stand.pass(60_000);
  expect([run.hasEnded(), ends.length, stand.words.length - words]).toEqual([true, 0, 0]);
});

it('should be silent while it hangs, deaf to the end of its input, and go on afterwards', async () => {
  const stand = stage('hang');
  const { run } = stand.start();
  await stand.pass(60_000);
  stand.engine.setHang(true);
  const before = [stand.words.length, stand.told.wrote.length];
  run.endInput();
  await stand.pass(HOUR_MS);
  expect([stand.words.length, stand.told.wrote.length]).toEqual(before);
  expect(run.hasEnded()).toBe(false);
  stand.engine.heal();
  await stand.pass(1_000);
  expect(run.hasEnded()).toBe(true);
});

it('never loses or invents a key through garbage, full disks, crashes and power losses', async () => {
  for (let n = 0; n < 25; n += 1) {
    const stand = stage(`faults ${n}`, { rotateBytes: 30_000, backupsMax: 50 });
    const random = stand.world.random.fork('test');
    const { engine, disk, told } = stand;
    const got = new Set<string>();
    let cursor: unknown;
    for (let life = 0; life < 4; life += 1) {
      const own = stand.start();
      for (let step = 0; step < 8; step += 1) {
        await stand.pass(random.between(1, 60_000));
        const fault = random.between(0, 5);
        if (fault === 0) engine.garbage();
        if (fault === 1) engine.flood(random.between(1, 100));
        if (fault === 2) engine.rotate();
        if (fault === 3) disk.faults.turnOn(random.pick(['full', 'readOnly']));
        else disk.faults.heal();
        if (fault === 4) {
          const batch = await readAll(stand, own.life, cursor);
          for (const key of batch.keys) got.add(key);
          cursor = batch.cursor;
        }
      }
      own.life.end();
      if (random.chance(0.5)) disk.end('power_lost', random.fork(`loss ${life}`));
    }
    disk.faults.heal();
    const { life } = stand.start();
    await stand.pass(60_000);
    for (const key of (await readAll(stand, life, cursor)).keys) got.add(key);
    const wrote = new Set(told.wrote);
    expect(wrote.size).toBe(told.wrote.length);
    expect([...got].filter((key) => !wrote.has(key))).toEqual([]);
    const gone = new Set([...told.lost, ...told.pruned]);
    expect({ n, missing: told.wrote.filter((key) => !got.has(key) && !gone.has(key)) }).toEqual({
      n,
      missing: [],
    });
  }
});

it('should do the same again with the same seed', async () => {
  const hashes: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const stand = stage('again', { rotateBytes: 20_000 });
    stand.start();
    await stand.pass(HOUR_MS);
    stand.engine.garbage();
    stand.engine.flood(100);
    await stand.pass(10_000);
    stand.disk.end('power_lost', stand.world.random.fork('loss'));
    hashes.push(stand.world.log.hash());
    expect(stand.world.crashes()).toEqual([]);
  }
  expect(hashes[0]).toBe(hashes[1]);
});
