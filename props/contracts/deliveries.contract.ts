// The promises of webhooks and of deliveries: a row is the job, what is claimed is held under an epoch and a lease, what was
// not settled is due again, and every change of a webhook has its audit row. decision: D60, D101, D104
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { UNMARKED } from '../../machines/console/delivery/sensor-alerts.rules.ts';
import {
  deliveryAfter,
  destinationAfter,
  newDestination,
} from '../../machines/console/delivery/standing.ts';
import { DELIVERY_GIVE_UP_MS } from '../../machines/limits.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type {
  ClaimedDelivery,
  DeliveryStore,
  SettledAttempt,
} from '../../storage/ports/delivery/delivery-store.ts';
import type { WebhookRow, WebhookStore } from '../../storage/ports/delivery/webhook-store.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { type Designation, Overtaken } from '../../storage/ports/runtime/designation.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { alertOf, nextId } from './delivery-samples.ts';
import { enrollment, HOSTILE, NOW_MS } from './samples.ts';

type Ports = {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly designation: Designation;
  readonly sensors: SensorRegistry;
  readonly audit: AuditLog;
};

const doing = { actor: 'user:ada', from: '192.0.2.1', nowMs: NOW_MS };
const LEASE_MS = 60_000;

export function deliveriesContract(harness: Harness<Ports>): void {
  const { port } = harness;
  let epoch = 0;

  /** Becomes the designated Console; whoever was is not any more. */
  async function stand(): Promise<number> {
    const tenure = await port().designation.stand({
      ...{ holder: 'contract', nowMs: NOW_MS, onLost: () => undefined },
    });
    if (tenure === null) throw new Error('somebody else is designated');
    await tenure.release();
    return tenure.epoch;
  }

  async function webhook(more: Partial<WebhookRow> = {}): Promise<WebhookRow> {
    const made = await port().webhooks.create({
      ...doing,
      webhook: {
        ...{ webhookId: nextId(), type: 'generic', name: HOSTILE, secretSealed: 'sealed' },
        ...{ targetUrl: 'https://hooks.example.org/secret', nextSecretSealed: null },
        rotatesAtMs: null,
        options: {
          ...{ kinds: [], minSeverity: 'info', groupIds: [], caPem: null, ratePerMinute: 60 },
          ...{ proxyUrl: null, quietHours: null },
        },
        ...more,
      },
    });
    if (made === 'full') throw new Error('full');
    return made;
  }

  async function post(webhookId: string, alerts: readonly Alert[], nowMs = NOW_MS) {
    const deliveries = alerts.map(({ alertId }) => ({ deliveryId: nextId(), webhookId, alertId }));
    await port().deliveries.post({ epoch, nowMs, alerts, deliveries, marks: [] });
    return deliveries.map(({ deliveryId }) => deliveryId);
  }

  const claim = (webhookId: string, quota: number, nowMs = NOW_MS, as = epoch) =>
    port().deliveries.claim({
      ...{ epoch: as, nowMs, leaseUntilMs: nowMs + LEASE_MS },
      quotas: new Map([[webhookId, quota]]),
      limit: 100,
    });

  const ended = (one: ClaimedDelivery, status: number, atMs = NOW_MS + 10): SettledAttempt => {
    const { state, dueAtMs, attempts, giveUpAtMs, endedAtMs, reason, foldedInto } = one;
    const outcome = { kind: 'answered', status, retryAfterMs: null } as const;
    return {
      deliveryId: one.deliveryId,
      standing: deliveryAfter(
        { state, dueAtMs, attempts, giveUpAtMs, endedAtMs, reason, foldedInto },
        { type: 'attempt.ended', atMs, outcome, chance: 0 },
      ),
      attempt: {
        ...{ number: attempts, atMs: NOW_MS, durationMs: 10, outcome: String(status), status },
        ...{ detail: HOSTILE, request: HOSTILE, response: HOSTILE },
      },
    };
  };

  const settle = (attempts: readonly SettledAttempt[], recovered: readonly string[] = []) =>
    port().deliveries.settle({
      ...{ epoch, nowMs: NOW_MS + 10, attempts, destinations: [], recovered },
    });

  const stateOf = async (id: string) => (await port().deliveries.get(id))?.delivery.state;

  describe('webhooks', () => {
    it('should keep a webhook, change it by its revision, and tell the audit log no secret', async () => {
      const made = await webhook();
      expect(await port().webhooks.get(made.webhookId)).toEqual(made);
      expect(made).toMatchObject({ revision: 1, pausedAtMs: null, destination: newDestination });
      const change = { ...doing, webhookId: made.webhookId, revision: 1 };
      const patch = { name: 'other', nextSecretSealed: 'new', rotatesAtMs: NOW_MS + 5 };
      const changed = await port().webhooks.change({ ...change, patch });
      expect(changed).toMatchObject({ name: 'other', nextSecretSealed: 'new', revision: 2 });
      expect(await port().webhooks.change({ ...change, patch })).toBe('conflict');
      const [row] = await port().audit.recent(1);
      expect(row).toMatchObject({
        ...{ action: 'webhook.change', target: made.webhookId, result: 'ok', from: '192.0.2.1' },
        detail: { is_secret_new: true, is_address_new: false },
      });
      expect(JSON.stringify(row)).not.toContain('sealed');
      expect(JSON.stringify(row)).not.toContain('/secret');
      const gone = { ...doing, webhookId: made.webhookId };
      expect(await port().webhooks.remove(gone)).toBe(true);
      expect(await port().webhooks.remove(gone)).toBe(false);
      expect(await port().webhooks.change({ ...change, patch })).toBe('not_found');
    });

    it('should seal secrets again only while they are what was read', async () => {
      const { webhookId } = await webhook();
      const was = { secretSealed: 'sealed', nextSecretSealed: null };
      const sealed = { secretSealed: 'resealed', nextSecretSealed: null };
      expect(await port().webhooks.reseal({ webhookId, was, sealed })).toBe(true);
      expect(await port().webhooks.reseal({ webhookId, was, sealed })).toBe(false);
      expect((await port().webhooks.get(webhookId))?.secretSealed).toBe('resealed');
      await port().webhooks.remove({ ...doing, webhookId });
    });
  });

  describe('deliveries', () => {
    let own: WebhookRow;
    beforeEach(async () => {
      for (const { webhookId } of await port().webhooks.list()) {
        await port().webhooks.remove({ ...doing, webhookId });
      }
      epoch = await stand();
      own = await webhook();
    });

    it('should take the first of each webhook before the second of any', async () => {
      const other = await webhook();
      const many = [alertOf(), alertOf(), alertOf()].map((one, at) => ({
        ...one,
        dedupKey: `key ${at}`,
      }));
      const [first, second] = await post(own.webhookId, many);
      const [late] = await post(other.webhookId, [alertOf()], NOW_MS + 5);
      const take = async (limit: number) => {
        const claimed = await port().deliveries.claim({
          ...{ epoch, nowMs: NOW_MS + 10, leaseUntilMs: NOW_MS + LEASE_MS, limit },
          quotas: new Map([own, other].map(({ webhookId }) => [webhookId, 20])),
        });
        return claimed.map(({ deliveryId }) => deliveryId).sort();
      };
      expect(await take(0)).toEqual([]);
      expect(await take(2)).toEqual([first, late].sort());
      expect(await take(1)).toEqual([second]);
      await port().webhooks.remove({ ...doing, webhookId: other.webhookId });
    });

    it('should keep alerts, deliveries and marks together, and leave out what is gone', async () => {
      const input = enrollment();
      const { tokenHash: hash, sensor } = input;
      await port().sensors.createToken({
        ...{ tokenId: randomUUID(), hash, kind: 'enroll', sensorId: null, note: '' },
        ...{ nowMs: NOW_MS, expiresAtMs: NOW_MS + 1_000, actor: 'op' },
      });
      expect(await port().sensors.enroll(input)).toMatchObject({ ok: true });
      const alert = alertOf();
      const mark = { ...UNMARKED, isStale: true };
      const [kept, lost] = [nextId(), nextId()];
      await port().deliveries.post({
        ...{ epoch, nowMs: NOW_MS, alerts: [alert, alertOf()] },
        deliveries: [
          { deliveryId: kept, webhookId: own.webhookId, alertId: alert.alertId },
          { deliveryId: lost, webhookId: randomUUID(), alertId: alert.alertId },
        ],
        marks: [
          { sensorId: sensor.sensorId, mark },
          { sensorId: randomUUID(), mark },
        ],
      });
      expect((await port().deliveries.get(kept))?.delivery).toMatchObject({
        ...{ state: 'waiting', attempts: 0, dueAtMs: NOW_MS, createdAtMs: NOW_MS, alert },
      });
      expect(await port().deliveries.get(lost)).toBeNull();
      const marks = await port().deliveries.marks();
      expect(marks.get(sensor.sensorId)).toEqual(mark);
    });

    it('should claim what is due, oldest first, and at most so many', async () => {
      const [first = '', second = '', third = ''] = await post(own.webhookId, [
        ...[alertOf(), alertOf(), alertOf()],
      ]);
      const claimed = await claim(own.webhookId, 2);
      expect(claimed.map(({ deliveryId }) => deliveryId).sort()).toEqual([first, second]);
      for (const one of claimed) {
        expect(one).toMatchObject({ state: 'sending', attempts: 1, folded: 0 });
      }
      expect((await claim(own.webhookId, 9)).map(({ deliveryId }) => deliveryId)).toEqual([third]);
      expect(await claim(own.webhookId, 9)).toEqual([]);
      await post(own.webhookId, [alertOf()], NOW_MS + 5);
      expect(await claim(own.webhookId, 9)).toEqual([]);
      expect(await claim(own.webhookId, 9, NOW_MS + 5)).toHaveLength(1);
    });

    it('should give one delivery to one of many that claim at once', async () => {
      const sent = await post(
        own.webhookId,
        Array.from({ length: 6 }, () => alertOf()),
      );
      const claims = await Promise.all([1, 2, 3].map(() => claim(own.webhookId, 6)));
      const got = claims.flat().map(({ deliveryId }) => deliveryId);
      expect(got.sort()).toEqual([...sent].sort());
    });

    it('should fold what waits with one key into the newest, and what that carried with it', async () => {
      const same = { dedupKey: HOSTILE };
      const [one = '', two = ''] = await post(own.webhookId, [alertOf(same), alertOf(same)]);
      const [carrier] = await claim(own.webhookId, 1);
      expect(carrier).toMatchObject({ deliveryId: two, folded: 1 });
      expect((await port().deliveries.get(one))?.delivery).toMatchObject({
        ...{ state: 'folded', foldedInto: two, endedAtMs: NOW_MS },
      });
      if (carrier !== undefined) await settle([ended(carrier, 503)]);
      const [three = ''] = await post(own.webhookId, [alertOf(same)]);
      expect(await claim(own.webhookId, 1)).toMatchObject([{ deliveryId: three, folded: 2 }]);
      expect((await port().deliveries.get(three))?.folded).toEqual([one, two]);
      expect((await port().deliveries.get(one))?.delivery.foldedInto).toBe(three);
    });

    it('should write what came of attempts, and only of those that are being sent', async () => {
      const [id = ''] = await post(own.webhookId, [alertOf()]);
      const [one] = await claim(own.webhookId, 1);
      if (one === undefined) throw new Error('nothing was claimed');
      await settle([ended(one, 503)]);
      const found = await port().deliveries.get(id);
      expect(found?.delivery).toMatchObject({ state: 'waiting', attempts: 1 });
      expect(found?.attempts).toMatchObject([
        { number: 1, status: 503, detail: HOSTILE.replaceAll('\0', '\uFFFD') },
      ]);
      // Late, and about an attempt that was told already.
      await settle([ended(one, 200)]);
      expect(await stateOf(id)).toBe('waiting');
      await settle([], [own.webhookId]);
      expect((await port().deliveries.get(id))?.delivery.dueAtMs).toBe(NOW_MS + 10);
      const [again] = await claim(own.webhookId, 1, NOW_MS + 10);
      if (again === undefined) throw new Error('nothing was claimed');
      await settle([ended(again, 204)]);
      const last = await port().deliveries.get(id);
      expect(last?.delivery).toMatchObject({ state: 'delivered', attempts: 2, reason: null });
      expect(last?.attempts.map(({ number }) => number)).toEqual([1, 2]);
    });

    it('should keep what a destination is', async () => {
      const event = { type: 'attempt.failed', atMs: NOW_MS, failure: 'timed_out' } as const;
      const destination = destinationAfter(newDestination, event);
      const { webhookId } = own;
      await port().deliveries.settle({
        ...{ epoch, nowMs: NOW_MS, attempts: [], recovered: [] },
        destinations: [{ webhookId, destination }],
      });
      expect(await port().webhooks.get(webhookId)).toEqual({ ...own, destination });
    });

    it('should take nothing before its first time, whatever became of its webhook', async () => {
      const [early, late] = [alertOf(), alertOf()];
      const dueAtMs = NOW_MS + 5_000;
      const { webhookId } = own;
      const deliveries = [early, late].map(({ alertId }, at) => ({
        ...{ deliveryId: nextId(), webhookId, alertId, ...(at === 1 ? { dueAtMs } : {}) },
      }));
      const alerts = [early, late];
      await port().deliveries.post({ epoch, nowMs: NOW_MS, alerts, deliveries, marks: [] });
      await settle([], [webhookId]);
      const [first, none] = [await claim(webhookId, 5), await claim(webhookId, 5, dueAtMs - 1)];
      expect(first.map(({ alert }) => alert.alertId)).toEqual([early.alertId]);
      expect(none).toEqual([]);
      const second = await claim(webhookId, 5, dueAtMs);
      expect(second.map(({ alert }) => alert.alertId)).toEqual([late.alertId]);
      expect(second[0]?.giveUpAtMs).toBe(dueAtMs + DELIVERY_GIVE_UP_MS);
    });

    it('should have what was not settled due again, once its lease or its tenure is over', async () => {
      const [id = ''] = await post(own.webhookId, [alertOf()]);
      await claim(own.webhookId, 1);
      const reclaim = (nowMs: number) => port().deliveries.reclaim({ epoch, nowMs });
      expect(await reclaim(NOW_MS + LEASE_MS - 1)).toBe(0);
      expect(await reclaim(NOW_MS + LEASE_MS)).toBe(1);
      expect(await stateOf(id)).toBe('waiting');
      await claim(own.webhookId, 1, NOW_MS + LEASE_MS);
      epoch = await stand();
      expect(await reclaim(NOW_MS + LEASE_MS + 1)).toBe(1);
      const found = await port().deliveries.get(id);
      expect(found?.delivery).toMatchObject({ state: 'waiting', attempts: 2 });
      expect(found?.attempts).toMatchObject([
        { number: 1, outcome: 'interrupted' },
        { number: 2, outcome: 'interrupted' },
      ]);
    });

    it('should refuse every write of a tenure that is over', async () => {
      const [id = ''] = await post(own.webhookId, [alertOf()]);
      const [one] = await claim(own.webhookId, 1);
      if (one === undefined) throw new Error('nothing was claimed');
      const old = epoch;
      epoch = await stand();
      const late = { epoch: old, nowMs: NOW_MS };
      const calls = [
        () => port().deliveries.post({ ...late, alerts: [], deliveries: [], marks: [] }),
        () => port().deliveries.reclaim(late),
        () => claim(own.webhookId, 1, NOW_MS, old),
        () =>
          port().deliveries.settle({
            ...{ ...late, attempts: [ended(one, 200)], destinations: [], recovered: [] },
          }),
        () => port().deliveries.sweep({ ...late, waitingMax: 0, endedBeforeMs: 0, limit: 1 }),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(Overtaken);
      expect(await stateOf(id)).toBe('sending');
    });

    it('should push out the oldest beyond the bound, and remove what ended long ago', async () => {
      const sent = await post(own.webhookId, [alertOf(), alertOf(), alertOf()]);
      const sweep = (endedBeforeMs: number) =>
        port().deliveries.sweep({
          ...{ epoch, nowMs: NOW_MS, waitingMax: 1, endedBeforeMs, limit: 10 },
        });
      expect(await sweep(NOW_MS)).toEqual({ dropped: 2, removed: 0 });
      expect(await Promise.all(sent.map(stateOf))).toEqual(['dead', 'dead', 'waiting']);
      expect(await port().deliveries.counts()).toEqual([
        { webhookId: own.webhookId, state: 'dead', count: 2, oldestAtMs: NOW_MS },
        { webhookId: own.webhookId, state: 'waiting', count: 1, oldestAtMs: NOW_MS },
      ]);
      expect(await sweep(NOW_MS + 1)).toEqual({ dropped: 0, removed: 2 });
      expect(await port().deliveries.list({ limit: 9, before: null })).toHaveLength(1);
    });

    it('should send again what was delivered or is dead, and say so in the audit log', async () => {
      const [id = '', other = ''] = await post(own.webhookId, [alertOf(), alertOf()]);
      const again = (deliveryId: string) => port().deliveries.replay({ ...doing, deliveryId });
      expect(await again(id)).toBe('not_ended');
      expect(await again(randomUUID())).toBe('not_found');
      const claimed = await claim(own.webhookId, 2);
      await settle(claimed.map((one) => ended(one, one.deliveryId === id ? 200 : 400)));
      expect(await again(id)).toMatchObject({ state: 'waiting', deliveryId: id });
      expect((await port().audit.recent(1))[0]).toMatchObject({
        ...{ action: 'delivery.replay', target: id, actor: 'user:ada' },
      });
      const dead = { ...doing, webhookId: own.webhookId, limit: 5 };
      expect(await port().deliveries.replayDead(dead)).toBe(1);
      expect((await port().audit.recent(1))[0]).toMatchObject({
        ...{ target: own.webhookId, detail: { dead_replayed: 1 } },
      });
      expect(await stateOf(other)).toBe('waiting');
      expect(await claim(own.webhookId, 9)).toHaveLength(2);
    });

    it('should list the newest first, by webhook and state', async () => {
      const sent = await post(own.webhookId, [alertOf(), alertOf(), alertOf()]);
      const page = { webhookId: own.webhookId, state: 'waiting', limit: 2 } as const;
      const first = await port().deliveries.list({ ...page, before: null });
      expect(first.map(({ deliveryId }) => deliveryId)).toEqual(sent.toReversed().slice(0, 2));
      const before = first.at(-1)?.deliveryId ?? '';
      const rest = await port().deliveries.list({ ...page, before });
      expect(rest.map(({ deliveryId }) => deliveryId)).toEqual(sent.slice(0, 1));
      expect(await port().deliveries.list({ ...page, state: 'dead', before: null })).toEqual([]);
    });

    it('should go with its webhook', async () => {
      const [id = ''] = await post(own.webhookId, [alertOf()]);
      await port().webhooks.remove({ ...doing, webhookId: own.webhookId });
      expect(await port().deliveries.get(id)).toBeNull();
    });

    it('should say when the database is away, and answer again by itself', async () => {
      const { deliveries, webhooks } = port();
      await expectAwayAndBack(harness, [
        () => webhooks.list(),
        () => webhooks.get(randomUUID()),
        () => webhooks.remove({ ...doing, webhookId: randomUUID() }),
        () => deliveries.marks(),
        () => deliveries.counts(),
        () => deliveries.list({ limit: 1, before: null }),
        () => deliveries.get(randomUUID()),
        () => deliveries.replay({ ...doing, deliveryId: randomUUID() }),
      ]);
    });
  });
}
