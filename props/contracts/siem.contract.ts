// The promises of SIEM destinations, of the floors of sinks, and of reading events by their receipt: an operator and the
// Console that is designated never undo each other, nothing appears before the horizon without cursors going back, and a page
// begins where the last one ended. decision: D60, D152, D153
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { newSiemStanding } from '../../machines/console/siem/siem-standing.ts';
import { SIEM_DESTINATIONS_MAX } from '../../machines/limits.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { FLEET_RULES_CURSOR, type RuleStore } from '../../storage/ports/detection/rule-store.ts';
import { type Designation, Overtaken } from '../../storage/ports/runtime/designation.ts';
import type { SiemRow, SiemStore } from '../../storage/ports/siem/siem-store.ts';
import type { SinkFloors } from '../../storage/ports/siem/sink-floors.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, NOW_MS } from './samples.ts';

type Ports = {
  readonly siem: SiemStore;
  readonly sinkFloors: SinkFloors;
  readonly alertRules: Pick<RuleStore, 'advance' | 'cursor'>;
  readonly designation: Designation;
  readonly audit: AuditLog;
};
const doing = { actor: 'user:ada', from: '192.0.2.1', nowMs: NOW_MS };

export function siemContract(harness: Harness<Ports>): void {
  const { port } = harness;
  let epoch = 0;

  async function stand(): Promise<number> {
    const tenure = await port().designation.stand({
      ...{ holder: 'contract', nowMs: NOW_MS, onLost: () => undefined },
    });
    if (tenure === null) throw new Error('somebody else is designated');
    await tenure.release();
    return tenure.epoch;
  }
  const add = (more: Partial<SiemRow> = {}) =>
    port().siem.create({
      ...doing,
      destination: {
        ...{ destinationId: randomUUID(), kind: 'observe', name: `${HOSTILE}${randomUUID()}` },
        ...{ targetUrl: 'https://siem.example.org/v1/http', secretSealed: 'sealed' },
        ...{ hasToken: true, filter: 'severity:high', standing: newSiemStanding(1_000) },
        options: { caPem: null, proxyUrl: null, category: null, sourceName: null },
        ...more,
      },
    });
  async function made(more: Partial<SiemRow> = {}): Promise<SiemRow> {
    const row = await add(more);
    if (typeof row === 'string') throw new Error(row);
    return row;
  }

  describe('SIEM destinations', () => {
    beforeEach(async () => {
      epoch = await stand();
      for (const { destinationId } of await port().siem.list()) {
        await port().siem.remove({ ...doing, destinationId });
      }
    });

    it('should keep one, change it by its revision, and tell the audit log no secret', async () => {
      const row = await made();
      const { destinationId } = row;
      expect(await port().siem.get(destinationId)).toEqual(row);
      const change = { ...doing, destinationId, revision: 1, patch: { filter: '', name: 'b' } };
      expect(await port().siem.change(change)).toMatchObject({ filter: '', revision: 2 });
      expect(await port().siem.change(change)).toBe('conflict');
      const [entry] = await port().audit.recent(1);
      expect(entry).toMatchObject({ action: 'siem.change', detail: { is_secret_new: false } });
      expect(JSON.stringify(entry)).not.toContain('sealed');
      expect(JSON.stringify(entry)).not.toContain('/v1/http');
      expect(await port().siem.remove({ ...doing, destinationId })).toBe(true);
      expect(await port().siem.remove({ ...doing, destinationId })).toBe(false);
      expect(await port().siem.change(change)).toBe('not_found');
    });

    it('should give a name once, and have an end to how many there are', async () => {
      const row = await made({ name: 'one' });
      expect(await add({ name: 'one' })).toBe('conflict');
      const other = await made({ name: 'two' });
      const { destinationId } = other;
      const patch = { name: 'one' };
      expect(await port().siem.change({ ...doing, destinationId, revision: 1, patch })).toBe(
        'conflict',
      );
      for (let count = 2; count < SIEM_DESTINATIONS_MAX; count += 1) await made();
      expect(await add()).toBe('full');
      expect(await port().siem.list()).toHaveLength(SIEM_DESTINATIONS_MAX);
      expect(row.name).toBe('one');
    });

    it('should move one as it is now, whatever an operator ordered meanwhile', async () => {
      const { destinationId } = await made();
      const from = { receivedAtMs: 1_000, eventId: '' };
      const to = { receivedAtMs: 2_000, eventId: 'a' };
      const event = { type: 'batch.accepted', atMs: 5, events: 2, refused: 0, from, to } as const;
      const back = { type: 'destination.resumed', fromMs: 500 } as const;
      await port().siem.order({ ...doing, destinationId, event: back });
      await port().siem.order({ ...doing, destinationId, event: { type: 'destination.paused' } });
      await port().siem.move({ epoch, moves: [{ destinationId, event }] });
      const row = await port().siem.get(destinationId);
      expect(row?.standing).toMatchObject({
        ...{ state: 'paused', sentEvents: 2, cursor: { receivedAtMs: 500 } },
      });
      const [paused, resumed] = await port().audit.recent(2);
      expect([paused?.action, resumed?.action]).toEqual(['siem.pause', 'siem.resume']);
      const gone = { ...doing, destinationId: randomUUID(), event: back };
      expect(await port().siem.order(gone)).toBe('not_found');
      await port().siem.move({ epoch, moves: [{ destinationId: randomUUID(), event }] });
    });

    it('should take nothing from a Console that was overtaken', async () => {
      const { destinationId } = await made();
      const old = epoch;
      epoch = await stand();
      const event = { type: 'destination.paused' } as const;
      await expect(
        port().siem.move({ epoch: old, moves: [{ destinationId, event }] }),
      ).rejects.toThrow(Overtaken);
      await expect(port().sinkFloors.horizon({ epoch: old, nowMs: NOW_MS })).rejects.toThrow(
        Overtaken,
      );
      expect((await port().siem.get(destinationId))?.standing.state).toBe('forwarding');
    });

    it('should put a secret under another key only while it is what was read', async () => {
      const { destinationId } = await made();
      const { siem } = port();
      expect(await siem.reseal({ destinationId, was: 'other', sealed: 'new' })).toBe(false);
      expect(await siem.reseal({ destinationId, was: 'sealed', sealed: 'new' })).toBe(true);
      expect(await siem.get(destinationId)).toMatchObject({ secretSealed: 'new', revision: 1 });
    });

    it('should say when it is away, and answer again by itself', async () => {
      await expectAwayAndBack(harness, [() => port().siem.list()]);
    });
  });

  describe('floors of sinks', () => {
    const horizon = () => port().sinkFloors.horizon({ epoch, nowMs: NOW_MS });
    const life = () => `host/${randomUUID()}`;
    beforeEach(async () => {
      epoch = await stand();
    });

    it('should have the lowest floor as horizon, which never falls by that', async () => {
      const { sinkFloors } = port();
      const [one, two] = [life(), life()];
      const beginMs = await sinkFloors.join({ life: one, nowMs: NOW_MS, sinceMs: null });
      // Nobody begins at the beginning of time.
      expect(beginMs).toBeGreaterThan(Date.UTC(2026, 0) - 1);
      await sinkFloors.tell({ life: one, nowMs: NOW_MS, floorMs: beginMs + 50 });
      expect(await horizon()).toBe(beginMs + 50);
      expect(await sinkFloors.join({ life: two, nowMs: NOW_MS, sinceMs: null })).toBe(beginMs + 50);
      await sinkFloors.tell({ life: one, nowMs: NOW_MS, floorMs: beginMs + 90 });
      expect(await horizon()).toBe(beginMs + 50);
      await sinkFloors.tell({ life: two, nowMs: NOW_MS, floorMs: beginMs + 70 });
      expect(await horizon()).toBe(beginMs + 70);
      // A lower floor than before is no floor.
      await sinkFloors.tell({ life: two, nowMs: NOW_MS, floorMs: beginMs });
      expect(await horizon()).toBe(beginMs + 70);
      await sinkFloors.leave({ life: two });
      expect(await horizon()).toBe(beginMs + 90);
      await sinkFloors.leave({ life: one });
      expect(await horizon()).toBe(beginMs + 90);
    });

    it('should answer with its clock, and not know who was left out', async () => {
      const { sinkFloors } = port();
      expect(await sinkFloors.tell({ life: life(), nowMs: NOW_MS, floorMs: 1 })).toBe('unknown');
      const own = life();
      await sinkFloors.join({ life: own, nowMs: NOW_MS, sinceMs: null });
      const told = await sinkFloors.tell({ life: own, nowMs: NOW_MS, floorMs: 1 });
      expect(Number(told)).toBeGreaterThan(Date.UTC(2026, 0) - 1);
      await sinkFloors.leave({ life: own });
    });

    it('should have cursors go back with a Console that comes back after it was left out', async () => {
      const { sinkFloors, siem, alertRules } = port();
      const own = life();
      const beginMs = await sinkFloors.join({ life: own, nowMs: NOW_MS, sinceMs: null });
      await sinkFloors.tell({ life: own, nowMs: NOW_MS, floorMs: beginMs + 100 });
      expect(await horizon()).toBe(beginMs + 100);
      const { destinationId } = await made({ standing: newSiemStanding(beginMs + 90) });
      await alertRules.advance({ name: FLEET_RULES_CURSOR, receivedMs: beginMs + 90 });
      await sinkFloors.leave({ life: own });
      const sinceMs = beginMs + 40;
      expect(await sinkFloors.join({ life: own, nowMs: NOW_MS, sinceMs })).toBe(sinceMs);
      expect(await horizon()).toBe(sinceMs);
      const row = await siem.get(destinationId);
      expect(row?.standing.cursor).toEqual({ receivedAtMs: sinceMs, eventId: '' });
      expect(await alertRules.cursor(FLEET_RULES_CURSOR)).toBe(sinceMs);
      await sinkFloors.leave({ life: own });
    });
  });
}
