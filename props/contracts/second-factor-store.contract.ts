// The promises of the store about second factors: a step is accepted once, a code is used once, whoever comes at once.
import { describe, expect, it } from 'vitest';
import type { Harness } from './away.ts';
import { addUser, CONTEXT, lastAudit, newSession, type PeoplePorts } from './people.ts';
import { hashOf, hex, NOW_MS } from './samples.ts';

const PARALLEL = 200;

export function secondFactorStoreContract(harness: Harness<PeoplePorts>): void {
  const users = () => harness.port().users;
  const secondFactors = () => harness.port().secondFactors;
  const recoveryCodes = () => harness.port().recoveryCodes;
  const codes = () => Array.from({ length: 3 }, () => hashOf(hex(8)));

  async function enrolled() {
    const { userId } = await addUser(users());
    const sealedSecret = `sealed-${hex(8)}`;
    const recoveryHashes = codes();
    await secondFactors().beginTotp({ ...CONTEXT, userId, sealedSecret });
    const confirm = { ...CONTEXT, userId, sealedSecret, step: 100, recoveryHashes };
    expect(await secondFactors().confirmTotp({ ...confirm, keepSession: null })).toBe(true);
    return { userId, sealedSecret, recoveryHashes };
  }

  describe('second factors', () => {
    it('should be sealed again while it is what was read, and change nothing else', async () => {
      const { userId, sealedSecret: was } = await enrolled();
      const before = await users().get(userId);
      expect(await secondFactors().reseal({ userId, was: 'another', sealed: 'x' })).toBe(false);
      expect(await secondFactors().reseal({ userId: hex(8), was, sealed: 'x' })).toBe(false);
      const sealed = `sealed-${hex(8)}`;
      const tries = [sealed, `${sealed}-too`].map((one) => ({ userId, was, sealed: one }));
      const done = await Promise.all(tries.map((one) => secondFactors().reseal(one)));
      expect(done.filter((isDone) => isDone)).toHaveLength(1);
      const after = await users().get(userId);
      expect(after?.mfa.sealedSecret).toMatch(sealed);
      expect({ ...after, mfa: null }).toEqual({ ...before, mfa: null });
    });

    it('should be pending until the very secret is confirmed, and then on', async () => {
      const { userId } = await addUser(users());
      const { sessions } = harness.port();
      const [kept, gone] = [newSession(userId), newSession(userId)];
      for (const one of [kept, gone]) await sessions.create(one);
      const confirm = (sealedSecret: string) =>
        secondFactors().confirmTotp({
          ...{ ...CONTEXT, userId, sealedSecret, step: 7 },
          ...{ recoveryHashes: codes(), keepSession: kept.hash },
        });
      expect(await confirm('a')).toBe(false);
      expect(await secondFactors().beginTotp({ ...CONTEXT, userId, sealedSecret: 'a' })).toBe(true);
      expect(await secondFactors().beginTotp({ ...CONTEXT, userId, sealedSecret: 'b' })).toBe(true);
      expect(await secondFactors().acceptTotpStep({ userId, step: 9 })).toBe(false);
      expect(await confirm('a')).toBe(false);
      const byEnded = { ...CONTEXT, userId, sealedSecret: 'b', step: 7, recoveryHashes: codes() };
      await sessions.end({ ...CONTEXT, hash: gone.hash });
      expect(await secondFactors().confirmTotp({ ...byEnded, keepSession: gone.hash })).toBe(false);
      expect(await confirm('b')).toBe(true);
      expect(await secondFactors().removeTotp({ ...CONTEXT, userId, keepSession: gone.hash })).toBe(
        false,
      );
      expect(await users().get(userId)).toMatchObject({
        mfa: { state: 'on', sealedSecret: 'b', lastStep: 7, changedAtMs: NOW_MS },
      });
      expect(await secondFactors().beginTotp({ ...CONTEXT, userId, sealedSecret: 'c' })).toBe(
        false,
      );
      expect((await sessions.listOf(userId, NOW_MS)).map((one) => one.sessionId)).toEqual([
        kept.sessionId,
      ]);
      const row = await lastAudit(harness.port().audit, 'mfa.enable', userId);
      expect(row).toMatchObject({ before: { mfa: 'pending' }, after: { mfa: 'on' } });
    });

    it('should accept a step once of two hundred at once, and never an older one', async () => {
      const { userId } = await enrolled();
      const tries = Array.from({ length: PARALLEL }, () =>
        secondFactors().acceptTotpStep({ userId, step: 101 }),
      );
      expect((await Promise.all(tries)).filter(Boolean).length).toBe(1);
      for (const step of [99, 100, 101]) {
        expect(await secondFactors().acceptTotpStep({ userId, step })).toBe(false);
      }
      expect(await secondFactors().acceptTotpStep({ userId, step: 102 })).toBe(true);
    });

    it('should use a recovery code once, however many come at once', async () => {
      const { userId, recoveryHashes } = await enrolled();
      const other = await enrolled();
      const [hash = hashOf('')] = recoveryHashes;
      expect(
        await recoveryCodes().useRecoveryCode({ ...CONTEXT, userId: other.userId, hash }),
      ).toBe(false);
      const tries = Array.from({ length: 20 }, () =>
        recoveryCodes().useRecoveryCode({ ...CONTEXT, userId, hash }),
      );
      expect((await Promise.all(tries)).filter(Boolean).length).toBe(1);
      expect(await recoveryCodes().recoveryCodesLeft(userId)).toBe(2);
      expect(await lastAudit(harness.port().audit, 'mfa.recovery_code_used', userId)).toMatchObject(
        { before: { recovery_codes_left: 3 }, after: { recovery_codes_left: 2 } },
      );
      expect(
        await recoveryCodes().replaceRecoveryCodes({ ...CONTEXT, userId, hashes: codes() }),
      ).toBe(true);
      expect(await recoveryCodes().recoveryCodesLeft(userId)).toBe(3);
      expect(await recoveryCodes().useRecoveryCode({ ...CONTEXT, userId, hash })).toBe(false);
    });

    it('should be gone with its codes when it is removed', async () => {
      const { userId, recoveryHashes } = await enrolled();
      const session = newSession(userId);
      await harness.port().sessions.create(session);
      const judged = { ...CONTEXT, userId, judgedRole: 'admin' as const };
      expect(await secondFactors().removeTotp({ ...judged, keepSession: null })).toBe(false);
      expect(await secondFactors().removeTotp({ ...CONTEXT, userId, keepSession: null })).toBe(
        true,
      );
      expect(await secondFactors().removeTotp({ ...CONTEXT, userId, keepSession: null })).toBe(
        false,
      );
      expect(await users().get(userId)).toMatchObject({
        mfa: { state: 'off', sealedSecret: null },
      });
      expect(await recoveryCodes().recoveryCodesLeft(userId)).toBe(0);
      const [hash = hashOf('')] = recoveryHashes;
      expect(await recoveryCodes().useRecoveryCode({ ...CONTEXT, userId, hash })).toBe(false);
      expect(await recoveryCodes().replaceRecoveryCodes({ ...CONTEXT, userId, hashes: [] })).toBe(
        false,
      );
      expect(await secondFactors().acceptTotpStep({ userId, step: 500 })).toBe(false);
      expect(await harness.port().sessions.listOf(userId, NOW_MS)).toEqual([]);
    });
  });
}
