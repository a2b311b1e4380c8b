// The service by example, over the reference store and a clock that the test turns: what is stored, what survives a restart,
// what a second Console learns, and what a clock that was set back or ahead changes.
import { afterEach, describe, expect, it } from 'vitest';
import { LICENSE_LOOK_INTERVAL_MS } from '../../machines/limits.ts';
import { createIssuer, licensePayload } from '../../props/attacks/license-issuer.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createLoopRegistry } from '../loops/loop-registry.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createWheelClock } from '../runtime/wheel-clock.ts';
import {
  type LicenseService,
  type LicenseServiceDeps,
  openLicenseService,
} from './license-service.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;
const issuer = createIssuer();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A deployment: one database, a wall clock, monotonic time, and as many Consoles as are opened. */
function deployment() {
  const relational = createMemoryRelational();
  const time = { wallMs: NOW_MS, monotonicMs: 0 };
  const timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();
  const wheelTime = {
    monotonicNow: () => time.monotonicMs,
    setTimeout(run: () => void, delayMs: number) {
      const timer = { run, dueMs: time.monotonicMs + delayMs };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer: unknown) => void timers.delete(timer as never),
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    relational,
    time,
    /** Lets time pass, with the wall clock or without it. */
    async pass(ms: number, wallMs = ms): Promise<void> {
      time.wallMs += wallMs;
      const untilMs = time.monotonicMs + ms;
      for (;;) {
        const [next] = [...timers].sort((a, b) => a.dueMs - b.dueMs);
        if (next === undefined || next.dueMs > untilMs) break;
        timers.delete(next);
        time.monotonicMs = Math.max(time.monotonicMs, next.dueMs);
        next.run();
        await settle();
      }
      time.monotonicMs = untilMs;
      await settle();
    },
    async open(anchors: LicenseServiceDeps['anchors'] = [issuer.anchor]): Promise<LicenseService> {
      const clock = createWheelClock({ time: wheelTime });
      const service = await openLicenseService({
        store: relational.license,
        anchors,
        clock,
        now: () => time.wallMs,
        monotonicNow: () => time.monotonicMs,
        logger: silentLogger,
      });
      const loops = createLoopRegistry({
        ...{ clock, logger: silentLogger, designation: null },
        ...{ now: () => time.wallMs, monotonicNow: () => time.monotonicMs },
      });
      for (const loop of service.loops) loops.add(loop);
      loops.start();
      closers.push(async () => {
        await loops.stop();
        await service.close();
        clock.stop();
      });
      return service;
    },
  };
}
const importing = (service: LicenseService, more: Parameters<typeof licensePayload>[1] = {}) =>
  service.import({ envelope: issuer.sign(licensePayload(NOW_MS, more)), actor: 'op' });
const allowed = (service: LicenseService, atMs: number) => service.gate.nodesAllowed(atMs);
const at = (ms: number) => new Date(ms).toISOString();

