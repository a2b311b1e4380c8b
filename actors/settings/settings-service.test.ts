// The settings service over the reference store: what is live, what is refused, and what another Console changed.
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { openSettingsService, type SettingsService } from './settings-service.ts';

const HOUR_MS = 3_600_000;
const opened: SettingsService[] = [];
afterEach(() => {
  for (const service of opened.splice(0)) service.close();
});

async function open(relational = createMemoryRelational(), base = DEFAULT_INTERVALS) {
  const service = await openSettingsService({
    store: relational.settings,
    base,
    now: () => 1_800_000_000_000,
    logger: silentLogger,
  });
  opened.push(service);
  const look = () => service.loop.run({ signal: new AbortController().signal });
  return { service, relational, look };
}
const change = (values: Record<string, unknown>, revision = 0) => ({
  actor: 'user:ada@example.org',
  values,
  revisions: Object.fromEntries(Object.keys(values).map((name) => [name, revision])),
});

describe('the settings service', () => {
  it('should have the defaults while nothing is set', async () => {
    const { service } = await open();
    expect(service.get()).toMatchObject({
      ...{ analyticsRetentionDays: 90, enrollmentTokenTtlSeconds: 900 },
      ...{ clientCertificateTtlHours: 720, renewalThresholdSeconds: 86_400 },
      ...{ licenseGraceDays: 30, federationRole: 'standalone' },
      mfaRequiredRoles: ['sensor_owner', 'operator', 'admin'],
    });
    expect(service.intervals.CLIENT_CERTIFICATE_TTL_MS).toBe(720 * HOUR_MS);
    expect({ ...service.intervals }).toEqual(DEFAULT_INTERVALS);
    expect(service.view().every(({ revision }) => revision === 0)).toBe(true);
  });

  it('should apply a change at once, tell it, and give a default back', async () => {
    const { service } = await open();
    const told: unknown[] = [];
    const stop = service.subscribe((now, before) =>
      told.push([before.clientCertificateTtlHours, now.clientCertificateTtlHours]),
    );
    expect(await service.change(change({ client_certificate_ttl_hours: 100 }))).toEqual({
      ok: true,
    });
    expect(service.intervals.CLIENT_CERTIFICATE_TTL_MS).toBe(100 * HOUR_MS);
    expect(service.get().clientCertificateTtlHours).toBe(100);
    expect(await service.change(change({ client_certificate_ttl_hours: null }, 1))).toEqual({
      ok: true,
    });
    expect(service.intervals.CLIENT_CERTIFICATE_TTL_MS).toBe(720 * HOUR_MS);
    stop();
    await service.change(change({ client_certificate_ttl_hours: 200 }, 2));
    expect(told).toEqual([
      [720, 100],
      [100, 720],
    ]);
  });

  it('should name every mistake at once and change nothing', async () => {
    const { service, relational } = await open();
    const refused = await service.change({
      actor: 'x',
      values: {
        client_certificate_ttl_hours: 72,
        renewal_threshold_seconds: 259_200,
        federation_role: 'central',
        webhook_allow_list: ['10.0.0.0/8', '0x7f.1', '0.0.0.0/0'],
        mfa_required_roles: ['king'],
        nonsense: 1,
      },
      revisions: { nonsense: 0, analytics_retention_days: 0 },
    });
    expect(refused).toMatchObject({ ok: false, code: 'schema_violation' });
    const pointers = refused.ok ? [] : (refused.errors ?? []).map(({ pointer }) => pointer);
    for (const pointer of [
      '/values/client_certificate_ttl_hours',
      '/values/renewal_threshold_seconds',
      '/values/federation_region',
      '/values/federation_region_label',
      '/values/webhook_allow_list/1',
      '/values/webhook_allow_list/2',
      '/values/mfa_required_roles/0',
      '/values/nonsense',
      '/revisions/federation_role',
      '/revisions/analytics_retention_days',
    ]) {
      expect(pointers).toContain(pointer);
    }
    expect(pointers).not.toContain('/values/webhook_allow_list/0');
    expect(await relational.settings.list()).toEqual([]);
  });

  it('should refuse what somebody else changed meanwhile, with the revision that holds', async () => {
    const { service, relational } = await open();
    const { service: other } = await open(relational);
    await other.change(change({ analytics_retention_days: 30 }));
    expect(await service.change(change({ analytics_retention_days: 60 }))).toMatchObject({
      ...{ ok: false, code: 'settings_conflict' },
      errors: [{ pointer: '/revisions/analytics_retention_days', detail: 'is 1 now' }],
    });
    expect(service.get().analyticsRetentionDays).toBe(30);
  });

  it('should follow what another Console changed', async () => {
    const { service, relational, look } = await open();
    const { service: other } = await open(relational);
    const told: number[] = [];
    service.subscribe(({ enrollmentTokenTtlSeconds }) => told.push(enrollmentTokenTtlSeconds));
    await other.change(change({ enrollment_token_ttl_seconds: 60 }));
    expect(service.intervals.ENROLLMENT_TOKEN_TTL_MS).toBe(900_000);
    await look();
    expect(service.intervals.ENROLLMENT_TOKEN_TTL_MS).toBe(60_000);
    await look();
    expect(told).toEqual([60]);
  });

  it('should follow a database that went back, and take changes again', async () => {
    const [first, restored] = [createMemoryRelational(), createMemoryRelational()];
    let { settings } = first;
    const { service, look } = await open({
      ...first,
      settings: { list: () => settings.list(), put: (input) => settings.put(input) },
    });
    await service.change(change({ analytics_retention_days: 30 }));
    await service.change(change({ analytics_retention_days: 31 }, 1));
    ({ settings } = restored);
    await look();
    expect(service.get().analyticsRetentionDays).toBe(90);
    expect(await service.change(change({ analytics_retention_days: 32 }))).toEqual({ ok: true });
    // The same revision by another change.
    ({ settings } = first);
    await look();
    expect(service.get().analyticsRetentionDays).toBe(31);
  });

  it('should not take an answer that is older than its own change', async () => {
    const { service, relational, look } = await open();
    const { list } = relational.settings;
    let answer: () => void = () => undefined;
    relational.settings.list = async () => {
      const rows = await list();
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return rows;
    };
    const looking = look();
    await new Promise(setImmediate);
    relational.settings.list = list;
    await service.change(change({ analytics_retention_days: 30 }));
    answer();
    await looking;
    expect(service.get().analyticsRetentionDays).toBe(30);
  });

  it('should keep what it knows while the database is away', async () => {
    const { service, relational, look } = await open();
    await service.change(change({ analytics_retention_days: 30 }));
    relational.setAway(true);
    await expect(look()).rejects.toThrow(StoreUnavailable);
    expect(await service.change(change({ analytics_retention_days: 31 }, 1))).toMatchObject({
      code: 'store_unavailable',
    });
    await expect(open(relational)).rejects.toThrow(StoreUnavailable);
    relational.setAway(false);
    await look();
    expect(service.get().analyticsRetentionDays).toBe(30);
  });

  it('should leave the intervals of the configuration when a setting contradicts them', async () => {
    const minuteMs = 60_000;
    const base = {
      ...DEFAULT_INTERVALS,
      ...{ CLIENT_CERTIFICATE_TTL_MS: 10 * minuteMs, RENEWAL_RECOMMENDED_MS: 5 * minuteMs },
      ...{ RENEWAL_DUE_MS: 2 * minuteMs, PREVIOUS_CERTIFICATE_OVERLAP_MS: minuteMs },
    };
    const { service, relational } = await open(createMemoryRelational(), base);
    expect(service.intervals.CLIENT_CERTIFICATE_TTL_MS).toBe(10 * minuteMs);
    expect(await service.change(change({ renewal_threshold_seconds: 86_400 }))).toMatchObject({
      ...{ ok: false, code: 'schema_violation', errors: [{ pointer: '/values' }] },
    });
    await open(relational).then(({ service: lenient }) =>
      lenient.change(change({ renewal_threshold_seconds: 86_400 })),
    );
    const { service: again } = await open(relational, base);
    expect(again.intervals.RENEWAL_DUE_MS).toBe(2 * minuteMs);
  });

  it('should count a stored value that does not fit any more as not set', async () => {
    const relational = createMemoryRelational();
    const values = { analytics_retention_days: 'long', of_another_version: 1 };
    await relational.settings.put({ ...change(values), nowMs: 0 });
    const { service } = await open(relational);
    expect(service.get().analyticsRetentionDays).toBe(90);
  });

  it('should provision what nobody set and leave what somebody did', async () => {
    const { service } = await open();
    await service.change(change({ analytics_retention_days: 10 }));
    const values = { analytics_retention_days: 20, license_grace_days: 5 };
    const input = { actor: 'provisioning', values };
    expect(await service.provision(input)).toEqual({ ok: true });
    expect(service.get()).toMatchObject({ analyticsRetentionDays: 10, licenseGraceDays: 5 });
    expect(await service.provision(input)).toEqual({ ok: true });
    expect(await service.provision({ ...input, values: { nonsense: 1 } })).toMatchObject({
      code: 'schema_violation',
    });
  });
});
