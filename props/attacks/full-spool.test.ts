// An outage that is longer than the spool: one event more than it holds, on a real disk, then drained into a Console that
// comes back, with its store failing on the way. invariant: I5, I6; decision: D6, D13
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import {
  DRAIN_BODY_TARGET_BYTES,
  SPOOL_DRAIN_PER_HEARTBEAT,
  SPOOL_EVENTS_MAX,
} from '../../machines/limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { openSpool } from '../../sensor/spool/spool.ts';
import type { Spool } from '../../sensor/spool/spool-port.ts';
import { diskFiles } from '../../sensor/state-directory/file-port.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { eventOf, heartbeatBody, type Identity, makeKeys, nth } from './peer.ts';

const CHUNK = 5_000;
const EVENTS_PER_BATCH = 5_000;
const BEATS = 5;
const folder = mkdtempSync(join(tmpdir(), 'full-spool-'));
const clock = createWheelClock();
const idOf = (n: number) => eventOf(n).event_id;
const spooled = (n: number): RuntimeEvent => ({
  ...eventOf(n),
  event_kind: 'process_exec',
  severity: 'info',
});
let console: ConsoleUnderTest;
let identity: Identity;

beforeAll(async () => {
  const [started, keys] = await Promise.all([startConsole(), makeKeys(1)]);
  console = started;
  identity = await console.enroll('node', nth(keys, 0));
});
afterAll(async () => {
  clock.stop();
  await console.stop();
  rmSync(folder, { recursive: true, force: true });
  await removeSharedKeys();
});

async function fill(): Promise<Spool> {
  const opened = await openSpool({
    path: join(folder, 'events.jsonl'),
    files: diskFiles,
    clock,
    now: Date.now,
    logger: silentLogger,
    random: () => new Uint8Array(randomBytes(16)),
  });
  if (!opened.ok) throw new Error(opened.detail);
  for (let from = 0; from <= SPOOL_EVENTS_MAX; from += CHUNK) {
    const count = Math.min(CHUNK, SPOOL_EVENTS_MAX + 1 - from);
    const events = Array.from({ length: count }, (_, step) => spooled(from + step));
    await opened.spool.append(events, from);
  }
  return opened.spool;
}

async function drainBatch(spool: Spool): Promise<boolean> {
  const limits = { maxEvents: EVENTS_PER_BATCH, maxBytes: DRAIN_BODY_TARGET_BYTES };
  const batch = await spool.claim('batch', limits);
  if (batch === null) return false;
  const headers = {
    'content-type': 'application/x-ndjson',
    'content-encoding': 'zstd',
    'x-service-stream': spool.streamId,
    'x-service-sequence': String(batch.sequence),
  };
  const body = zstdCompressSync(Buffer.from(`${batch.lines.join('\n')}\n`));
  const answer = await console.ask(identity, '/sensors/events', body, { headers });
  if (answer.status === 202) {
    expect(answer.body).toEqual({ acknowledged_sequence: batch.sequence });
    await spool.acknowledge('batch', batch.sequence);
  }
  return true;
}

async function beatOnce(spool: Spool): Promise<void> {
  const limits = { maxEvents: SPOOL_DRAIN_PER_HEARTBEAT, maxBytes: DRAIN_BODY_TARGET_BYTES };
  const batch = await spool.claim('heartbeat', limits);
  if (batch === null) throw new Error('nothing to send');
  const beat = heartbeatBody(batch.sequence, []);
  const body = {
    ...beat,
    stream_id: spool.streamId,
    events: batch.events,
    pipeline: { ...beat.pipeline, discarded: spool.discarded() },
  };
  const answer = await console.ask(identity, '/sensors/heartbeat', body);
  expect(answer.body['acknowledged_sequence']).toBe(batch.sequence);
  await spool.acknowledge('heartbeat', batch.sequence);
}

describe('attack 23: 100,001 events without a Console', () => {
  it('should arrive but for the oldest, which is counted, in the order they were seen', async () => {
    const spool = await fill();
    expect(spool.status()).toMatchObject({ depth: SPOOL_EVENTS_MAX, discarded: 1 });
    for (let n = 0; n < BEATS; n += 1) await beatOnce(spool);
    expect(spool.depth()).toBe(SPOOL_EVENTS_MAX - BEATS * SPOOL_DRAIN_PER_HEARTBEAT);
    const row = await console.stores.relational.sensors.getSensor(identity.sensorId);
    expect(row?.facts).toMatchObject({ pipeline: { discarded: 1 } });
    // Neither a refusal nor an answer that lies about a stored batch costs or doubles anything.
    const modes = ['work', 'fail', 'work', 'fail_after', 'work'] as const;
    let turn = 0;
    for (let goesOn = true; goesOn; turn += 1) {
      await console.stores.events.setMode(modes[turn] ?? 'work');
      goesOn = await drainBatch(spool);
    }
    expect(spool.depth()).toBe(0);
    const { sensorId } = identity;
    const { events } = console.stores.events;
    expect(await events.countDistinct({ sensorId })).toBe(SPOOL_EVENTS_MAX);
    const arrived = console.batchesOf(sensorId);
    for (const channel of ['heartbeat', 'batch'] as const) {
      const ids = arrived
        .filter((one) => one.channel === channel)
        .flatMap((one) => one.events.map((event) => event.event_id));
      expect(ids).toEqual(ids.toSorted());
    }
    const first = arrived[0]?.events[0]?.event_id;
    expect([first, idOf(0)]).toEqual([idOf(1), '0'.repeat(32)]);
    await spool.close();
  });
});
