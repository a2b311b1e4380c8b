// Provisioning over the reference stores: what is missing is put in place once, what is there stays, and a bad input changes
// nothing and is named whole.
import { ed25519 } from '@noble/curves/ed25519.js';
import { afterEach, describe, expect, it } from 'vitest';
import { licensePayload } from '../../props/attacks/license-issuer.ts';
import { createCheapHasher } from '../../storage/memory/access/password-hasher.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { signLicense } from '../license/envelope-signature.ts';
import { openLicenseService } from '../license/license-service.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createWheelClock } from '../runtime/wheel-clock.ts';
import { openSettingsService } from '../settings/settings-service.ts';
import { createPasswords } from './passwords.ts';
import { type ProvisionInput, provision } from './provision.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;
const KEY = Buffer.alloc(32, 9);
const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}`;
const ADMIN = { email: 'ada@example.org', displayName: 'Ada', secret: { passwordHash: HASH } };
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const bundle = (more: Parameters<typeof licensePayload>[1] = {}) => {
  const signed = signLicense(licensePayload(NOW_MS, more), KEY);
  if (!signed.ok) throw new Error(signed.detail);
  return signed.envelope;
};
async function open(relational = createMemoryRelational()) {
  const clock = createWheelClock();
  const now = () => NOW_MS;
  const common = { clock, now, logger: silentLogger };
  const license = await openLicenseService({
    ...{ ...common, store: relational.license, monotonicNow: now },
    anchors: [{ source: 'evaluation', publicKey: ed25519.getPublicKey(KEY) }],
  });
  const { DEFAULT_INTERVALS } = await import('../../machines/intervals.ts');
  const settings = await openSettingsService({
    ...{ now, logger: silentLogger, store: relational.settings, base: DEFAULT_INTERVALS },
  });
  closers.push(() => {
    settings.close();
    clock.stop();
  });
  closers.push(() => license.close());
  const deps = {
    ...{ users: relational.users, license, settings, now, logger: silentLogger },
    passwords: createPasswords({ hasher: createCheapHasher() }),
  };
  const run = (more: Partial<ProvisionInput>) =>
    provision(deps, { license: null, admin: null, settings: {}, ...more }, 'provisioning');
  return { relational, license, settings, run };
}

describe('provisioning', () => {
  it('should put everything in place once, and do nothing the second time', async () => {
    const { relational, license, settings, run } = await open();
    const all = { license: bundle(), admin: ADMIN, settings: { analytics_retention_days: 30 } };
    expect(await run(all)).toEqual({ ok: true, license: 'imported', admin: 'created' });
    const user = await relational.users.findByEmail('ADA@example.org');
    expect(user).toMatchObject({ role: 'admin', passwordHash: HASH, displayName: 'Ada' });
    expect(settings.get().analyticsRetentionDays).toBe(30);
    expect(license.view().phase).toBe('valid');
    const audited = await relational.audit.recent(100);
    expect(audited.length).toBe(3);
    expect(audited.every(({ actor }) => actor === 'provisioning')).toBe(true);
    expect(JSON.stringify(audited)).not.toContain(HASH);
    expect(await run(all)).toEqual({ ok: true, license: 'present', admin: 'present' });
    expect((await relational.audit.recent(100)).length).toBe(3);
  });

  it('should make the hash of a password that fits the rules', async () => {
    const { relational, run } = await open();
    const password = 'a long walk along the quiet shore';
    const admin = { ...ADMIN, secret: { password } };
    expect(await run({ admin })).toMatchObject({ ok: true, admin: 'created' });
    const user = await relational.users.findByEmail(ADMIN.email);
    expect(await createCheapHasher().verify(user?.passwordHash ?? '', password)).toBe(true);
  });

  it('should refuse a hash that costs a guesser too little, or a login too much', async () => {
    const { run } = await open();
    const [salt, tag] = ['a'.repeat(22), 'b'.repeat(43)];
    for (const [cost, why] of [
      ['m=4096,t=3,p=1', 'too cheap'],
      ['m=19456,t=1,p=1', 'too cheap'],
      ['m=19455,t=2,p=1', 'too cheap'],
      ['m=19456,t=2,p=0', 'too cheap'],
      ['m=99999999,t=2,p=1', 'costs more'],
      ['m=19456,t=999,p=1', 'costs more'],
    ] as const) {
      const passwordHash = `$argon2id$v=19$${cost}$${salt}$${tag}`;
      const refused = await run({ admin: { ...ADMIN, secret: { passwordHash } } });
      expect([cost, refused]).toMatchObject([cost, { ok: false }]);
      expect(JSON.stringify(refused)).toContain(why);
    }
    for (const passwordHash of [
      `$argon2id$v=19$m=19456,t=2,p=1$${'a'.repeat(11)}$${tag}`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${'b'.repeat(22)}`,
      `$argon2i$v=19$m=19456,t=2,p=1$${salt}$${tag}`,
    ]) {
      expect(await run({ admin: { ...ADMIN, secret: { passwordHash } } })).toMatchObject({
        ok: false,
      });
    }
  });

  it('should leave what operators changed since', async () => {
    const { relational, license, settings, run } = await open();
    await run({ license: bundle(), admin: ADMIN, settings: { analytics_retention_days: 30 } });
    await settings.change({
      ...{ actor: 'user:ada@example.org', values: { analytics_retention_days: 7 } },
      revisions: { analytics_retention_days: 1 },
    });
    const user = await relational.users.findByEmail(ADMIN.email);
    const hash = Buffer.alloc(32, 7);
    const link = { actor: 'admin', nowMs: NOW_MS, hash };
    const userId = user?.userId ?? '';
    await relational.passwordLinks.createLink({ ...link, userId, expiresAtMs: NOW_MS + 1 });
    await relational.passwordLinks.useLink({ ...link, passwordHash: 'another' });
    const later = { license_id: 'later', issued_at: new Date(NOW_MS - 1).toISOString() };
    await license.import({ envelope: bundle(later), actor: 'user:ada@example.org' });
    expect(
      await run({ license: bundle(), admin: ADMIN, settings: { analytics_retention_days: 30 } }),
    ).toEqual({ ok: true, license: 'present', admin: 'present' });
    expect(settings.get().analyticsRetentionDays).toBe(7);
    expect((await relational.users.findByEmail(ADMIN.email))?.passwordHash).toBe('another');
    expect(license.view().license?.licenseId).toBe('later');
    // Whoever took the administrator over has another address: no second one appears.
    expect(await run({ admin: { ...ADMIN, email: 'bob@example.org' } })).toMatchObject({
      admin: 'present',
    });
    expect(await relational.users.findByEmail('bob@example.org')).toBeNull();
  });

  it('should take a license that was issued later than the one in force', async () => {
    const { license, run } = await open();
    const issued = (ms: number) => ({ issued_at: new Date(ms).toISOString() });
    await run({ license: bundle(issued(NOW_MS - 2 * DAY_MS)) });
    const newer = bundle({ ...issued(NOW_MS - DAY_MS), license_id: 'newer' });
    expect(await run({ license: newer })).toMatchObject({ license: 'imported' });
    expect(license.view().license?.licenseId).toBe('newer');
  });

  it('should start with a license that has ended, and without one', async () => {
    const { run } = await open();
    const ended = {
      issued_at: new Date(NOW_MS - 9 * DAY_MS).toISOString(),
      valid_from: new Date(NOW_MS - 9 * DAY_MS).toISOString(),
      valid_until: new Date(NOW_MS - 8 * DAY_MS).toISOString(),
      grace_until: new Date(NOW_MS - 7 * DAY_MS).toISOString(),
    };
    expect(await run({ license: bundle(ended) })).toMatchObject({ ok: true, license: 'ended' });
    expect(await run({})).toEqual({ ok: true, license: 'none', admin: 'none' });
  });

  it('should name every mistake and change nothing', async () => {
    const { relational, run } = await open();
    const refused = await run({
      license: { ...bundle(), signature: bundle({ plan: 'other' }).signature },
      admin: { email: 'nobody', displayName: '', secret: { passwordHash: '$2b$10$abc' } },
      settings: { client_certificate_ttl_hours: 72, nonsense: 1 },
    });
    const mistakes = refused.ok ? '' : refused.mistakes.join('\n');
    for (const named of [
      /^license: /m,
      /^admin\.email: /m,
      /^admin\.password_hash: /m,
      /^settings\.client_certificate_ttl_hours: /m,
      /^settings\.nonsense: /m,
    ]) {
      expect(mistakes).toMatch(named);
    }
    expect(await run({ admin: { ...ADMIN, secret: { password: 'short' } } })).toMatchObject({
      ok: false,
    });
    expect(await relational.audit.recent(10)).toEqual([]);
  });

  it('should let two Consoles that start together make one administrator', async () => {
    const relational = createMemoryRelational();
    const [one, other] = [await open(relational), await open(relational)];
    const input = { admin: ADMIN, settings: { license_grace_days: 5 } };
    const results = await Promise.all([one.run(input), other.run(input)]);
    expect(results.every(({ ok }) => ok)).toBe(true);
    const made = results.filter((result) => result.ok && result.admin === 'created');
    expect(made.length).toBe(1);
  });
});
