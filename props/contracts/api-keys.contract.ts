// The promises of the API keys. invariant: I11
import { describe, expect, it } from 'vitest';
import type { RelationalStores } from '../../storage/ports/stores.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hashOf, hex, NOW_MS } from './samples.ts';

const ALL = { limit: 10_000, before: null };

export function apiKeysContract(harness: Harness<Pick<RelationalStores, 'apiKeys'>>): void {
  const port = () => harness.port().apiKeys;
  function sample() {
    const secret = `svck_${hex(16)}`;
    const key = { keyId: hex(8), name: 'a', scopes: ['x', HOSTILE], expiresAtMs: NOW_MS + 1 };
    return { secret, key, input: { ...key, hash: hashOf(secret), nowMs: NOW_MS } };
  }

  describe('API keys', () => {
    it('should be found by the hash of the secret only, and never show it', async () => {
      const { secret, key, input } = sample();
      await port().create(input);
      const row = {
        ...key,
        ...{ userId: null, createdAtMs: NOW_MS, lastUsedAtMs: null, revokedAtMs: null },
      };
      expect(await port().findByHash(hashOf(secret))).toEqual(row);
      expect(await port().findByHash(hashOf(`${secret}x`))).toBeNull();
      expect(await port().findByHash(Buffer.alloc(0))).toBeNull();
      expect(await port().list(ALL)).toContainEqual(row);
    });

    it('should keep text that is no text as text', async () => {
      const { input } = sample();
      await port().create({ ...input, name: 'a\0b\ud83d', expiresAtMs: null });
      const row = await port().findByHash(input.hash);
      expect(row).toMatchObject({ name: 'a\uFFFDb\uFFFD', expiresAtMs: null });
    });

    it('should not take an id or a secret twice', async () => {
      const { input } = sample();
      await port().create(input);
      await expect(port().create({ ...input, keyId: hex(8) })).rejects.toThrow();
      await expect(port().create({ ...input, hash: hashOf(hex(8)) })).rejects.toThrow();
      expect((await port().findByHash(input.hash))?.keyId).toBe(input.keyId);
    });

    it('should be revoked for good, at the instant of the first time', async () => {
      const { key, input } = sample();
      await port().create(input);
      const { keyId } = key;
      const revoked = { keyId, revokedAtMs: NOW_MS };
      expect(await port().revoke({ keyId, nowMs: NOW_MS })).toMatchObject(revoked);
      expect(await port().revoke({ keyId, nowMs: NOW_MS + 1 })).toMatchObject(revoked);
      expect(await port().findByHash(input.hash)).toMatchObject(revoked);
      expect(await port().revoke({ keyId: 'none\0', nowMs: NOW_MS })).toBeNull();
      expect(await port().revoke({ keyId, userId: 'no\0body', nowMs: NOW_MS })).toBeNull();
    });

    it('should remember the latest use of each, whatever the order it is told in', async () => {
      const [one, other] = [sample(), sample()];
      for (const { input } of [one, other]) await port().create(input);
      const seen = (of: typeof one, atMs: number) => ({ hash: of.input.hash, atMs });
      await port().touch([seen(one, NOW_MS + 5), seen(other, NOW_MS + 7)]);
      await port().touch([seen(one, NOW_MS + 3), { hash: hashOf(hex(8)), atMs: NOW_MS }]);
      await port().touch([]);
      const usedAt = async (of: typeof one) =>
        (await port().findByHash(of.input.hash))?.lastUsedAtMs;
      expect(await usedAt(one)).toBe(NOW_MS + 5);
      expect(await usedAt(other)).toBe(NOW_MS + 7);
    });

    it('should be listed newest id first, page after page', async () => {
      for (const { input } of [sample(), sample(), sample()]) await port().create(input);
      const ids = (await port().list(ALL)).map((one) => one.keyId);
      expect(ids).toEqual(ids.toSorted().reverse());
      const [first] = await port().list({ limit: 1, before: null });
      const rest = await port().list({ ...ALL, before: first?.keyId ?? null });
      expect([first, ...rest].map((one) => one?.keyId)).toEqual(ids);
      expect(await port().list({ ...ALL, userId: 'no\0body' })).toEqual([]);
    });

    it('should not be made for nobody', async () => {
      const { input } = sample();
      expect(await port().create({ ...input, userId: hex(8) })).toBe('no_user');
      expect(await port().findByHash(input.hash)).toBeNull();
      expect(await port().create(input)).toBe('created');
    });

    it('should say when the database is away, and answer again by themselves', async () => {
      const { input } = sample();
      await expectAwayAndBack(harness, [
        () => port().findByHash(input.hash),
        () => port().list(ALL),
        () => port().touch([{ hash: input.hash, atMs: NOW_MS }]),
        () => port().revoke({ keyId: input.keyId, nowMs: NOW_MS }),
        () => port().create(input),
      ]);
      expect(await port().findByHash(input.hash)).not.toBeNull();
    });
  });
}
