// The promises of the store of containment orders: they rise, the newest is the sensor's, and each has its audit row.
// decision: D85
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type {
  ContainmentOrders,
  PlaceOrder,
} from '../../storage/ports/containment/containment-orders.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { enrollment, HOSTILE, NOW_MS } from './samples.ts';

type Ports = {
  readonly containment: ContainmentOrders;
  readonly sensors: SensorRegistry;
  readonly audit: AuditLog;
};

let ids = 0;
/** Rises. */
function nextId(): string {
  ids += 1;
  return `0199${ids.toString(16).padStart(4, '0')}-0000-7000-8000-${randomUUID().slice(24)}`;
}

export function containmentOrdersContract(harness: Harness<Ports>): void {
  const { port } = harness;
  const ordering = (sensorId: string, more: Partial<PlaceOrder> = {}): PlaceOrder => ({
    ...{ sensorId, orderId: nextId(), wanted: 'contained', reason: HOSTILE, untilMs: null },
    ...{ nowMs: NOW_MS, actor: 'user:op', from: '192.0.2.1', ...more },
  });

  async function enrolled(): Promise<string> {
    const input = enrollment();
    const { tokenHash: hash, sensor } = input;
    await port().sensors.createToken({
      ...{ tokenId: randomUUID(), hash, kind: 'enroll', sensorId: null, note: '' },
      ...{ nowMs: NOW_MS, expiresAtMs: NOW_MS + 1_000, actor: 'op' },
    });
    expect(await port().sensors.enroll(input)).toMatchObject({ ok: true });
    return sensor.sensorId;
  }

  describe('containment orders', () => {
    it('should keep an order, make it the newest of its sensor, and write its audit row', async () => {
      const sensorId = await enrolled();
      expect((await port().sensors.getSensor(sensorId))?.containmentOrder).toBeUndefined();
      const input = ordering(sensorId, { untilMs: NOW_MS + 5 });
      const placed = await port().containment.place(input);
      const order = {
        ...{ orderId: input.orderId, sensorId, wanted: 'contained', orderedBy: 'user:op' },
        ...{ reason: HOSTILE.replaceAll('\0', '\uFFFD'), orderedAtMs: NOW_MS },
        untilMs: NOW_MS + 5,
      };
      expect(placed).toEqual({ ok: true, order });
      expect((await port().sensors.getSensor(sensorId))?.containmentOrder).toEqual(order);
      const [identity] = await port().sensors.identitiesOf(sensorId);
      expect(identity?.containmentOrderId).toBe(input.orderId);
      expect((await port().audit.recent(1))[0]).toMatchObject({
        ...{ actor: 'user:op', action: 'sensor.contain', target: sensorId, result: 'ok' },
        ...{ from: '192.0.2.1', after: { order_id: input.orderId, wanted: 'contained' } },
      });
    });

    it('should refuse an id that is not above the newest, and write nothing', async () => {
      const sensorId = await enrolled();
      const early = ordering(sensorId);
      const late = ordering(sensorId, { wanted: 'released' });
      expect(await port().containment.place(late)).toMatchObject({ ok: true });
      for (const input of [early, late]) {
        const by = late.orderId;
        expect(await port().containment.place(input)).toEqual({ ok: false, code: 'overtaken', by });
      }
      const all = await port().containment.list({ sensorId, limit: 10, before: null });
      expect(all.map(({ orderId }) => orderId)).toEqual([late.orderId]);
    });

    it('should take one of two orders with one id, and list the newest first', async () => {
      const sensorId = await enrolled();
      const same = ordering(sensorId);
      const answers = await Promise.all([
        port().containment.place(same),
        port().containment.place(same),
      ]);
      expect(answers.filter(({ ok }) => ok).length).toBe(1);
      const next = ordering(sensorId, { wanted: 'released' });
      await port().containment.place(next);
      const page = { sensorId, limit: 1 };
      const [first] = await port().containment.list({ ...page, before: null });
      expect(first?.orderId).toBe(next.orderId);
      const [second] = await port().containment.list({ ...page, before: next.orderId });
      expect(second?.orderId).toBe(same.orderId);
    });

    it('should refuse what is unknown or revoked, and say so in the audit log', async () => {
      const sensorId = await enrolled();
      const unknown = ordering(randomUUID());
      expect(await port().containment.place(unknown)).toEqual({ ok: false, code: 'not_found' });
      expect((await port().audit.recent(1))[0]).toMatchObject({ result: 'not_found', after: null });
      await port().sensors.revoke({ sensorId, nowMs: NOW_MS, reason: 'gone', actor: 'op' });
      const code = 'sensor_is_revoked';
      expect(await port().containment.place(ordering(sensorId))).toEqual({ ok: false, code });
      expect((await port().audit.recent(1))[0]).toMatchObject({ result: code });
      expect(await port().containment.list({ sensorId, limit: 1, before: null })).toEqual([]);
    });

    it('should say when the database is away, and answer again by itself', async () => {
      await expectAwayAndBack(harness, [
        () => port().containment.place(ordering(randomUUID())),
        () => port().containment.list({ sensorId: randomUUID(), limit: 1, before: null }),
      ]);
    });
  });
}
