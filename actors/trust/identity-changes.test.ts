// What the cache of identities does with changes: its own, those it hears of, and those it cannot read at once.
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { IDENTITY_CACHE_REFRESH_MS } from '../../machines/limits.ts';
import type { IdentityRecord, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { openIdentityCache } from './identity-cache.ts';

type Watch = Parameters<SensorRegistry['watchIdentities']>[0];

const NOW_MS = 1_800_000_000_000;
const record = (sensorId: string, more: Partial<IdentityRecord> = {}): IdentityRecord => ({
  ...{ fingerprint: `of ${sensorId}`, sensorId, nodeName: 'node', status: 'current' },
  ...{ notAfterMs: NOW_MS + 86_400_000, supersededAtMs: null, sensorRevokedAtMs: null },
  ...more,
});

/** A database whose answers come when a test says so; its timers are run by hand. */
async function opened(atFirst: readonly IdentityRecord[]) {
  const asked: { what: string; answer: PromiseWithResolvers<readonly IdentityRecord[]> }[] = [];
  const timers: { run: () => void; delayMs: number; isCleared: boolean }[] = [];
  const warned: unknown[][] = [];
  const heard: string[] = [];
  let watch: Watch | null = null;
  let isWatching = true;
  let isOpen = false;
  const ask = (what: string) => {
    const answer = Promise.withResolvers<readonly IdentityRecord[]>();
    if (!isOpen) answer.resolve(atFirst);
    asked.push({ what, answer });
    return answer.promise;
  };
  const cache = await openIdentityCache({
    registry: {
      loadIdentities: () => ask('all'),
      identitiesOf: (sensorId) => ask(sensorId),
      watchIdentities: async (one) => {
        watch = one;
        return {
          provenAgoMs: () => 0,
          stop: async () => {
            isWatching = false;
          },
        };
      },
    },
    revokeAgain: () => Promise.reject(new Error('nothing was forgotten')),
    overlapMs: 1_000,
    timers: {
      now: () => NOW_MS,
      setTimeout: (run, delayMs) => timers.push({ run, delayMs, isCleared: false }) - 1,
      clearTimeout: (at) => {
        const timer = timers[at as number];
        if (timer !== undefined) timer.isCleared = true;
      },
    },
    monotonicNow: () => 0,
    logger: { ...silentLogger, warn: (...words: unknown[]) => void warned.push(words) },
  });
  isOpen = true;
  asked.length = 0;
  const end = cache.subscribe((sensorId) => heard.push(sensorId));
  const settled = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return {
    ...{ cache, asked, timers, warned, heard, end },
    watch: watch as unknown as Watch,
    isWatching: () => isWatching,
    async answer(records: readonly IdentityRecord[], at = asked.length - 1) {
      asked[at]?.answer.resolve(records);
      await settled();
    },
    async fail(at = asked.length - 1) {
      asked[at]?.answer.reject(new Error('away'));
      await settled();
    },
    says: (sensorId: string) => {
      const verdict = cache.judge(`of ${sensorId}`, NOW_MS);
      return verdict.ok ? verdict.identity.sensorId : verdict.code;
    },
  };
}

describe('the cache of identities', () => {
  it('should hold the whole fleet at first, and judge each certificate as it is', async () => {
    const { cache, says } = await opened([record('a'), record('b', { notAfterMs: NOW_MS - 1 })]);
    expect([cache.size(), says('a'), says('b'), says('c')]).toEqual([
      ...[2, 'a', 'certificate_expired', 'certificate_unknown'],
    ]);
    expect(cache.judge(null, NOW_MS)).toMatchObject({ code: 'client_certificate_required' });
    expect(cache.identitiesOf('a')).toEqual([record('a')]);
    expect(cache.identitiesOf('c')).toEqual([]);
  });

  it('should replace what it knew of a sensor, tell who listens, and ask the database too', async () => {
    const { cache, asked, heard, end, answer, says } = await opened([record('a'), record('b')]);
    cache.apply('a', [record('a', { fingerprint: 'new' })]);
    expect([says('a'), says('b'), cache.size()]).toEqual(['certificate_unknown', 'b', 2]);
    expect(heard).toEqual(['a']);
    expect(asked.map(({ what }) => what)).toEqual(['a']);
    end();
    await answer([]);
    expect(heard).toEqual(['a']);
    expect([cache.size(), cache.identitiesOf('a')]).toEqual([1, []]);
  });

  it('should take no revocation back, whoever says that there is none', async () => {
    const { cache, answer, says, heard } = await opened([record('a'), record('b')]);
    cache.markRevoked('a', 7);
    cache.markRevoked('a', 9);
    cache.markRevoked('of later', 3);
    expect([says('a'), says('b'), heard]).toEqual(['sensor_revoked', 'b', ['a', 'a', 'of later']]);
    expect(cache.identitiesOf('a')).toEqual([record('a', { sensorRevokedAtMs: 7 })]);
    cache.apply('a', [record('a')]);
    await answer([record('a')]);
    expect(says('a')).toBe('sensor_revoked');
    cache.apply('of later', [record('of later')]);
    expect(says('of later')).toBe('sensor_revoked');
  });

  it('should ask again when an answer may be older than what it heard meanwhile', async () => {
    const { cache, watch, asked, answer, says } = await opened([record('a')]);
    watch.onChange('a');
    watch.onChange('a');
    expect(asked).toHaveLength(2);
    await answer([record('a', { fingerprint: 'old' })], 0);
    expect([asked.length, cache.identitiesOf('a')]).toEqual([3, [record('a')]]);
    await answer([record('a', { sensorRevokedAtMs: 1 })], 2);
    expect(says('a')).toBe('sensor_revoked');
  });

  it('should try again later what it could not read, until it is stopped', async () => {
    const { cache, watch, asked, timers, warned, fail, answer, isWatching } = await opened([]);
    watch.onChange('a');
    await fail();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([IDENTITY_CACHE_REFRESH_MS]);
    expect(warned).toEqual([
      [{ sensorId: 'a', error: 'Error: away' }, 'an identity could not be read'],
    ]);
    timers[0]?.run();
    expect(asked.map(({ what }) => what)).toEqual(['a', 'a']);
    await fail();
    await cache.stop();
    expect([timers.map(({ isCleared }) => isCleared), isWatching()]).toEqual([
      ...[[false, true], false],
    ]);
    timers[1]?.run();
    await answer([record('a')]);
    await fail();
    expect([cache.size(), timers.length]).toEqual([0, 2]);
  });
});

describe('notifications that flow again', () => {
  it('should lead to a reading of all: who is gone goes, who is new comes', async () => {
    const { cache, watch, asked, answer, heard, warned } = await opened([record('a'), record('b')]);
    watch.onLost();
    expect(warned).toEqual([['notifications of revocations stopped']]);
    watch.onRestored();
    expect(asked.map(({ what }) => what)).toEqual(['all']);
    await answer([record('b', { fingerprint: 'new' }), record('c')]);
    expect([cache.size(), heard.toSorted()]).toEqual([2, ['a', 'b', 'c']]);
    expect(cache.identitiesOf('a')).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('should not lead to an older answer over a change that was made meanwhile', async () => {
    const { cache, watch, asked, answer, says } = await opened([record('a'), record('b')]);
    watch.onRestored();
    cache.apply('a', [record('a', { sensorRevokedAtMs: 5 })]);
    cache.apply('new', [record('new')]);
    await answer([record('a'), record('b')], 0);
    expect([says('a'), says('b'), says('new')]).toEqual(['sensor_revoked', 'b', 'new']);
    // Each is asked for by its change, and again since the whole was read beside it.
    expect(asked.map(({ what }) => what)).toEqual(['all', 'a', 'new', 'a', 'new']);
  });

  it('should be read again later where that failed, and an overtaken reading counts no more', async () => {
    const { cache, watch, asked, timers, warned, fail, answer } = await opened([record('a')]);
    watch.onRestored();
    await fail();
    expect(warned).toEqual([[{ error: 'Error: away' }, 'the identities could not be read']]);
    timers[0]?.run();
    expect(asked.map(({ what }) => what)).toEqual(['all', 'all']);
    watch.onLost();
    await answer([], 1);
    expect(cache.size()).toBe(1);
    watch.onRestored();
    await fail();
    watch.onLost();
    timers[1]?.run();
    expect(asked).toHaveLength(3);
    await cache.stop();
    watch.onRestored();
    await answer([]);
    expect(cache.size()).toBe(1);
  });
});
