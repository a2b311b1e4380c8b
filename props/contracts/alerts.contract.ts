// The promises of the inbox: a match is in one alert, once, however often it is handed over; one alert of a key is live at
// most; every act has its audit row. decision: D60, D130
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Alert } from '../../machines/console/delivery/alert.ts';
import type { Finding } from '../../machines/console/detection/finding.ts';
import {
  type Investigation,
  investigationAfter,
  newInvestigation,
} from '../../machines/console/hunting/investigation.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { AlertAct, AlertRow, AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { HuntingStores } from '../../storage/ports/hunting/stores.ts';
import { type Designation, Overtaken } from '../../storage/ports/runtime/designation.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, NOW_MS } from './samples.ts';

type Ports = {
  readonly alerts: AlertStore;
  readonly designation: Designation;
  readonly audit: AuditLog;
} & Pick<HuntingStores, 'investigations' | 'investigationItems'>;
const doing = { actor: 'user:ada', from: '192.0.2.1', nowMs: NOW_MS };
let ids = 0;
/** Rises. */
function nextId(): string {
  ids += 1;
  return `0199${ids.toString(16).padStart(4, '0')}-0000-7000-8000-${randomUUID().slice(24)}`;
}

function foundOf(key: string, names: readonly string[], more: Partial<Alert> = {}): Finding {
  return {
    alert: {
      ...{ alertId: nextId(), kind: 'security_event', severity: 'low', ruleId: `rule ${key}` },
      ...{ sensorId: `sensor ${key}`, nodeName: 'Node-1', headline: HOSTILE, detail: HOSTILE },
      ...{ occurredAtMs: NOW_MS, observedAtMs: null, source: 'security_event', dedupKey: key },
      ...{ texts: { message: HOSTILE }, tags: ['a'], groupIds: [], relatedEventCount: null },
      ...{ search: null, ...more },
    },
    matches: names.map((matchId, place) => ({ matchId, isEvent: true, atMs: NOW_MS + place })),
    ...{ group: { 'process.binary': HOSTILE }, quietMs: 0, isToldAgain: false },
  };
}

