// The reference fakes keep the same promises as the real stores.
import { describe, expect, it } from 'vitest';
import { createMemoryEvents } from '../../storage/memory/memory-events.ts';
import { createMemoryRegistry } from '../../storage/memory/memory-registry.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { batch } from './samples.ts';
import { sensorRegistryContract } from './sensor-registry.contract.ts';

describe('sensor registry in memory', () => {
  const memory = createMemoryRegistry();
  sensorRegistryContract(() => memory.sensors);
});

describe('event store in memory', () => {
  const memory = createMemoryEvents(1_000);
  eventStoreContract(() => memory);

  it('should say no and keep or lose the batch as it was told', async () => {
    const told = createMemoryEvents(1_000);
    const one = batch();
    told.setMode('fail');
    expect(await told.sink.append(one)).toEqual({ ok: false, retryAfterMs: 1_000 });
    told.setMode('work');
    expect(await told.events.batchDigest(one)).toBeNull();
    told.setMode('fail_after');
    expect(await told.sink.append(one)).toMatchObject({ ok: false });
    expect(await told.events.batchDigest(one)).toBe(one.digest);
  });
});
