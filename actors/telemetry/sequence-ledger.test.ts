import { describe, expect, it } from 'vitest';
import { SEQUENCE_LEDGERS_PER_SENSOR_MAX } from '../../machines/limits.ts';
import type { StoredRange } from '../../storage/ports/telemetry/event-store.ts';
import { type BatchName, createSequenceLedgers } from './sequence-ledger.ts';

const SENSOR = 'sensor';
const nameOf = (sequence: number, streamId = 'a'): BatchName => ({
  sensorId: SENSOR,
  streamId,
  channel: 'stream',
  sequence,
});

/** An event store that answers from a map and counts how often it is asked. */
function storeOf(ranges: readonly StoredRange[], digests: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  return {
    asked,
    storedRanges: async () => ranges,
    async batchDigest({ streamId, sequence }: BatchName) {
      asked.push(`${streamId}/${sequence}`);
      return digests[`${streamId}/${sequence}`] ?? null;
    },
  };
}

describe('sequence ledgers', () => {
  it('should know after a restart what is stored, and ask the store only for its content', async () => {
    const range = { sensorId: SENSOR, streamId: 'a', channel: 'stream' as const };
    const store = storeOf(
      [
        { ...range, first: 4, last: 6 },
        { ...range, first: 1, last: 2 },
      ],
      {
        'a/5': 'five',
      },
    );
    const ledgers = createSequenceLedgers(store);
    await ledgers.load();
    expect(ledgers.standingOf({ ...nameOf(3), digest: 'x' })).toBe('unseen');
    expect(ledgers.standingOf({ ...nameOf(7), digest: 'x' })).toBe('unseen');
    expect(store.asked).toEqual([]);
    expect(await ledgers.standingOf({ ...nameOf(5), digest: 'five' })).toBe('repeat');
    expect(await ledgers.standingOf({ ...nameOf(5), digest: 'other' })).toBe('conflict');
    expect(ledgers.highest({ ...nameOf(1) })).toBe(6);
    expect(ledgers.gapsOf(SENSOR)).toEqual({ missing: 1, lost: 0 });
  });

  it('should not take what outlived its retention for a gap, nor for stored', async () => {
    const range = { sensorId: SENSOR, streamId: 'a', channel: 'stream' as const };
    const store = storeOf([
      { ...range, first: 5_001, last: 5_010 },
      { ...range, first: 5_012, last: 5_012 },
    ]);
    const ledgers = createSequenceLedgers(store);
    await ledgers.load();
    expect(ledgers.gapsOf(SENSOR)).toEqual({ missing: 1, lost: 0 });
    expect(await ledgers.standingOf({ ...nameOf(5_000), digest: 'x' })).toBe('unseen');
    expect(store.asked).toEqual(['a/5000']);
    ledgers.stored({ ...nameOf(5_000), digest: 'x' });
    ledgers.stored({ ...nameOf(5_011), digest: 'x' });
    expect(ledgers.gapsOf(SENSOR)).toEqual({ missing: 0, lost: 0 });
    expect(ledgers.standingOf({ ...nameOf(5_000), digest: 'x' })).toBe('repeat');
  });

  it('should tell recent repeats from conflicts without asking', () => {
    const store = storeOf([]);
    const ledgers = createSequenceLedgers(store);
    ledgers.stored({ ...nameOf(1), digest: 'one' });
    expect(ledgers.standingOf({ ...nameOf(1), digest: 'one' })).toBe('repeat');
    expect(ledgers.standingOf({ ...nameOf(1), digest: 'two' })).toBe('conflict');
    expect(store.asked).toEqual([]);
  });

  it('should become unsure, never wrong, when a sensor uses too many streams', async () => {
    const store = storeOf([], { 's0/1': 'one' });
    const ledgers = createSequenceLedgers(store);
    for (let n = 0; n <= SEQUENCE_LEDGERS_PER_SENSOR_MAX; n += 1) {
      ledgers.stored({ ...nameOf(1, `s${n}`), digest: 'one' });
    }
    expect(await ledgers.standingOf({ ...nameOf(1, 's0'), digest: 'one' })).toBe('repeat');
    expect(await ledgers.standingOf({ ...nameOf(2, 's0'), digest: 'two' })).toBe('unseen');
    expect(store.asked).toEqual(['s0/1', 's0/2']);
  });
});
