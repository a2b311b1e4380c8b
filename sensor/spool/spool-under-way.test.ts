// Batches under way while the spool changes beneath them, and what each call asks of the disk.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { diskFiles, type Files } from '../state-directory/file-port.ts';
import { openSpool } from './spool.ts';
import type { Spool } from './spool-port.ts';

const CAP = 6;
const MIN_BYTES = 2_000;
const WHOLE = { maxEvents: 10, maxBytes: 1_000_000 };
const clock = createWheelClock();
let folder = '';
let spool: Spool;
let asked: string[] = [];
let refuses: string | null = null;
let warned = 0;

function ask(call: string): void {
  asked.push(call);
  if (refuses === call) throw Object.assign(new Error(call), { code: 'EIO' });
}

/** The real disk; what changes it is noted. */
const files: Files = {
  ...diskFiles,
  async open(at, how, mode) {
    const file = await diskFiles.open(at, how, mode);
    const changing = (call: 'append' | 'sync') => async (bytes?: Uint8Array) => {
      ask(call);
      return call === 'sync' ? file.sync() : file.append(bytes ?? new Uint8Array());
    };
    return { ...file, append: changing('append'), sync: changing('sync') };
  },
  async rename(from, to) {
    ask('rename');
    await diskFiles.rename(from, to);
  },
};

const event = (at: number): RuntimeEvent => ({
  ...{ event_id: String(at).padStart(32, '0'), schema_version: 1, event_kind: 'process_exec' },
  ...{ observed_at: '2026-01-01T00:00:00.000Z', severity: 'info', message: 'a process started' },
});
const append = (from: number, count: number) =>
  spool.append(
    Array.from({ length: count }, (_, step) => event(from + step)),
    from + count,
  );
const claimed = async (maxEvents = 10) => {
  const batch = await spool.claim('stream', { ...WHOLE, maxEvents });
  if (batch === null) throw new Error('nothing to claim');
  return batch;
};
/** What the call asks of the disk. */
async function asks(call: () => Promise<unknown>): Promise<string[]> {
  asked = [];
  await call();
  return asked;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-under-way-'));
  [asked, refuses, warned] = [[], null, 0];
  const opened = await openSpool({
    ...{ path: join(folder, 'events.jsonl'), files, clock, now: Date.now },
    ...{ random: () => randomBytes(16), eventsMax: CAP, compactionMinBytes: MIN_BYTES },
    ...{ retryMinMs: 1, retryMaxMs: 1 },
    logger: {
      ...silentLogger,
      warn: () => {
        warned += 1;
      },
    },
  });
  if (!opened.ok) throw new Error(opened.detail);
  spool = opened.spool;
});
afterEach(async () => {
  await spool.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a batch under way', () => {
  it('should be confirmed once, also when more came behind it', async () => {
    await append(0, 2);
    const { sequence } = await claimed();
    await append(2, 1);
    expect(await spool.acknowledge('stream', sequence)).toBe(true);
    expect(await spool.acknowledge('stream', sequence)).toBe(false);
    expect(spool.depth()).toBe(1);
  });

  it('should be confirmed once when the cap cut into it, its rest as seen', async () => {
    await append(0, CAP);
    const { sequence } = await claimed(4);
    await append(CAP, 1);
    expect(await spool.acknowledge('stream', sequence)).toBe(true);
    expect(await spool.acknowledge('stream', sequence)).toBe(false);
    expect(spool.depth()).toBe(3);
    expect(spool.ledger().total).toMatchObject({ seen: 3, spool_discarded: 1, console_refused: 0 });
  });

  it('should be confirmed for nothing when the cap took all of it', async () => {
    await append(0, CAP);
    const { sequence } = await claimed(2);
    expect(await append(CAP, 3)).toEqual({ ok: true, dropped: 3 });
    expect(await spool.acknowledge('stream', sequence)).toBe(true);
    expect(spool.depth()).toBe(CAP);
    expect(spool.ledger().total).toMatchObject({ seen: 0, spool_discarded: 3 });
  });

  it('should be full by its own size, not by where it begins', async () => {
    await append(0, 5);
    const { sequence, isFull } = await claimed(4);
    await spool.acknowledge('stream', sequence);
    expect([isFull, (await claimed(4)).isFull]).toEqual([true, false]);
  });
});

describe('a call of the spool', () => {
  it('should wait for the disk where a restart has to know of it, and only there', async () => {
    await append(0, 3);
    let batch = await claimed(1);
    await spool.release('stream', batch.sequence);
    expect(await asks(async () => (batch = await claimed(1)))).toEqual(['append', 'sync']);
    expect(await asks(() => claimed(1))).toEqual([]);
    let to: number | null = null;
    const renumber = async () => (to = await spool.renumber('stream', batch.sequence));
    expect(await asks(renumber)).toEqual(['append', 'sync']);
    expect(await asks(() => spool.release('stream', to ?? 0))).toEqual(['append']);
  });

  it('should tell hours that the Console has, once each', async () => {
    await spool.append([], 1, null, { engine_lost: 3 });
    const { hours } = spool.ledger();
    expect(hours).toHaveLength(1);
    expect(await asks(() => spool.confirmTold(hours))).toEqual(['append']);
    await spool.close();
    await spool.confirmTold(hours);
    expect(warned).toBe(0);
  });

  it('should know the stream by 32 hex digits', () => {
    expect(spool.streamId).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('the journal', () => {
  it('should stay small while the cap drops', async () => {
    for (let round = 0; round < 40; round += 1) await append(round, 1);
    expect(spool.status().journalBytes).toBeLessThan(3 * MIN_BYTES);
    expect(asked).toContain('rename');
  });

  it('should be written anew after a failed sync, and not after a failed append', async () => {
    const served = () => expect.poll(() => spool.status().state).toBe('ready');
    for (const [call, isRewritten] of [
      ['sync', true],
      ['append', false],
    ] as const) {
      asked = [];
      refuses = call;
      expect((await append(0, 1)).ok).toBe(false);
      refuses = null;
      await served();
      expect(asked.includes('rename')).toBe(isRewritten);
    }
  });
});
