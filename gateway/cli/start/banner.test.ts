// The banner by example: what a person sees of the account that was made for it.
import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { provideFirstAdmin } from '../../../actors/access/first-admin.ts';
import { createCheapHasher } from '../../../storage/memory/access/password-hasher.ts';
import { createMemoryRelational } from '../../../storage/memory/memory-relational.ts';
import { bannerOf } from './banner.ts';

const facts = {
  ...{ version: '0.1.0', url: 'https://localhost:1', bind: '127.0.0.1', port: 1 },
  ...{ caFingerprint: 'AA', contextFile: '/c', dataDir: '/d', sensor: null, hostName: 'h' },
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
