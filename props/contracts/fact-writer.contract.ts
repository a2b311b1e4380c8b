// The promises of the fact writer. invariant: I10, I15
import { describe, expect, it } from 'vitest';
import type { FactWriter, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../storage/ports/fleet/teams.ts';
import type { Harness } from './away.ts';
import { enrollment, HOSTILE, hex, NOW_MS, TOLD } from './samples.ts';

type Ports = {
  readonly facts: FactWriter;
  readonly sensors: SensorRegistry;
  readonly teams: Pick<TeamStore, 'changeSensor'>;
};

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
      ...TOLD,
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

    it('should leave the list of sensors readable, whatever one of them told', async () => {
      const report = await enrolled();
      const told = { ...report(1).facts, engine: { kind: 'ebpf' } };
      for (const [at, trust] of [HOSTILE, '\ud800', '\udc00\ud800', '\\u0000', '\\\0'].entries()) {
        await port().facts.write({ ...report(at + 1), facts: { ...told, trust } });
        const listed = await port().sensors.listBriefly({ limit: 10_000, after: null });
        const own = listed.find(({ sensorId }) => sensorId === report(1).sensorId);
        expect(own?.engineKind).toBe('ebpf');
      }
    });

    it('should never go back in time, inside a group and between groups', async () => {
      const report = await enrolled();
      await Promise.all([1, 5, 2].map((at) => port().facts.write(report(at))));
      const { sensorId } = report(0);
      expect((await port().sensors.getSensor(sensorId))?.sensorVersion).toBe('v5');
      expect(await port().facts.write(report(3))).toBe(true);
      expect((await port().sensors.getSensor(sensorId))?.sensorVersion).toBe('v5');
    });

    it('should follow the flavor that a node tells, and whether it is the one watched here', async () => {
      const report = await enrolled();
      const { sensorId } = report(0);
      const seen = async () => {
        const row = await port().sensors.getSensor(sensorId);
        return [row?.flavor, row?.flavorMismatch];
      };
      await port().facts.write({ ...report(1), flavor: 'telecom', flavorMismatch: true });
      expect(await seen()).toEqual(['telecom', true]);
      await port().facts.write(report(2));
      expect(await seen()).toEqual(['standard', false]);
    });

    it('should take over the role that a node changes, and leave the one that an operator gave until then', async () => {
      const report = await enrolled();
      const { sensorId } = report(0);
      const told = async (at: number, declaredRole: string | null) => {
        await port().facts.write({ ...report(at), declaredRole });
        return (await port().sensors.getSensor(sensorId))?.declaredRole;
      };
      const given = (declaredRole: string | null) =>
        port().teams.changeSensor({
          ...{ sensorId, patch: { declaredRole }, actor: 'test', nowMs: NOW_MS },
        });
      expect(await told(1, null)).toBeNull();
      expect(await told(2, 'amf')).toBe('amf');
      expect(await given('upf')).toBe('ok');
      expect(await told(3, 'amf')).toBe('upf');
      expect(await told(4, 'smf\0')).toBe('smf\uFFFD');
      expect(await told(5, 'smf\0')).toBe('smf\uFFFD');
      await given('upf');
      expect(await told(6, null)).toBeNull();
      await given('upf');
      expect(await told(7, null)).toBe('upf');
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
