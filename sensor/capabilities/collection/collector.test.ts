// The collector over the real export reader, the real spool and the real disk, with one call of the disk refused.
import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { EMPTY_LOSS_LEDGER } from '../../../machines/sensor/loss-ledger.rules.ts';
import { emptyFacts } from '../../actors/facts.ts';
import { diskExport, type ExportFiles } from '../../engine/export-files.ts';
import { createPipeline } from '../../pipeline/pipeline.ts';
import { openSpool } from '../../spool/spool.ts';
import type { Spool } from '../../spool/spool-port.ts';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { createFlowTable } from '../../telemetry/flows.ts';
import { countGap, createLossCounter } from '../engine/engine-losses.ts';
import { startCollector } from './collector.ts';

const WAIT = { timeout: 60_000 };

let folder: string;
let live: string;
let spool: Spool;
let refusesSync = false;
let refusesWrite = false;
let refusesList = false;
const clock = createWheelClock();

/** A sync fails although its bytes are there, as after an error of the device; a write fails before any. */
const files: Files = {
  ...diskFiles,
  async open(path, how, mode) {
    const file = await diskFiles.open(path, how, mode);
    const sync = async (): Promise<void> => {
      if (!refusesSync) return file.sync();
      refusesSync = false;
      throw Object.assign(new Error('sync'), { code: 'EIO' });
    };
    const append = async (bytes: Uint8Array): Promise<void> => {
      if (!refusesWrite) return file.append(bytes);
      refusesWrite = false;
      throw Object.assign(new Error('write'), { code: 'ENOSPC' });
    };
    return { ...file, sync, append };
  },
};
const exportFiles: ExportFiles = {
  ...diskExport,
  async list(path) {
    if (!refusesList) return diskExport.list(path);
    refusesList = false;
    throw Object.assign(new Error('list'), { code: 'EIO' });
  },
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'collector-'));
  live = join(folder, 'events.log');
  refusesSync = false;
  refusesWrite = false;
  refusesList = false;
  const opened = await openSpool({
    path: join(folder, 'events.jsonl'),
    files,
    clock,
    now: Date.now,
    logger: silentLogger,
    random: () => new Uint8Array(16),
    retryMinMs: 1,
  });
  if (!opened.ok) throw new Error(opened.detail);
  spool = opened.spool;
});
afterEach(async () => {
  await spool.close();
  await rm(folder, { recursive: true, force: true });
});

/** A collector whose ticks are asked for; each resolves when it is over. */
function startTicking() {
  let run: () => void = () => undefined;
  let armed = (): void => undefined;
  const ticks = {
    setTimeout(next: () => void) {
      run = next;
      armed();
      return 1;
    },
    clearTimeout: () => undefined,
    size: () => 1,
    stop: () => undefined,
  };
  const config = { intervals: { STREAM_TICK_MS: 1 } };
  const pipeline = createPipeline({ look: async () => null, workloadOf: () => undefined });
  const facts = emptyFacts();
  const given = { spool, habits: { pipeline }, now: Date.now, facts, config };
  const parts = { ...given, logger: silentLogger, clock: ticks, flows: createFlowTable() };
  const collector = startCollector({ ...parts, ports: { exportFiles } }, live, () => 'sensor');
  const tick = (): Promise<void> =>
    new Promise((resolve) => {
      armed = resolve;
      run();
    });
  return { collector, tick, facts };
}

async function write(...names: string[]): Promise<void> {
  const time = '2026-01-01T00:00:00.000Z';
  const lines = names.map((name) =>
    JSON.stringify({
      process_exec: {
        process: { exec_id: name, pid: 1, binary: `/bin/${name}`, start_time: time },
      },
      node_name: 'n',
      time,
    }),
  );
  await appendFile(live, lines.map((line) => `${line}\n`).join(''));
}

async function spooled(): Promise<(string | undefined)[]> {
  const batch = await spool.claim('stream', { maxEvents: 100, maxBytes: 1_000_000 });
  return (batch?.events ?? []).map((event) => event.process?.binary);
}

