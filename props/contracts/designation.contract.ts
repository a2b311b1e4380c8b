// The contract of the designation: one tenure at a time, epochs that only rise, and a fence that no late write passes.
// Suites share one database, so epochs may have begun before. decision: D60
import { describe, expect, it } from 'vitest';
import { hashOfRow } from '../../actors/audit/audit-hash.ts';
import type { AuditChain } from '../../storage/ports/audit/audit-chain.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import {
  type Designation,
  Overtaken,
  type Tenure,
} from '../../storage/ports/runtime/designation.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

type Ports = {
  readonly designation: Designation;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
};

/** Declares the contract; the port stands for several Consoles at once, as each has a session of its own. */
export function designationContract({ port, setAway }: Harness<Ports>): void {
  describe('designation', () => {
    const stand = (holder: string, onLost: (reason: string) => void = () => undefined) =>
      port().designation.stand({ holder, nowMs: NOW_MS, onLost });
    async function become(holder: string, onLost?: (reason: string) => void): Promise<Tenure> {
      // A session that was let go may take the server a moment to end.
      for (;;) {
        const tenure = await stand(holder, onLost);
        if (tenure !== null) return tenure;
      }
    }
    const row = () => ({
      ...{ atMs: NOW_MS, actor: 'test', action: 'loop.run' as const, target: hex(8), result: 'ok' },
      detail: {},
    });
    const seal = (epoch: number) =>
      port().auditChain.seal({ limit: 10_000, hashOf: hashOfRow, epoch });

    it('should give one tenure at a time, and the next one a higher epoch', async () => {
      const first = await become('one');
      expect(await stand('two')).toBe(null);
      await first.prove();
      await first.release();
      const second = await become(HOSTILE);
      expect(second.epoch).toBeGreaterThan(first.epoch);
      const last = await port().designation.last();
      expect(last).toMatchObject({ epoch: second.epoch, sinceMs: NOW_MS });
      expect(last.holder.length).toBe(HOSTILE.length);
      await second.release();
      await second.release();
    });

    it('should give the lock to one of many who stand at once', async () => {
      const stood = await Promise.all(Array.from({ length: 6 }, (_, at) => stand(`c${at}`)));
      const tenures = stood.filter((one) => one !== null);
      expect(tenures).toHaveLength(1);
      for (const one of tenures) await one.release();
    });

    it('should write under the epoch of now, and nothing under one that is over', async () => {
      const { audit, auditChain } = port();
      const first = await become('one');
      await audit.append([row()]);
      expect(await seal(first.epoch)).toMatchObject({ isBusy: false });
      await first.release();
      const second = await become('two');
      await audit.append([row()]);
      await expect(seal(first.epoch)).rejects.toThrow(Overtaken);
      const sign = () => {
        throw new Error('nothing may be signed');
      };
      await expect(auditChain.checkpoint(sign, first.epoch)).rejects.toThrow(Overtaken);
      expect(await seal(second.epoch)).toMatchObject({ isBusy: false, sealed: 1 });
      await second.release();
    });

    it('should tell a tenure whose connection is lost, and take another Console', async () => {
      const lost: string[] = [];
      const first = await become('one', (reason) => lost.push(reason));
      await setAway(true);
      await expect(first.prove()).rejects.toThrow();
      await setAway(false);
      expect(lost).toHaveLength(1);
      const second = await become('two');
      expect(second.epoch).toBeGreaterThan(first.epoch);
      await first.release();
      await second.prove();
      await second.release();
      expect(lost).toHaveLength(1);
    });

    it('should answer StoreUnavailable while the database is away', async () => {
      await expectAwayAndBack({ setAway }, [
        async () => (await stand('one'))?.release(),
        () => port().designation.last(),
      ]);
    });
  });
}
