// Budgets and admission by example.
import { describe, expect, it } from 'vitest';
import { SESSION_IDLE_MS } from '../../machines/limits.ts';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import { createAdmitter } from './admitter.ts';
import { hasScope } from './operator.ts';
import { addressKey, budgetHeaders, createMemoryBudget } from './rate-budget.ts';

describe('the key of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['0000:0000:0000:0000:0000:ffff:192.0.2.7', '192.0.2.7'],
    ['0000:0000:0000:0000:0000:ffff:c000:0207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
  ])('should be the site of %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});

describe('a budget', () => {
  it('should run out per key, say so, and take one back', async () => {
    const budget = createMemoryBudget(2);
    await budget.consume('a');
    const last = await budget.consume('a');
    const over = await budget.consume('a');

    expect(last).toMatchObject({ allowed: true, limit: 2, remaining: 0 });
    expect(over.allowed).toBe(false);
    expect(over.resetMs).toBeGreaterThan(0);
    expect((await budget.consume('b')).allowed).toBe(true);
    expect(budgetHeaders('key', last)['ratelimit']).toMatch(/^"key";r=0;t=\d+$/);
  });

  it('should count a rewarded request as none', async () => {
    const budget = createMemoryBudget(1);
    for (let i = 0; i < 5; i += 1) {
      expect((await budget.consume('a')).allowed).toBe(true);
      await budget.reward('a');
    }
  });

  it('should let newcomers share one budget once there are too many keys', async () => {
    const budget = createMemoryBudget(1, { keysMax: 2 });
    for (const key of ['a', 'b', 'c']) expect((await budget.consume(key)).allowed).toBe(true);

    expect((await budget.consume('d')).allowed).toBe(false);
    expect((await budget.consume('e')).allowed).toBe(false);
  });
});

const withKey = (secret: string) => ({
  ...{ authorization: `Bearer ${secret}`, cookie: undefined, address: '192.0.2.1' },
});
const forgetful = { note: () => undefined, noted: () => null, close: async () => undefined };

describe('admission', () => {
  const admitterOf = (findByHash: () => Promise<null>, addresses = 3) =>
    createAdmitter({
      apiKeys: { findByHash },
      sessions: { findByHash: async () => null },
      users: { get: async () => null },
      budgets: {
        large: createMemoryBudget(10),
        small: createMemoryBudget(10),
        address: createMemoryBudget(addresses),
      },
      seen: { keys: forgetful, sessions: forgetful },
      sessionIdleMs: () => SESSION_IDLE_MS,
      now: () => 0,
    });

  it('should refuse a mistyped key without asking the database', async () => {
    let asked = 0;
    const admitter = admitterOf(async () => {
      asked += 1;
      return null;
    });
    const secret = formatSecret('apiKey', Buffer.alloc(32, 1));

    const mistyped = await admitter.admit(withKey(`${secret.slice(0, -1)}!`));
    const foreign = await admitter.admit(withKey(secret));

    expect(mistyped.result).toMatchObject({ ok: false, code: 'credential_invalid' });
    expect(foreign.result).toMatchObject({ ok: false, code: 'credential_invalid' });
    expect(asked).toBe(1);
  });

  it('should stop guesses of an address, and only of that one', async () => {
    const admitter = admitterOf(async () => null);
    const guess = async (address: string) => {
      const { result } = await admitter.admit({
        ...withKey(''),
        authorization: undefined,
        address,
      });
      return result.ok ? 'in' : result.code;
    };
    for (let i = 0; i < 3; i += 1) expect(await guess('192.0.2.1')).toBe('credential_required');

    expect(await guess('192.0.2.1')).toBe('rate_limited');
    expect(await guess('192.0.2.2')).toBe('credential_required');
  });

  it('should reject when the database is away, for that is no refusal', async () => {
    const admitter = admitterOf(() => Promise.reject(new StoreUnavailable('away')));
    const secret = formatSecret('apiKey', Buffer.alloc(32, 1));

    await expect(admitter.admit(withKey(secret))).rejects.toThrow('away');
  });
});

describe('a scope', () => {
  it('should be held by name', () => {
    expect(hasScope({ scopes: ['events:read'] }, 'events:read')).toBe(true);
    expect(hasScope({ scopes: ['events:read'] }, 'sensors:read')).toBe(false);
  });
});
