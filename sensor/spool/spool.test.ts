// A full spool on the real disk while batches are under way.
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { diskFiles } from '../state-directory/file-port.ts';
import { openSpool } from './spool.ts';
import type { Spool } from './spool-port.ts';

const CAP = 20;
const WHOLE = { maxEvents: 10, maxBytes: 1_000_000 };
const clock = createWheelClock();
let folder: string;
let spool: Spool;

const event = (at: number): RuntimeEvent => ({
  event_id: String(at).padStart(32, '0'),
  schema_version: 1,
  observed_at: '2026-01-01T00:00:00.000Z',
  event_kind: 'process_exec',
  severity: 'info',
  message: 'a process started',
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'));
  const path = join(folder, 'events.jsonl');
  const opened = await openSpool({
    path,
    files: diskFiles,
    clock,
    now: Date.now,
    logger: silentLogger,
    random: () => randomBytes(16),
    eventsMax: CAP,
  });
  if (!opened.ok) throw new Error(opened.detail);
  spool = opened.spool;
});
afterEach(async () => {
  await spool.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a full spool', () => {
  it('should empty although it grows with every round trip', async () => {
    let made = 0;
    const append = (count: number) =>
      spool.append(
        Array.from({ length: count }, () => event(made++)),
        made,
      );
    await append(CAP);
    for (let round = 0; round < 8; round += 1) {
      const batch = await spool.claim('stream', WHOLE);
      if (batch === null) break;
      await append(1);
      expect(await spool.acknowledge('stream', batch.sequence)).toBe(true);
    }
    expect(spool.depth()).toBeLessThanOrEqual(1);
  });

  it('should number what is left of a cut batch anew when no confirmation came', async () => {
    await spool.append(
      Array.from({ length: CAP }, (_, at) => event(at)),
      1,
    );
    const first = await spool.claim('stream', WHOLE);
    await spool.append([event(CAP)], 2);
    const second = await spool.claim('stream', WHOLE);
    expect(second?.sequence).toBe((first?.sequence ?? 0) + 1);
    expect(second?.events[0]?.event_id).toBe(event(1).event_id);
    expect(await spool.acknowledge('stream', first?.sequence ?? 0)).toBe(false);
  });
});

describe('a batch', () => {
  it('should be full when it holds as many events, or as many bytes, as allowed', async () => {
    const events = Array.from({ length: 4 }, (_, at) => event(at));
    await spool.append(events, 1);
    const bytes = Buffer.byteLength(JSON.stringify(event(0)));
    const claims = [
      { maxEvents: 2, maxBytes: 1_000_000 },
      { maxEvents: 10, maxBytes: bytes },
      { maxEvents: 10, maxBytes: 1_000_000 },
    ];
    const found: unknown[] = [];
    for (const limits of claims) {
      const batch = await spool.claim('stream', limits);
      found.push([batch?.lines.length, batch?.isFull]);
      await spool.acknowledge('stream', batch?.sequence ?? 0);
    }
    expect(found).toEqual([
      [2, true],
      [1, true],
      [1, false],
    ]);
  });

  it('should come from the disk in order, without the lines that were damaged there', async () => {
    for (let at = 0; at < 9; at += 3)
      await spool.append(
        [0, 1, 2].map((step) => event(at + step)),
        at,
      );
    const path = join(folder, 'events.jsonl');
    for (const at of [1, 4]) await damage(path, event(at).event_id);
    const batch = await spool.claim('stream', WHOLE);
    expect(batch?.events.map(({ event_id }) => Number(event_id))).toEqual([0, 2, 3, 5, 6, 7, 8]);
  });
});

/** Changes one byte of the line that holds this text. */
async function damage(path: string, text: string): Promise<void> {
  const at = (await readFile(path)).indexOf(text);
  const file = await open(path, 'r+');
  await file.write('x', at);
  await file.close();
}
