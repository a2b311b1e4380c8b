// The promises of the fact writer. invariant: I10, I15
import { describe, expect, it } from 'vitest';
import type { FactWriter, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { Harness } from './away.ts';
import { enrollment, HOSTILE, hex, NOW_MS } from './samples.ts';

type Ports = { readonly facts: FactWriter; readonly sensors: SensorRegistry };

export function factWriterContract(harness: Harness<Ports>): void {
  const { port } = harness;
  async function enrolled() {
    const input = enrollment();
    await port().sensors.createToken({
      tokenId: hex(8),
      hash: input.tokenHash,
      kind: 'enroll',
      sensorId: null,
      note: '',
      nowMs: NOW_MS,
      expiresAtMs: NOW_MS + 1_000,
      actor: 'test',
    });
    await port().sensors.enroll(input);
    const { sensorId, system } = input.sensor;
    return (at: number) => ({
      sensorId,
      receivedAtMs: NOW_MS + at,
      bootId: 'boot\0',
      sensorVersion: `v${at}`,
      system: { ...system, os_name: HOSTILE },
      facts: { engine: { at }, trust: HOSTILE, resources: null, pipeline: [], capabilities: [] },
    });
  }

  describe('heartbeat facts', () => {
    it('should be the last report of a sensor, hostile text included', async () => {
      const report = await enrolled();
      const written = await Promise.all([1, 2, 3].map((at) => port().facts.write(report(at))));
      expect(written).toEqual([true, true, true]);
      expect(await port().sensors.getSensor(report(3).sensorId)).toMatchObject({
        lastHeartbeatAtMs: NOW_MS + 3,
        sensorVersion: 'v3',
        bootId: 'boot\uFFFD',
        system: { os_name: HOSTILE },
        facts: report(3).facts,
      });
    });

    it('should never go back in time, inside a group and between groups', async () => {
      const report = await enrolled();
      await Promise.all([1, 5, 2].map((at) => port().facts.write(report(at))));
      const { sensorId } = report(0);
      expect((await port().sensors.getSensor(sensorId))?.sensorVersion).toBe('v5');
      expect(await port().facts.write(report(3))).toBe(true);
      expect((await port().sensors.getSensor(sensorId))?.sensorVersion).toBe('v5');
    });

    it('should be taken for many sensors at once, unknown ones and all', async () => {
      const reports = await Promise.all(Array.from({ length: 20 }, enrolled));
      const known = reports.map((report) => report(1));
      const strangers = known.slice(0, 1).map((one) => ({ ...one, sensorId: hex(8) }));
      const written = await Promise.all(
        [...known, ...strangers].map((one) => port().facts.write(one)),
      );
      expect(written.every((one) => one)).toBe(true);
      for (const { sensorId } of known) {
        const row = await port().sensors.getSensor(sensorId);
        expect(row?.lastHeartbeatAtMs).toBe(NOW_MS + 1);
      }
      for (const { sensorId } of strangers) {
        expect(await port().sensors.getSensor(sensorId)).toBeNull();
      }
      expect(port().facts.queuedRows()).toBe(0);
    });

    it('should be refused while the database is away, and taken again afterwards', async () => {
      const report = await enrolled();
      await harness.setAway(true);
      expect(await port().facts.write(report(1))).toBe(false);
      await harness.setAway(false);
      const { sensorId } = report(0);
      expect((await port().sensors.getSensor(sensorId))?.lastHeartbeatAtMs).toBeNull();
      expect(await port().facts.write(report(2))).toBe(true);
      expect((await port().sensors.getSensor(sensorId))?.sensorVersion).toBe('v2');
    });
  });
}
