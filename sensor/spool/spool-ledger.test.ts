// The ledger on a real disk: what was settled is settled after a restart, once, and under a clock that went back.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { diskFiles } from '../state-directory/file-port.ts';
import { openSpool } from './spool.ts';
import type { Spool } from './spool-port.ts';

const CAP = 8;
const HOUR_MS = 3_600_000;
const WHOLE = { maxEvents: 100, maxBytes: 1_000_000 };
const clock = createWheelClock();
let folder = '';
let nowMs = 0;
let spool: Spool;

async function open(): Promise<void> {
  const opened = await openSpool({
    path: join(folder, 'events.jsonl'),
    files: diskFiles,
    clock,
    now: () => nowMs,
    logger: silentLogger,
    random: () => randomBytes(16),
    eventsMax: CAP,
  });
  if (!opened.ok) throw new Error(opened.detail);
  spool = opened.spool;
}

function events(count: number): RuntimeEvent[] {
  return Array.from({ length: count }, (_, at) => ({
    event_id: `${at}`.padStart(32, '0'),
    schema_version: 1,
    observed_at: '2026-01-01T00:00:00.000Z',
    event_kind: 'process_exec',
    severity: 'info',
    message: 'a program ran',
  }));
}

async function restart(): Promise<void> {
  await spool.close();
  await open();
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-ledger-'));
  nowMs = 10 * HOUR_MS;
  await open();
});
afterEach(async () => {
  await spool.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the ledger of a spool', () => {
  it('should be after a restart what it was before', async () => {
    await spool.append(events(6), 1, null, { reader_skipped: 2 });
    nowMs += HOUR_MS;
    await spool.append(events(5), 2);
    const batch = await spool.claim('stream', { ...WHOLE, maxEvents: 4 });
    await spool.acknowledge('stream', batch?.sequence ?? 0);
    const refused = await spool.claim('batch', { ...WHOLE, maxEvents: 1 });
    await spool.refuse('batch', refused?.sequence ?? 0);
    const before = spool.ledger();
    expect(before.hours).toMatchObject([
      { hour: 10, reader_skipped: 2, seen: 0 },
      { hour: 11, reader_skipped: 0, spool_discarded: 3, seen: 4, console_refused: 1 },
    ]);
    await restart();
    expect(spool.ledger()).toEqual(before);
    await restart();
    expect(spool.ledger()).toEqual(before);
    expect(spool.depth()).toBe(3);
  });

  it('should know after a restart what the Console has', async () => {
    await spool.append([], 1, null, { engine_lost: 3 });
    await spool.confirmTold(spool.ledger().hours);
    nowMs += HOUR_MS;
    await spool.append([], 2, 1, { engine_lost: 1 });
    expect(spool.ledger().told).toMatchObject([{ hour: 10, engine_lost: 3 }]);
    const before = spool.ledger();
    await restart();
    expect(spool.ledger()).toEqual(before);
  });

  it('should count in the hour the clock tells now, also when it went back', async () => {
    await spool.append([], 1, null, { engine_lost: 1 });
    nowMs -= 5 * HOUR_MS;
    await spool.append([], 2, 1, { engine_lost: 2 });
    expect(spool.ledger().hours.map(({ hour, engine_lost }) => [hour, engine_lost])).toEqual([
      [10, 1],
      [5, 2],
    ]);
  });

  it('should count what the disk damaged as lost in the spool', async () => {
    await spool.append(events(3), 1);
    await spool.append(events(1), 2);
    await spool.close();
    const path = join(folder, 'events.jsonl');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(`"n":1,"event":{"event_id"`, `"n":1,"event":{"event_iD"`));
    await open();
    expect(spool.depth()).toBe(3);
    expect(spool.ledger().total).toMatchObject({ seen: 0, spool_discarded: 1 });
  });
});
