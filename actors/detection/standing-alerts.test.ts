// What holds is told once, and what holds no more is over, through the reference store; and what a rollout, a license and two
// nodes with one identity come to in the inbox.
import { expect, it } from 'vitest';
import type { RolloutRow } from '../../machines/console/policy/book.rules.ts';
import { bannersOfLicense } from '../../machines/trust/license.rules.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createConflictWatch } from '../delivery/conflict-watch.ts';
import { licenseEnding } from '../license/license-alerts.ts';
import type { LicenseView } from '../license/license-service.ts';
import { rolloutsHalted } from '../policy/rollout-alerts.ts';
import { type Alerts, createAlerts } from './alerts.ts';
import { createStandingAlerts } from './standing-alerts.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;
let ids = 0;
const newId = () => {
  ids += 1;
  return `alert-${ids}`;
};

function inbox() {
  const store = createMemoryRelational().alerts;
  const all = createAlerts({ store, now: () => NOW_MS });
  // Tenures are the telling's own here: nobody was designated.
  const alerts: Pick<Alerts, 'raise' | 'pass'> = {
    raise: (findings) => all.raise(findings),
    pass: (keys) => all.pass(keys),
  };
  const told: string[] = [];
  all.onRaised((fresh) => told.push(...fresh.map(({ alert }) => alert.headline)));
  const open = async () =>
    (await store.list({ states: ['open'], limit: 100, before: null })).map(
      ({ alert, severity, count }) => ({ kind: alert.kind, severity, count }),
    );
  return { alerts, told, open, store };
}

function rollout(state: RolloutRow['state'], sequence: number, rolloutId = 'r'): RolloutRow {
  const failed = { gate: 'rejected', counted: 2, limit: 0 };
  return {
    ...{ rolloutId, state, sequence, movedAtMs: NOW_MS },
    ...{ target: { kind: 'fleet' }, next: { packId: 'p', version: 3 } },
    context: { failed: state === 'running.reaching' ? null : failed },
  } as unknown as RolloutRow;
}

it('should tell of a halted rollout once, and again when it halts another time', async () => {
  const { alerts, told, open } = inbox();
  const tell = createStandingAlerts(alerts);
  const look = (...rows: readonly RolloutRow[]) => tell(rolloutsHalted(rows, newId), 1);
  await look(rollout('running.reaching', 1));
  expect(told).toEqual([]);
  await look(rollout('halted', 2));
  await look(rollout('halted', 2));
  // Another Console of the next tenure knows nothing of what was told.
  await createStandingAlerts(alerts)(rolloutsHalted([rollout('halted', 2)], newId), 2);
  expect(told).toEqual(['A rollout of version 3 stands still']);
  expect(await open()).toEqual([{ kind: 'policy_rollout_halted', severity: 'high', count: 1 }]);
  await look(rollout('running.reaching', 3));
  expect(await open()).toEqual([]);
  await look(rollout('halted', 4));
  expect(await open()).toMatchObject([{ count: 1 }]);
  await look(rollout('halted', 4), rollout('returning', 2, 'other'));
  await look(rollout('halted', 4), rollout('returned', 3, 'other'));
  const halted = 'A rollout of version 3 stands still';
  expect(told).toEqual([halted, halted, 'A rollout of version 3 goes back']);
});

it('should tell of the end of a license in three steps, and say that it is over when one is imported', async () => {
  const { alerts, told, open } = inbox();
  const tell = createStandingAlerts(alerts);
  const at = (days: number, licenseId = 'l', untilDays = 0) => {
    const nowMs = NOW_MS + days * DAY_MS;
    const validUntilMs = NOW_MS + untilDays * DAY_MS;
    const license = {
      licenseId,
      validFromMs: 0,
      validUntilMs,
      graceUntilMs: validUntilMs + DAY_MS,
    };
    const banners = bannersOfLicense(license as never, { nowMs, seenMs: nowMs });
    return tell(licenseEnding({ license, banners, nowMs } as unknown as LicenseView, newId), 1);
  };
  await at(-20);
  expect(told).toEqual([]);
  await at(-10);
  await at(-9);
  expect(await open()).toMatchObject([{ kind: 'license_expiring', severity: 'medium', count: 1 }]);
  await at(0.5);
  expect(await open()).toMatchObject([{ severity: 'high', count: 1 }]);
  await at(3);
  expect(await open()).toMatchObject([{ severity: 'critical', count: 1 }]);
  await at(3, 'next', 400);
  expect(await open()).toEqual([]);
  expect(told).toHaveLength(3);
});

it('should count every refused stream of a cloned node on one alert, also when the database was away', async () => {
  const { alerts, open, store } = inbox();
  let isAway = true;
  const watch = createConflictWatch({
    alerts: {
      raise: (findings) => (isAway ? Promise.reject(new Error('away')) : alerts.raise(findings)),
    },
    labelsOf: async () => ({ tags: ['t'], groupIds: [] }),
    nodeNameOf: async () => 'node-1',
    chance: { newId },
  });
  const run = () => watch.loop.run({ signal: new AbortController().signal });
  watch.note('s', '192.0.2.7', NOW_MS);
  await expect(run()).rejects.toThrow('away');
  watch.note('s', '192.0.2.7', NOW_MS + 1);
  isAway = false;
  await run();
  await run();
  expect(await open()).toMatchObject([
    { kind: 'identity_conflict', severity: 'critical', count: 2 },
  ]);
  const [row] = await store.list({ sensorId: 's', limit: 1, before: null });
  expect(row?.alert).toMatchObject({ nodeName: 'node-1', tags: ['t'] });
  expect(row?.alert.detail).toContain('192.0.2.7');
});
