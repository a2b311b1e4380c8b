// A spool whose disk refuses, and calls that name the wrong batch: each is told what happened, and nothing is lost by it.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Logger } from '../../actors/runtime/logger.ts';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { diskFiles, type Files } from '../state-directory/file-port.ts';
import { openSpool, type SpoolOptions } from './spool.ts';
import type { Spool } from './spool-port.ts';

type Call = 'open' | 'append' | 'sync' | 'rename';

const WHOLE = { maxEvents: 10, maxBytes: 1_000_000 };
const clock = createWheelClock();
let folder = '';
let path = '';
let refused: Partial<Record<Call, string>> = {};
let asked: Call[] = [];
let warned: unknown[][] = [];

const logger: Logger = { ...silentLogger, warn: (...words: unknown[]) => void warned.push(words) };

async function ask(call: Call): Promise<void> {
  asked.push(call);
  const code = refused[call];
  if (code !== undefined) throw Object.assign(new Error(`${call} refused`), { code });
}

/** The real disk, but for what is refused. */
const files: Files = {
  ...diskFiles,
  async open(at, how, mode) {
    await ask('open');
    const file = await diskFiles.open(at, how, mode);
    return {
      ...file,
      append: (bytes) => ask('append').then(() => file.append(bytes)),
      sync: () => ask('sync').then(() => file.sync()),
    };
  },
  rename: (from, to) => ask('rename').then(() => diskFiles.rename(from, to)),
};

const opening = (more: Partial<SpoolOptions> = {}) =>
  openSpool({
    ...{ path, files, clock, now: Date.now, logger, random: () => randomBytes(16) },
    ...{ retryMinMs: 1, retryMaxMs: 1, ...more },
  });

async function opened(more: Partial<SpoolOptions> = {}): Promise<Spool> {
  const result = await opening(more);
  if (!result.ok) throw new Error(result.detail);
  return result.spool;
}

const event = (at: number): RuntimeEvent => ({
  ...{ event_id: String(at).padStart(32, '0'), schema_version: 1, event_kind: 'process_exec' },
  ...{ observed_at: '2026-01-01T00:00:00.000Z', severity: 'info', message: 'a process started' },
});
const numbers = (events: readonly RuntimeEvent[] = []) => events.map(({ event_id }) => +event_id);
const served = (spool: Spool) => expect.poll(() => spool.status().state).toBe('ready');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-refusals-'));
  path = join(folder, 'events.jsonl');
  [refused, asked, warned] = [{}, [], []];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a disk that refuses', () => {
  it.each([
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_full'],
    ['EIO', 'disk_refuses'],
  ])('should be named by its %s: %s', async (code, reason) => {
    refused = { open: code };
    expect(await opening()).toEqual({ ok: false, reason, detail: 'Error: open refused' });
    expect(warned).toEqual([[{ code }, 'the spool cannot be read']]);
    refused = {};
    const spool = await opened();
    refused = { append: code };
    warned = [];
    expect(await spool.append([event(1)], 1)).toEqual({ ok: false, reason });
    expect(warned).toEqual([[{ code }, 'the disk refused the spool']]);
    await spool.close();
  });

  it('should be asked again, and then serve what it held', async () => {
    const spool = await opened({ retryMinMs: 60_000, retryMaxMs: 60_000 });
    await spool.append([event(1)], 1);
    refused = { append: 'EIO' };
    await spool.append([event(2)], 2);
    expect(spool.status()).toMatchObject({ state: 'failing', depth: 1 });
    expect(await spool.append([event(3)], 3)).toEqual({ ok: false, reason: 'disk_refuses' });
    expect(await spool.claim('stream', WHOLE)).toBeNull();
    await spool.close();
    refused = {};
    const again = await opened();
    expect(numbers((await again.claim('stream', WHOLE))?.events)).toEqual([1]);
    await again.close();
  });

  it('should not make a batch that it did not keep, and leave an open one open', async () => {
    const spool = await opened();
    await spool.append([event(1), event(2)], 1);
    refused = { append: 'EIO' };
    expect(await spool.claim('stream', WHOLE)).toBeNull();
    refused = {};
    await served(spool);
    const batch = await spool.claim('stream', { ...WHOLE, maxEvents: 1 });
    const sequence = batch?.sequence ?? 0;
    for (const call of ['acknowledge', 'release', 'renumber'] as const) {
      refused = { append: 'EIO' };
      expect(await spool[call]('stream', sequence)).toBe(call === 'renumber' ? null : false);
      refused = {};
      await served(spool);
      expect(spool.openClaim('stream')).toEqual({ sequence, events: 1 });
    }
    expect(spool.depth()).toBe(2);
    await spool.close();
  });
});

