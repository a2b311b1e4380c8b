// The banner by example: what a person sees of the account that was made for it.
import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { provideFirstAdmin } from '../../../actors/access/first-admin.ts';
import { createCheapHasher } from '../../../storage/memory/access/password-hasher.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import { bannerOf } from './banner.ts';

const facts = {
  ...{ version: '0.1.0', url: 'https://localhost:1', bind: '127.0.0.1', port: 1 },
  ...{ caFingerprint: 'AA', contextFile: '/c', dataDir: '/d', sensor: null, program: 'p' },
  enroll: { line: 'sh -c x', isForOthers: true },
  notices: [],
};
const banner = (admin: Parameters<typeof bannerOf>[0]['admin']) =>
  bannerOf({ ...facts, admin }, pc.createColors(false));

describe('the first admin', () => {
  it('should be made once, and its password be shown once', async () => {
    const { users } = createMemoryRelational();
    const hasher = createCheapHasher();
    const deps = { users, hasher, now: () => 1 };
    const first = await provideFirstAdmin(deps);
    expect(first).toMatchObject({
      email: 'admin@localhost',
      password: expect.stringMatching(/^([a-km-np-z2-9]{5}-){3}[a-km-np-z2-9]{5}$/),
    });
    const row = await users.findByEmail('admin@localhost');
    expect(row).toMatchObject({ role: 'admin', status: 'active' });
    expect(await hasher.verify(row?.passwordHash ?? '', first?.password ?? '')).toBe(true);
    expect(banner(first)).toContain(`${first?.password} (shown this once)`);
    const second = await provideFirstAdmin(deps);
    expect(second).toEqual({ userId: first?.userId, email: 'admin@localhost', password: null });
    expect(banner(second)).toContain('admin@localhost');
    expect(banner(second)).not.toContain('Password');
  });

  it('should not be made beside an admin of another name', async () => {
    const { users } = createMemoryRelational();
    await users.create({
      ...{ actor: 'setup', nowMs: 1, userId: 'u', email: 'me@example.test', displayName: '' },
      ...{ role: 'admin', passwordHash: null },
    });
    const found = await provideFirstAdmin({ users, hasher: createCheapHasher(), now: () => 2 });
    expect(found).toEqual({ userId: 'u', email: 'me@example.test', password: null });
  });
});

describe('the banner', () => {
  const long = {
    ...facts,
    notices: [
      'The license ends at 2026-03-11T12:00:00.000Z; its grace period lasts until 2026-04-10T12:00:00.000Z.',
    ],
    caFingerprint: 'AB:'.repeat(31).concat('CD'),
    contextFile: '/home/somebody/with/a/rather/long/path/.config/service/config.yaml',
    enroll: {
      isForOthers: true,
      line: `sh -c "$(curl -fsSk --pinnedpubkey sha256//${'k'.repeat(44)} https://192.168.100.200:15483/install.sh)" install --ca-fingerprint ${'ab'.repeat(32)}`,
    },
  };

  it.each([false, true])('should fit 80 columns, whatever is in it (colour: %s)', (isColoured) => {
    const text = bannerOf({ ...long, admin: null }, pc.createColors(isColoured));
    for (const row of text.replaceAll(/\x1b\[\d+m/g, '').split('\n')) {
      expect(row.length, row).toBeLessThanOrEqual(80);
    }
    expect(text).toContain('abababababababababababababababababababababababababababababababcd');
    expect(text.replaceAll(' \\\n', ' ')).toContain(long.enroll.line);
  });

  it('should say when no other node reaches the Console', () => {
    const enroll = { ...facts.enroll, isForOthers: false };
    const text = bannerOf({ ...facts, enroll, admin: null }, pc.createColors(false));
    expect(text).toContain('SERVICE_CONSOLE_BIND=0.0.0.0');
  });
});