describe('the license service', () => {
  it('should have no limit without a license and say so', async () => {
    const service = await deployment().open();
    expect(allowed(service, NOW_MS + 10_000 * DAY_MS)).toBeNull();
    expect(service.view()).toMatchObject({ phase: 'absent', license: null, timeline: [] });
    expect(service.view().banners.map(({ reason }) => reason)).toContain('absent');
  });

  it('should limit from the very millisecond in which grace ends, and not before', async () => {
    const service = await deployment().open();
    expect(await importing(service)).toEqual({ ok: true, isChanged: true });
    const endMs = NOW_MS + 60 * DAY_MS;
    expect(allowed(service, endMs - 1)).toBeNull();
    expect(allowed(service, endMs)).toBe(1);
    expect(service.view()).toMatchObject({ phase: 'expired', nodesAllowed: 1 });
  });

  it('should give nothing back to a clock that is set back, not even after a restart', async () => {
    const own = deployment();
    const service = await own.open();
    await importing(service);
    await own.pass(1_000, 61 * DAY_MS);
    expect(allowed(service, own.time.wallMs)).toBe(1);
    await own.pass(2 * LICENSE_LOOK_INTERVAL_MS, -40 * DAY_MS);
    expect(allowed(service, own.time.wallMs)).toBe(1);
    const again = await own.open();
    expect(allowed(again, own.time.wallMs)).toBe(1);
    expect(again.view()).toMatchObject({ phase: 'expired', isClockBehind: true });
    expect(again.view().banners.map(({ reason }) => reason)).toEqual(['expired', 'clock_behind']);
  });

  it('should count the time that passed while the wall clock stood still', async () => {
    const own = deployment();
    const service = await own.open();
    const end = { valid_until: at(NOW_MS + 60_000), grace_until: at(NOW_MS + 5 * 60_000) };
    await importing(service, end);
    await own.pass(2 * 60_000, 0);
    expect(service.view().phase).toBe('grace');
    await own.pass(4 * 60_000, 0);
    expect(service.actor.view()).toMatchObject({ phase: 'expired', lastEvent: 'time passed' });
    const again = await own.open();
    expect(again.view().phase).toBe('expired');
  });

  it('should be healed of a clock that ran ahead by a license that was issued later', async () => {
    const own = deployment();
    const service = await own.open();
    await importing(service);
    await own.pass(1_000, 900 * DAY_MS);
    await own.pass(LICENSE_LOOK_INTERVAL_MS, -900 * DAY_MS);
    expect(service.view().phase).toBe('expired');
    const older = { license_id: 'older', issued_at: at(NOW_MS - 2 * DAY_MS) };
    expect(await importing(service, older)).toMatchObject({ code: 'license_ended' });
    const newer = { license_id: 'newer', issued_at: at(NOW_MS) };
    expect(await importing(service, newer)).toMatchObject({ ok: true, isChanged: true });
    expect(service.view()).toMatchObject({ phase: 'valid', isClockBehind: false });
    await own.pass(3 * LICENSE_LOOK_INTERVAL_MS);
    expect((await own.open()).view().phase).toBe('valid');
  });

  it('should refuse what is not genuine or has ended, and keep the license in force', async () => {
    const own = deployment();
    const service = await own.open();
    await importing(service);
    const foreign = createIssuer().sign(licensePayload(NOW_MS, { license_id: 'x' }));
    const refused = await service.import({ envelope: foreign, actor: 'op' });
    expect(refused).toMatchObject({ ok: false, code: 'license_refused' });
    const ended = { valid_until: at(NOW_MS - 1_000), grace_until: at(NOW_MS) };
    const payload = { ...ended, issued_at: at(NOW_MS - DAY_MS), valid_from: at(NOW_MS - DAY_MS) };
    expect(await importing(service, payload)).toMatchObject({ code: 'license_ended' });
    expect(service.view().license?.licenseId).toBe('license-1');
    expect((await own.relational.audit.recent(10)).length).toBe(1);
  });

  it('should trust every key it was given, and say whose license is in force', async () => {
    const own = deployment();
    const vendor = createIssuer();
    const anchors: LicenseServiceDeps['anchors'] = [
      issuer.anchor,
      { source: 'embedded', publicKey: vendor.publicKey },
    ];
    const service = await own.open(anchors);
    await importing(service);
    expect(service.view().anchor).toBe('evaluation');
    const bought = vendor.sign(licensePayload(NOW_MS, { license_id: 'bought' }));
    expect(await service.import({ envelope: bought, actor: 'op' })).toMatchObject({ ok: true });
    expect(service.view()).toMatchObject({ anchor: 'embedded', license: { licenseId: 'bought' } });
    expect((await own.open(anchors)).view()).toMatchObject({ anchor: 'embedded', phase: 'valid' });
    expect((await own.open()).view()).toMatchObject({ phase: 'absent', isStoredRefused: true });
  });

  it('should change nothing when the license in force is imported again', async () => {
    const own = deployment();
    const service = await own.open();
    await importing(service);
    expect(await importing(service)).toEqual({ ok: true, isChanged: false });
    expect(await own.relational.audit.recent(10)).toMatchObject([
      { action: 'license.import', target: 'license-1', actor: 'op', before: null },
    ]);
  });

  it('should follow within a minute what another Console imported', async () => {
    const own = deployment();
    const [one, other] = [await own.open(), await own.open()];
    await importing(one);
    expect(other.view().phase).toBe('absent');
    await own.pass(LICENSE_LOOK_INTERVAL_MS + 100);
    expect(other.view()).toMatchObject({ phase: 'valid', license: { licenseId: 'license-1' } });
    expect(await importing(other, { license_id: 'second' })).toMatchObject({ isChanged: true });
    await own.pass(LICENSE_LOOK_INTERVAL_MS + 100);
    expect(one.view().license?.licenseId).toBe('second');
  });

  it('should follow a database that went back, and take an import again', async () => {
    const own = deployment();
    const first = { ...own.relational.license };
    const { license: restored } = createMemoryRelational();
    let store = first;
    own.relational.license.observe = (seen) => store.observe(seen);
    own.relational.license.put = (input) => store.put(input);
    const service = await own.open();
    await importing(service);
    store = restored;
    await own.pass(LICENSE_LOOK_INTERVAL_MS + 100);
    expect(service.view()).toMatchObject({ phase: 'absent', license: null });
    expect(await importing(service, { license_id: 'second' })).toMatchObject({ isChanged: true });
    // The same revision by another import.
    store = first;
    await own.pass(LICENSE_LOOK_INTERVAL_MS + 100);
    expect(service.view().license?.licenseId).toBe('license-1');
  });

  it('should not believe a stored license that was tampered with', async () => {
    const own = deployment();
    await importing(await own.open());
    const row = await own.relational.license.observe({ nowMs: 0, seenMs: 0, revision: -1 });
    const envelope = (row.license?.envelope ?? '').replace(
      '"max_protected_nodes":1',
      '"max_protected_nodes":9',
    );
    const more = {
      licenseId: 'x',
      seenMs: 0,
      nowMs: NOW_MS,
      actor: 'thief',
      before: null,
      after: {},
    };
    await own.relational.license.put({ ...more, revision: row.revision, envelope });
    const service = await own.open();
    expect(service.view()).toMatchObject({ phase: 'absent', license: null, isStoredRefused: true });
  });

  it('should work on while the database is away, and say it cannot import', async () => {
    const own = deployment();
    const service = await own.open();
    await importing(service);
    own.relational.setAway(true);
    await own.pass(2 * LICENSE_LOOK_INTERVAL_MS);
    expect(await importing(service, { license_id: 'x' })).toMatchObject({
      code: 'store_unavailable',
    });
    expect(allowed(service, NOW_MS + 60 * DAY_MS)).toBe(1);
    own.relational.setAway(false);
    await own.pass(LICENSE_LOOK_INTERVAL_MS);
    expect((await own.open()).view().phase).toBe('expired');
  });
});