describe('a call that names another batch', () => {
  it('should change nothing', async () => {
    const spool = await opened();
    await spool.append([event(1), event(2)], 1);
    const { sequence = 0 } = (await spool.claim('stream', WHOLE)) ?? {};
    const before = spool.status();
    for (const [channel, other] of [
      ['stream', sequence + 1],
      ['batch', sequence],
    ] as const) {
      expect(await spool.acknowledge(channel, other)).toBe(false);
      expect(await spool.refuse(channel, other)).toBe(false);
      expect(await spool.release(channel, other)).toBe(false);
      expect(await spool.renumber(channel, other)).toBeNull();
    }
    expect(spool.openClaim('stream')).toEqual({ sequence, events: 2 });
    expect(spool.openClaim('batch')).toBeNull();
    expect(spool.status()).toEqual(before);
    await spool.close();
  });

  it('should not be answered once the spool is closed, which may be said twice', async () => {
    const spool = await opened();
    await spool.append([event(1)], 1);
    const { sequence = 0 } = (await spool.claim('stream', WHOLE)) ?? {};
    await spool.close();
    await spool.close();
    expect(spool.status().state).toBe('closed');
    expect(await spool.append([event(2)], 2)).toEqual({ ok: false, reason: 'closed' });
    expect(await spool.claim('stream', WHOLE)).toBeNull();
    expect(await spool.acknowledge('stream', sequence)).toBe(false);
    expect(await spool.release('stream', sequence)).toBe(false);
    expect(await spool.renumber('stream', sequence)).toBeNull();
  });

  it('should append nothing that was read from another cursor than its own', async () => {
    const spool = await opened();
    expect((await spool.append([event(1)], { at: 1 }, null)).ok).toBe(true);
    expect(await spool.append([event(2)], { at: 2 }, { at: 0 })).toEqual({
      ...{ ok: false, reason: 'cursor_moved' },
    });
    expect((await spool.append([event(2)], { at: 2 }, { at: 1 })).ok).toBe(true);
    expect([spool.depth(), spool.cursor()]).toEqual([2, { at: 2 }]);
    await spool.close();
  });
});

describe('what the journal costs', () => {
  it('should be no write for a confirmation of nothing, and no sync for an acknowledgment', async () => {
    const spool = await opened();
    await spool.append([event(1)], 1);
    const { sequence = 0 } = (await spool.claim('stream', WHOLE)) ?? {};
    asked = [];
    await spool.confirmTold([]);
    expect(asked).toEqual([]);
    await spool.acknowledge('stream', sequence);
    expect(asked).toEqual(['append']);
    await spool.close();
  });

  it('should be no rewrite while the dead part is small, or smaller than what lives', async () => {
    const spool = await opened({ compactionMinBytes: 1_000 });
    const claimed = async (count: number) => {
      const batch = await spool.claim('stream', { ...WHOLE, maxEvents: count });
      await spool.acknowledge('stream', batch?.sequence ?? 0);
    };
    asked = [];
    await spool.append([event(0)], 0);
    await claimed(1);
    expect(asked).not.toContain('rename');
    await spool.append(
      Array.from({ length: 40 }, (_, at) => event(at + 1)),
      1,
    );
    await claimed(10);
    expect(asked).not.toContain('rename');
    for (let round = 0; round < 2; round += 1) await claimed(10);
    expect(asked).toContain('rename');
    const held = Buffer.byteLength(JSON.stringify(event(1))) * 10;
    expect(spool.status().journalBytes).toBeGreaterThan(held);
    expect((await readFile(path)).length).toBe(spool.status().journalBytes);
    expect(numbers((await spool.claim('stream', WHOLE))?.events)).toEqual(
      Array.from({ length: 10 }, (_, at) => 31 + at),
    );
    await spool.close();
  });

  it('should be no second rewrite at once where there was no room for the first', async () => {
    const spool = await opened({ compactionMinBytes: 500 });
    await spool.append(
      Array.from({ length: 10 }, (_, at) => event(at)),
      1,
    );
    refused = { rename: 'ENOSPC' };
    const { sequence = 0 } = (await spool.claim('stream', WHOLE)) ?? {};
    expect(await spool.acknowledge('stream', sequence)).toBe(true);
    expect(spool.status().state).toBe('failing');
    await served(spool);
    asked = [];
    await spool.append([event(11)], 2);
    expect(asked).not.toContain('rename');
    refused = {};
    await spool.append(
      Array.from({ length: 4 }, (_, at) => event(12 + at)),
      3,
    );
    const next = await spool.claim('stream', WHOLE);
    expect(await spool.acknowledge('stream', next?.sequence ?? 0)).toBe(true);
    expect(asked).toContain('rename');
    expect(spool.status()).toMatchObject({ state: 'ready', depth: 0 });
    await spool.close();
  });
});
