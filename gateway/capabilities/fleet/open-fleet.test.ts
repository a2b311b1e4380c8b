// Two Consoles on one database: what one of them does to a sensor, the other one's actor learns from the notifications;
// and what this one did without hearing the answer.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { createAuthenticate } from '../../../actors/trust/renewal.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { IDENTITY_CACHE_REFRESH_MS } from '../../../machines/limits.ts';
import { certificate, enrollment, NOW_MS } from '../../../props/contracts/samples.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import { type Fleet, openFleet } from './open-fleet.ts';

const open: Fleet[] = [];
afterEach(async () => {
  for (const fleet of open.splice(0)) await fleet.close();
});

/** A Console's fleet; its timers of the stores run when the test says so. */
async function fleetOn(registry: SensorRegistry) {
  const waiting = new Set<{ readonly run: () => void; readonly delayMs: number }>();
  const fleet = await openFleet({
    registry,
    events: { insertTransitions: async () => undefined },
    clock: createWheelClock(),
    time: {
      now: () => NOW_MS,
      monotonicNow: () => 0,
      setTimeout(run, delayMs) {
        const timer = { run, delayMs };
        waiting.add(timer);
        return timer;
      },
      clearTimeout: (timer) => void waiting.delete(timer as never),
    },
    intervals: DEFAULT_INTERVALS,
    logger: silentLogger,
  });
  open.push(fleet);
  return {
    ...fleet,
    delays: () => [...waiting].map((one) => one.delayMs),
    runTimers() {
      for (const timer of [...waiting]) {
        waiting.delete(timer);
        timer.run();
      }
    },
    knows(sensorId: string) {
      const view = fleet.directory.ask(sensorId);
      if (view === 'absent') return 'absent';
      const { notAfterMs, revokedAtMs } = view.snapshot.context;
      return { notAfterMs, revokedAtMs, trust: view.snapshot.value.trust };
    },
  };
}

async function enrolledOn({ sensors }: Pick<ReturnType<typeof createMemoryRelational>, 'sensors'>) {
  const input = enrollment();
  await sensors.createToken({
    tokenId: input.sensor.sensorId,
    hash: input.tokenHash,
    kind: 'enroll',
    sensorId: null,
    note: '',
    nowMs: NOW_MS,
    expiresAtMs: NOW_MS + 900_000,
    actor: 'test',
  });
  await sensors.enroll(input);
  return input;
}

async function pendingFor(sensors: SensorRegistry, byFingerprint: string) {
  const next = certificate({ notAfterMs: NOW_MS + 2_592_000_000 + 60_000 });
  await sensors.addPendingCertificate({ byFingerprint, nowMs: NOW_MS, certificate: next });
  return next;
}

describe('the fleet of a Console beside another one', () => {
  it('should know a sensor that was enrolled, renewed and revoked at the other Console', async () => {
    const { sensors } = createMemoryRelational();
    const fleet = await fleetOn(sensors);
    const { sensor, certificate: first } = await enrolledOn({ sensors });
    const { sensorId } = sensor;
    await turn();
    const trusted = { revokedAtMs: null, trust: 'trusted' };
    expect(fleet.knows(sensorId)).toEqual({ ...trusted, notAfterMs: first.notAfterMs });
    const next = await pendingFor(sensors, first.fingerprint);
    await turn();
    expect(fleet.knows(sensorId)).toEqual({ ...trusted, notAfterMs: first.notAfterMs });
    await sensors.activateCertificate({ fingerprint: next.fingerprint, nowMs: NOW_MS });
    await turn();
    expect(fleet.knows(sensorId)).toEqual({ ...trusted, notAfterMs: next.notAfterMs });
    const moves: unknown[] = [];
    fleet.feed.subscribe((move) => moves.push(move));
    await sensors.revoke({ sensorId, nowMs: NOW_MS, reason: 'lost', actor: 'test' });
    await turn();
    expect(fleet.knows(sensorId)).toMatchObject({ revokedAtMs: NOW_MS, trust: 'revoked' });
    expect(moves).toMatchObject([{ event: 'sensor.revoked', facts: { reason: 'lost' } }]);
    expect(fleet.liveView.get(sensorId)?.trust_health).toBe('revoked');
  });

  it('should hear of a renewal whose answer was lost on the way here', async () => {
    const { sensors } = createMemoryRelational();
    const lossy: SensorRegistry = {
      ...sensors,
      async activateCertificate(input) {
        await sensors.activateCertificate(input);
        throw new StoreUnavailable('the answer was lost');
      },
    };
    const fleet = await fleetOn(lossy);
    const { sensor, certificate: first } = await enrolledOn({ sensors });
    const next = await pendingFor(sensors, first.fingerprint);
    await turn();
    const authenticate = createAuthenticate({
      registry: lossy,
      cache: fleet.identities,
      sensors: fleet.sensors,
      now: () => NOW_MS,
    });
    const { fingerprint, notAfterMs } = next;
    expect(await authenticate(fingerprint)).toMatchObject({ ok: false, code: 'store_unavailable' });
    await turn();
    expect(await authenticate(fingerprint)).toMatchObject({ ok: true });
    expect(fleet.knows(sensor.sensorId)).toMatchObject({ notAfterMs });
  });

  it('should ask again later when the database cannot say who changed, one sensor at a time', async () => {
    const { sensors } = createMemoryRelational();
    let isAway = true;
    let asked = 0;
    const fleet = await fleetOn({
      ...sensors,
      async getSensor(sensorId) {
        asked += 1;
        if (isAway) throw new StoreUnavailable('away');
        return sensors.getSensor(sensorId);
      },
    });
    const inputs = [await enrolledOn({ sensors }), await enrolledOn({ sensors })];
    await turn();
    for (const { sensor } of inputs) expect(fleet.knows(sensor.sensorId)).toBe('absent');
    expect(asked).toBeLessThanOrEqual(inputs.length);
    expect(fleet.delays()).toEqual([IDENTITY_CACHE_REFRESH_MS]);
    isAway = false;
    fleet.runTimers();
    await turn();
    for (const { sensor } of inputs) expect(fleet.knows(sensor.sensorId)).not.toBe('absent');
    expect(fleet.delays()).toEqual([]);
  });
});