export function alertsContract(harness: Harness<Ports>): void {
  const { port } = harness;
  let key = '';
  const raise = (...findings: readonly Finding[]) =>
    port().alerts.raise({ nowMs: NOW_MS, findings });
  const act = async (alertId: string, what: AlertAct) => {
    const [one] = await port().alerts.act({ ...doing, alertIds: [alertId], act: what });
    return one?.result;
  };
  const own = () => port().alerts.list({ ruleId: `rule ${key}`, limit: 50, before: null });

  describe('alerts', () => {
    beforeEach(() => {
      key = randomUUID();
    });

    it('should count each match once, in one alert, however often it is handed over', async () => {
      const first = foundOf(key, ['a', 'b']);
      const [made] = await raise(first);
      expect(made).toMatchObject({ state: 'open', count: 2, reopens: null, toldAtMs: null });
      expect(made?.alert).toEqual(first.alert);
      expect(await raise(first, foundOf(key, ['b', 'c', 'c']))).toEqual([]);
      const [row] = await own();
      expect(row).toMatchObject({ count: 3, eventIds: ['a', 'b', 'c'], revision: 2 });
      expect(row?.group).toEqual({ 'process.binary': HOSTILE });
      const { alertId } = first.alert;
      const events = await port().alerts.events({ alertId, limit: 2, before: null });
      const rest = await port().alerts.events({ alertId, limit: 9, before: events.at(-1) ?? null });
      expect([...events, ...rest].map((one) => one.matchId).sort()).toEqual(['a', 'b', 'c']);
      // The same name under another rule is another match.
      expect(await raise(foundOf(`${key} other`, ['a']))).toHaveLength(1);
      expect(await raise(foundOf(key, []))).toEqual([]);
      const asked = { ruleId: `rule ${key}`, matchIds: ['a', 'c', 'z'] };
      expect([...(await port().alerts.counted(asked))].sort()).toEqual(['a', 'c']);
    });

    it('should make of one call what several would have made', async () => {
      const made = await raise(foundOf(key, ['a']), foundOf(key, ['b']), foundOf(key, ['a', 'b']));
      expect(made).toHaveLength(1);
      const [row] = await own();
      expect(row).toMatchObject({ count: 2, eventIds: ['a', 'b'] });
    });

    it('should begin a new one that names the old after it was resolved', async () => {
      const [old] = await raise(foundOf(key, ['a'], { severity: 'high' }));
      const oldId = old?.alert.alertId ?? '';
      expect(await act(oldId, { act: 'acknowledge' })).toMatchObject({ state: 'acknowledged' });
      expect(await act(oldId, { act: 'acknowledge' })).toBe('refused');
      expect(await raise(foundOf(key, ['b']))).toEqual([]);
      expect(
        await act(oldId, { act: 'resolve', resolution: 'fixed', text: HOSTILE }),
      ).toMatchObject({ state: 'resolved', resolvedBy: 'user:ada', severity: 'high', count: 2 });
      const [next] = await raise(foundOf(key, ['a', 'c']));
      expect(next).toMatchObject({ state: 'open', count: 1, reopens: oldId, severity: 'low' });
      const found = await port().alerts.get(oldId);
      expect(found?.row).toMatchObject({ state: 'reopened', reopenedAs: next?.alert.alertId });
      const what = found?.notes.map((note) => [note.sequence, note.what, note.actor]);
      expect(what).toEqual([
        [1, 'opened', 'console'],
        [2, 'acknowledged', 'user:ada'],
        [3, 'resolved', 'user:ada'],
        [4, 'reopened', 'console'],
      ]);
    });

    it('should count on a resolved one for its quiet time', async () => {
      const [old] = await raise(foundOf(key, ['a']));
      await act(old?.alert.alertId ?? '', { act: 'resolve', resolution: 'expected' });
      const quiet = { ...foundOf(key, ['b']), quietMs: 1_000 };
      expect(await raise(quiet)).toEqual([]);
      expect((await own())[0]).toMatchObject({ state: 'resolved', count: 2 });
      const later = {
        nowMs: NOW_MS + 1_000,
        findings: [{ ...foundOf(key, ['c']), quietMs: 1_000 }],
      };
      expect(await port().alerts.raise(later)).toHaveLength(1);
    });

    it('should be assigned, commented on and opened again by hand, each with its audit row', async () => {
      const [row] = await raise(foundOf(key, ['a']));
      const alertId = row?.alert.alertId ?? '';
      expect(await act(alertId, { act: 'assign', to: 'user:bob' })).toMatchObject({
        assignee: 'user:bob',
      });
      expect(await act(alertId, { act: 'comment', text: HOSTILE })).toMatchObject({ revision: 3 });
      expect(await act(alertId, { act: 'reopen', as: nextId() })).toBe('refused');
      await act(alertId, { act: 'resolve', resolution: 'false_positive' });
      const as = nextId();
      expect(await act(alertId, { act: 'reopen', as })).toMatchObject({
        ...{ state: 'open', count: 0, reopens: alertId, assignee: 'user:bob', eventIds: ['a'] },
      });
      expect(await act(nextId(), { act: 'acknowledge' })).toBe('not_found');
      const [audited] = await port().audit.recent(1);
      expect(audited).toMatchObject({
        ...{ action: 'alert.reopen', target: alertId, actor: 'user:ada', result: 'ok' },
        detail: { as },
      });
      const { notes } = (await port().alerts.get(as)) ?? { notes: [] };
      expect(notes.map(({ what }) => what)).toEqual(['opened']);
    });

    it('should not be opened again beside one of its key that is open', async () => {
      // The clock of a Console was ahead when the first was made, so that its name is the highest.
      const [low, high] = [nextId(), nextId()];
      for (const alertId of [high, low]) {
        await raise(foundOf(key, [alertId], { alertId }));
        await act(alertId, { act: 'resolve', resolution: 'fixed' });
      }
      const [live] = await raise(foundOf(key, ['c'], { alertId: `${low.slice(0, -1)}z` }));
      expect(await act(low, { act: 'reopen', as: nextId() })).toBe('refused');
      const open = (await own()).filter(({ state }) => state === 'open');
      expect(open.map(({ alert }) => alert.alertId)).toEqual([live?.alert.alertId]);
    });

    it('should be found by each filter, newest first', async () => {
      const sensorId = `sensor of ${key}`;
      const [a] = await raise(foundOf(`${key} a`, ['1'], { sensorId, headline: 'Shell IN nginx' }));
      const [b] = await raise(foundOf(`${key} b`, ['1'], { sensorId, severity: 'critical' }));
      await act(a?.alert.alertId ?? '', { act: 'assign', to: `user:${key}` });
      const idsOf = async (more: object) =>
        (await port().alerts.list({ sensorId, limit: 9, before: null, ...more })).map(
          ({ alert }) => alert.alertId,
        );
      const [aId, bId] = [a?.alert.alertId, b?.alert.alertId];
      expect(await idsOf({})).toEqual([bId, aId]);
      expect(await idsOf({ before: bId })).toEqual([aId]);
      expect(await idsOf({ severities: ['critical'] })).toEqual([bId]);
      expect(await idsOf({ assignee: `user:${key}` })).toEqual([aId]);
      expect(await idsOf({ text: 'in NGINX' })).toEqual([aId]);
      expect(await idsOf({ states: ['resolved'] })).toEqual([]);
      expect(await idsOf({ states: [] })).toEqual([]);
      expect(await idsOf({ kinds: ['anomaly'] })).toEqual([]);
      expect(await idsOf({ sources: ['security_event'], toMs: NOW_MS + 1 })).toEqual([bId, aId]);
      expect(await idsOf({ fromMs: NOW_MS + 1 })).toEqual([]);
    });

    it('should tell webhooks of what is new, and of what wants to be told again', async () => {
      const epoch = await stand(port());
      const [row] = await raise(foundOf(key, ['a']));
      const isUntold = async () =>
        (await port().alerts.untold(10_000)).some(({ alert }) => alert.dedupKey === key);
      expect(await isUntold()).toBe(true);
      const { alertId } = (row as AlertRow).alert;
      await port().alerts.told({ epoch, nowMs: NOW_MS, alerts: [{ alertId, revision: 9 }] });
      expect(await isUntold()).toBe(true);
      await port().alerts.told({ epoch, nowMs: NOW_MS, alerts: [{ alertId, revision: 1 }] });
      expect(await isUntold()).toBe(false);
      await raise(foundOf(key, ['b']));
      expect(await isUntold()).toBe(false);
      await raise({ ...foundOf(key, ['c']), isToldAgain: true });
      expect(await isUntold()).toBe(true);
    });

    it('should resolve what is over by itself, and count what is live', async () => {
      await raise(foundOf(key, ['a']));
      const live = async () => (await port().alerts.liveByRule()).get(`rule ${key}`);
      expect(await live()).toBe(1);
      const low = (await port().alerts.counts()).find(
        (one) => one.state === 'open' && one.severity === 'low',
      );
      expect(low?.count).toBeGreaterThan(0);
      expect(await port().alerts.pass({ nowMs: NOW_MS, dedupKeys: [key, 'none'] })).toBe(1);
      expect(await port().alerts.pass({ nowMs: NOW_MS, dedupKeys: [key] })).toBe(0);
      expect((await own())[0]).toMatchObject({ state: 'resolved', resolution: 'passed' });
      expect(await live()).toBeUndefined();
    });

    it('should remove what was settled long ago, with its matches', async () => {
      const epoch = await stand(port());
      const [row] = await raise(foundOf(key, ['a']));
      const sweep = (changedBeforeMs: number) =>
        port().alerts.sweep({ epoch, changedBeforeMs, limit: 10_000 });
      await sweep(NOW_MS + 1);
      expect(await own()).toHaveLength(1);
      await act(row?.alert.alertId ?? '', { act: 'resolve', resolution: 'fixed' });
      await sweep(NOW_MS);
      expect(await own()).toHaveLength(1);
      expect(await sweep(NOW_MS + 1)).toBeGreaterThan(0);
      expect(await own()).toEqual([]);
      expect(await raise(foundOf(key, ['a']))).toHaveLength(1);
    });

    it('should keep what an investigation holds until that is closed, and hold up nothing else', async () => {
      const epoch = await stand(port());
      const [held] = await raise(foundOf(key, ['a']));
      const [free] = await raise(foundOf(`${key} free`, ['a']));
      const [heldId, freeId] = [held?.alert.alertId ?? '', free?.alert.alertId ?? ''];
      const { id, revision } = await investigate(port(), heldId);
      for (const one of [heldId, freeId]) await act(one, { act: 'resolve', resolution: 'fixed' });
      // The one that is held is the oldest: batches of one still get past it.
      const sweep = () => port().alerts.sweep({ epoch, changedBeforeMs: NOW_MS + 1, limit: 1 });
      while ((await sweep()) > 0);
      expect(await port().alerts.get(heldId)).not.toBeNull();
      expect(await port().alerts.get(freeId)).toBeNull();
      await port().investigations.change({
        ...{ id, revision, nowMs: NOW_MS, body: { ...SUSPICION, standing: CLOSED } },
      });
      expect(await sweep()).toBe(1);
      expect(await port().alerts.get(heldId)).toBeNull();
    });

    it('should refuse whoever is designated no more', async () => {
      const old = await stand(port());
      await stand(port());
      const late = { epoch: old, nowMs: NOW_MS };
      const findings = [foundOf(key, ['a'])];
      await expect(port().alerts.raise({ ...late, findings })).rejects.toThrow(Overtaken);
      await expect(port().alerts.pass({ ...late, dedupKeys: [key] })).rejects.toThrow(Overtaken);
      await expect(port().alerts.told({ ...late, alerts: [] })).rejects.toThrow(Overtaken);
      expect(await own()).toEqual([]);
    });

    it('should reject while the store is away and work afterwards', async () => {
      await expectAwayAndBack(harness, [
        () => raise(foundOf(key, ['a'])),
        () => own(),
        () => port().alerts.get(nextId()),
        () => port().alerts.counts(),
        () => port().alerts.untold(1),
      ]);
    });
  });
}

