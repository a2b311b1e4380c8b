// The promises of the inventory store: the latest section, whole.
import { describe, expect, it } from 'vitest';
import type { RelationalStores } from '../../storage/ports/stores.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hex } from './samples.ts';

export function inventoryStoreContract(
  harness: Harness<Pick<RelationalStores, 'inventory'>>,
): void {
  const port = () => harness.port().inventory;
  const place = () => ({ sensorId: hex(8), section: 'packages' as const });

  describe('inventory sections', () => {
    it('should be replaced whole, with hostile content as it came', async () => {
      const at = place();
      const items = [JSON.parse(`{"__proto__": 1, "b": ${JSON.stringify(HOSTILE)}}`)];
      await port().put({ ...at, hash: 'h1', items: [{ a: 1 }, { a: 2 }], nodeTotal: 9, nowMs: 1 });
      expect((await port().get(at.sensorId, at.section))?.nodeTotal).toBe(9);
      await port().put({ ...at, hash: 'h2', items, nowMs: 2 });
      const stored = await port().get(at.sensorId, at.section);
      expect(stored).toEqual({ hash: 'h2', items, nodeTotal: null, storedAtMs: 2 });
      expect(JSON.stringify(stored?.items)).toBe(JSON.stringify(items));
      const hashes = await port().loadHashes();
      expect(hashes.filter((one) => one.sensorId === at.sensorId)).toEqual([{ ...at, hash: 'h2' }]);
    });

    it('should be apart by sensor and by section', async () => {
      const [one, other] = [place(), place()];
      await port().put({ ...one, hash: 'h', items: [], nowMs: 1 });
      await port().put({ ...other, hash: 'h', items: [{ a: 1 }], nowMs: 1 });
      expect((await port().get(one.sensorId, 'packages'))?.items).toEqual([]);
      expect(await port().get(one.sensorId, 'listening_services')).toBeNull();
      expect(await port().get(`${one.sensorId}\0`, 'packages')).toBeNull();
    });

    it('should tell the hashes of the sensors that are asked about, and of no other', async () => {
      const [one, other, third] = [place(), place(), place()];
      for (const at of [one, other]) await port().put({ ...at, hash: 'h', items: [], nowMs: 1 });
      const asked = [one.sensorId, third.sensorId, `${other.sensorId}\0`];
      expect(await port().hashesOf(asked)).toEqual([{ ...one, hash: 'h' }]);
      expect(await port().hashesOf([])).toEqual([]);
    });

    it('should be one writer whole when many write one section at once', async () => {
      const at = place();
      const writers = Array.from({ length: 20 }, (_, n) => n);
      await Promise.all(
        writers.map((n) =>
          port().put({ ...at, hash: `h${n}`, items: [{ n }, { again: n }], nowMs: n }),
        ),
      );
      const stored = await port().get(at.sensorId, at.section);
      const n = stored?.storedAtMs;
      const items = [{ n }, { again: n }];
      expect(stored).toEqual({ hash: `h${n}`, items, nodeTotal: null, storedAtMs: n });
    });

    it('should say when the database is away, and answer again by themselves', async () => {
      const at = place();
      await expectAwayAndBack(harness, [
        () => port().loadHashes(),
        () => port().hashesOf([at.sensorId]),
        () => port().get(at.sensorId, at.section),
        () => port().put({ ...at, hash: 'h', items: [], nowMs: 1 }),
      ]);
    });
  });
}