describe('collector', () => {
  it('should spool each line once when the journal kept an append whose sync failed', async () => {
    const { collector, tick } = startTicking();
    await write('one', 'two');
    refusesSync = true;
    await tick();
    await vi.waitFor(() => expect(spool.status().state).toBe('ready'), WAIT);
    await write('three');
    await tick();
    await tick();
    expect(await spooled()).toEqual(['/bin/one', '/bin/two', '/bin/three']);
    await collector.stop();
  });

  it('should settle with its lines what did not become an event, and what the engine lost', async () => {
    const { collector, tick } = startTicking();
    const time = '2026-01-01T00:00:00.000Z';
    const loss = { number_of_dropped_process_events: '17', number_of_kernel_dropped_events: '12' };
    await write('one');
    await appendFile(live, `{"unknown":1}\nno JSON\n`);
    await appendFile(live, `${JSON.stringify({ rate_limit_info: loss, time })}\n`);
    await tick();
    expect(spool.ledger().total).toEqual({
      ...EMPTY_LOSS_LEDGER.total,
      ...{ kernel_lost: 12, engine_lost: 5, reader_skipped: 1, pipeline_dropped: 1 },
    });
    expect(spool.depth()).toBe(2);
    await tick();
    expect(spool.ledger().hours).toHaveLength(1);
    await collector.stop();
  });

  it.each([
    ['ebpf', 0],
    ['procfs', 0],
    ['tetragon', 17],
  ])(
    'should not count again what an engine of our own says in its words: %s',
    async (kind, counted) => {
      const { collector, tick, facts } = startTicking();
      facts.engine = { ...facts.engine, kind };
      const rate_limit_info = { number_of_dropped_process_events: '17' };
      const time = '2026-01-01T00:00:00.000Z';
      await appendFile(live, `${JSON.stringify({ rate_limit_info, time })}\n`);
      await tick();
      expect(spool.ledger().total.engine_lost).toBe(17);
      expect(facts.pipeline.engine_lost).toBe(counted);
      await collector.stop();
    },
  );

  it('should settle once what the words alone tell of, with lines, without, and at the end', async () => {
    const { collector, tick, facts } = startTicking();
    const settled = () => {
      const { kernel_lost, engine_lost } = spool.ledger().total;
      return [kernel_lost, engine_lost];
    };
    const first = createLossCounter(facts);
    first({ alive: true, lost: 5, untold: { kernel_lost: 3, engine_lost: 2 } });
    await write('one');
    await tick();
    expect(settled()).toEqual([3, 2]);
    first({ alive: true, lost: 5, untold: { kernel_lost: 3, engine_lost: 2 } });
    await tick();
    expect(settled()).toEqual([3, 2]);
    // The next run of the engine counts from nothing.
    const second = createLossCounter(facts);
    second({ alive: true, lost: 4, untold: { kernel_lost: 4, engine_lost: 0 } });
    await tick();
    await tick();
    expect(settled()).toEqual([7, 2]);
    // An engine of our own has written into its export what its words say.
    createLossCounter(facts)({ alive: true, lost: 9 });
    await tick();
    expect(settled()).toEqual([7, 2]);
    second({ alive: true, lost: 5, untold: { kernel_lost: 4, engine_lost: 1 } });
    await collector.stop();
    expect(settled()).toEqual([7, 3]);
    expect(facts.pipeline.engine_lost).toBe(19);
  });

  it.each([
    ['kept', 'with lines', true],
    ['kept', 'alone', true],
    ['did not keep', 'with lines', false],
    ['did not keep', 'alone', false],
  ])(
    'should settle what the words tell of once when the journal %s the refused append, %s',
    async (_, how, kept) => {
      const { collector, tick, facts } = startTicking();
      const count = createLossCounter(facts);
      count({ untold: { kernel_lost: 3 } });
      if (how === 'with lines') await write('one');
      if (kept) refusesSync = true;
      else refusesWrite = true;
      await tick();
      expect([refusesSync, refusesWrite]).toEqual([false, false]);
      count({ untold: { kernel_lost: 4 } });
      await tick();
      await vi.waitFor(() => expect(spool.status().state).toBe('ready'), WAIT);
      await tick();
      await tick();
      expect(spool.ledger().total.kernel_lost).toBe(4);
      await collector.stop();
      expect(spool.ledger().total.kernel_lost).toBe(4);
      expect(await spooled()).toEqual(how === 'with lines' ? ['/bin/one'] : []);
    },
  );

  describe('of an engine that writes no lines of its own', () => {
    const [since, until] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z'];
    const unwatched = { since, until, how: 'stopped' };
    const hello = { engine: 'tetragon', unwatched, lost: 9, untold: { engine_lost: 9 } };
    const told = async () => {
      const batch = await spool.claim('stream', { maxEvents: 100, maxBytes: 1_000_000 });
      return (batch?.events ?? []).map((one) => [
        ...[one.event_kind, one.occurrences, one.observed_at],
        one.message,
      ]);
    };
    const EVENT = [
      ...['engine_loss', 9, until],
      `The engine lost 9 events: nobody watched from ${since} to ${until} (stopped)`,
    ];

    it.each([
      ['with lines', true],
      ['alone', false],
    ])(
      'should make an event of when nobody watched, and count it once, %s',
      async (_, hasLines) => {
        const { collector, tick, facts } = startTicking();
        createLossCounter(facts)(hello);
        if (hasLines) await write('one');
        await tick();
        await tick();
        expect(await told()).toContainEqual(EVENT);
        expect(await told()).toHaveLength(hasLines ? 2 : 1);
        expect(spool.ledger().total.engine_lost).toBe(9);
        expect(facts.pipeline.engine_lost).toBe(9);
        await collector.stop();
      },
    );

    it('should make one, and count it, of what passed between engines of two kinds', async () => {
      const { collector, facts } = startTicking();
      const gap = { ms: 60_000, unseen: 7, owed: 2, text: '' };
      countGap({ facts, logger: silentLogger }, { ...gap, since, until, how: 'stopped' });
      createLossCounter(facts)({ engine: 'ebpf', lost: 1 });
      await collector.stop();
      expect(await told()).toEqual([EVENT]);
      expect(spool.ledger().total.engine_lost).toBe(9);
      expect(facts.pipeline.engine_lost).toBe(10);
    });

    it('should have it stored before the Sensor stops', async () => {
      const { collector, facts } = startTicking();
      createLossCounter(facts)(hello);
      await collector.stop();
      expect(await told()).toEqual([EVENT]);
    });

    it('should take no event from the hello of an engine that writes its own', async () => {
      const { collector, tick, facts } = startTicking();
      createLossCounter(facts)({ engine: 'ebpf', unwatched, lost: 9 });
      await tick();
      expect(await told()).toEqual([]);
      await collector.stop();
    });

    it.each([
      ['kept', true],
      ['did not keep', false],
    ])('should tell it once when the journal %s the refused append', async (_, kept) => {
      const { collector, tick, facts } = startTicking();
      createLossCounter(facts)(hello);
      if (kept) refusesSync = true;
      else refusesWrite = true;
      await tick();
      expect([refusesSync, refusesWrite]).toEqual([false, false]);
      await vi.waitFor(() => expect(spool.status().state).toBe('ready'), WAIT);
      await tick();
      await tick();
      expect(await told()).toEqual([EVENT]);
      expect(spool.ledger().total.engine_lost).toBe(9);
      await collector.stop();
    });
  });

  it('should spool no line twice when the journal is read anew while lines are under way', async () => {
    await write('one');
    const { collector, tick } = startTicking();
    const real = spool.append.bind(spool);
    let appends = 0;
    const append: Spool['append'] = async (events, cursor, from) => {
      appends += 1;
      if (appends === 1) {
        // What another append of the same lines left in the journal, found by the recovery.
        refusesSync = true;
        expect(await real(events, cursor, from)).toEqual({ ok: false, reason: 'disk_refuses' });
        await vi.waitFor(() => expect(spool.status().state).toBe('ready'), WAIT);
      }
      return real(events, cursor, from);
    };
    vi.spyOn(spool, 'append').mockImplementation(append);
    await tick();
    await write('two');
    await tick();
    expect(await spooled()).toEqual(['/bin/one', '/bin/two']);
    await collector.stop();
  });

  it('should lose no line that it had taken when the disk fails further on', async () => {
    const { collector, tick } = startTicking();
    await tick();
    await write('one');
    await tick();
    await write('two');
    await rename(live, join(folder, 'events-2026-01-01T00-00-00.000.log'));
    await write('three');
    refusesList = true;
    await tick();
    expect(spool.depth()).toBe(1);
    await tick();
    expect(await spooled()).toEqual(['/bin/one', '/bin/two', '/bin/three']);
    await collector.stop();
  });
});
