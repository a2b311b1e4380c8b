// How long a Console believes what it knows, by its own clock, when nobody tells it anything any more.
import { describe, expect, it } from 'vitest';
import {
  PREVIOUS_CERTIFICATE_OVERLAP_MS,
  REVOCATION_VIEW_MAX_AGE_MS,
} from '../../machines/limits.ts';
import type { IdentityRecord, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { openIdentityCache } from './identity-cache.ts';

const NOW_MS = 1_800_000_000_000;
const RECORD: IdentityRecord = {
  fingerprint: 'f',
  sensorId: 's',
  nodeName: 'node',
  status: 'current',
  notAfterMs: NOW_MS + 86_400_000,
  supersededAtMs: null,
  sensorRevokedAtMs: null,
};

async function opened() {
  let clockMs = 0;
  let provenAtMs = 0;
  let watch: Parameters<SensorRegistry['watchIdentities']>[0] | null = null;
  const reads: PromiseWithResolvers<readonly IdentityRecord[]>[] = [];
  const loads: PromiseWithResolvers<readonly IdentityRecord[]>[] = [];
  const again: string[] = [];
  let isAway = false;
  const timers: (() => void)[] = [];
  const cache = await openIdentityCache({
    async revokeAgain(sensorId) {
      if (isAway) throw new Error('away');
      again.push(sensorId);
    },
    registry: {
      loadIdentities: () => {
        const load = Promise.withResolvers<readonly IdentityRecord[]>();
        if (watch === null || loads.length === 0) load.resolve([RECORD]);
        loads.push(load);
        return load.promise;
      },
      identitiesOf: () => {
        const read = Promise.withResolvers<readonly IdentityRecord[]>();
        reads.push(read);
        return read.promise;
      },
      watchIdentities: async (one) => {
        watch = one;
        return { provenAgoMs: () => clockMs - provenAtMs, stop: async () => undefined };
      },
    },
    overlapMs: PREVIOUS_CERTIFICATE_OVERLAP_MS,
    timers: {
      ...{ now: () => NOW_MS, clearTimeout: () => undefined },
      setTimeout: (run: () => void) => timers.push(run),
    },
    monotonicNow: () => clockMs,
    logger: silentLogger,
  });
  return {
    watch: watch as unknown as Parameters<SensorRegistry['watchIdentities']>[0],
    ...{ reads, loads, cache, again },
    setAway(away: boolean) {
      isAway = away;
    },
    async passTimers() {
      for (const run of timers.splice(0)) run();
      await new Promise(setImmediate);
    },
    pass: (ms: number) => {
      clockMs += ms;
    },
    prove: () => {
      provenAtMs = clockMs;
    },
    says: () => {
      const verdict = cache.judge('f', NOW_MS);
      return verdict.ok ? 'trusted' : verdict.code;
    },
  };
}

describe('the age of the view', () => {
  it('should count from the last proof, while nobody knows yet that the connection is dead', async () => {
    const { pass, prove, says } = await opened();
    pass(REVOCATION_VIEW_MAX_AGE_MS);
    expect(says()).toBe('trusted');
    pass(1);
    expect(says()).toBe('trust_unavailable');
    prove();
    expect(says()).toBe('trusted');
  });

  it('should count from the last proof when the loss is found later, until all is read again', async () => {
    const { pass, prove, says, watch, loads } = await opened();
    pass(3_000);
    watch.onLost();
    pass(REVOCATION_VIEW_MAX_AGE_MS - 3_000);
    expect(says()).toBe('trusted');
    prove();
    watch.onRestored();
    pass(1);
    expect(says()).toBe('trust_unavailable');
    loads.at(-1)?.resolve([RECORD]);
    await loads.at(-1)?.promise;
    await Promise.resolve();
    expect(says()).toBe('trusted');
  });

  it('should count for an announced change that cannot be read from the proof before it', async () => {
    const { pass, prove, says, watch, reads } = await opened();
    pass(3_000);
    watch.onChange('s');
    prove();
    pass(REVOCATION_VIEW_MAX_AGE_MS - 3_000);
    expect(says()).toBe('trusted');
    pass(1);
    expect(says()).toBe('trust_unavailable');
    reads.at(-1)?.resolve([{ ...RECORD, sensorRevokedAtMs: NOW_MS }]);
    await reads.at(-1)?.promise;
    await Promise.resolve();
    expect(says()).toBe('sensor_revoked');
  });
});

describe('a database that went back', () => {
  it('should be told again of a revocation that it forgot, as soon as it answers', async () => {
    const { cache, watch, loads, again, says, setAway, passTimers } = await opened();
    cache.markRevoked('s', NOW_MS);
    let rereads = 0;
    cache.onReread(() => {
      rereads += 1;
    });
    setAway(true);
    watch.onLost();
    watch.onRestored();
    loads.at(-1)?.resolve([RECORD]);
    await new Promise(setImmediate);
    expect(says()).toBe('sensor_revoked');
    expect(rereads).toBe(1);
    setAway(false);
    await passTimers();
    expect(again).toEqual(['s']);
  });

  it('should not be told of what it knows', async () => {
    const { cache, watch, loads, again } = await opened();
    cache.markRevoked('s', NOW_MS);
    watch.onLost();
    watch.onRestored();
    loads.at(-1)?.resolve([{ ...RECORD, sensorRevokedAtMs: NOW_MS }]);
    await new Promise(setImmediate);
    expect(again).toEqual([]);
  });
});