const SUSPICION: Investigation = {
  ...{ name: HOSTILE, summary: HOSTILE, severity: 'high', createdBy: 'user:a' },
  ...{ standing: newInvestigation, moves: [] },
};
const CLOSED =
  investigationAfter(newInvestigation, {
    ...{ type: 'investigation.closed', atMs: NOW_MS, outcome: 'benign' },
  }) ?? newInvestigation;

/** An open investigation that holds an alert, among hostile words. */
async function investigate(
  { investigations, investigationItems }: Ports,
  alertId: string,
): Promise<{ readonly id: string; readonly revision: number }> {
  const added = { max: 100_000, nowMs: NOW_MS };
  const row = await investigations.add({ ...added, id: randomUUID(), body: SUSPICION });
  if (typeof row === 'string') throw new Error(row);
  const said = { atMs: 1, addedBy: 'user:a', addedAtMs: 2, note: HOSTILE };
  for (const body of [
    { ...said, what: 'note' as const },
    { ...said, what: 'alert' as const, alertId, headline: HOSTILE },
  ]) {
    await investigationItems.add({ ...added, id: randomUUID(), parentId: row.id, body });
  }
  return row;
}

/** Becomes the designated Console; whoever was is not any more. */
async function stand({ designation }: Pick<Ports, 'designation'>): Promise<number> {
  const tenure = await designation.stand({
    ...{ holder: 'contract', nowMs: NOW_MS, onLost: () => undefined },
  });
  if (tenure === null) throw new Error('somebody else is designated');
  await tenure.release();
  return tenure.epoch;
}
