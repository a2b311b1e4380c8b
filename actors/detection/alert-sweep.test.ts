// Settled alerts go in batches, one after the other without a wait, and are counted. decision: D60, D130
import { expect, it } from 'vitest';
import { findingOf } from '../../machines/console/detection/finding.ts';
import { ALERTS_KEPT_MS, ALERTS_REMOVED_PER_RUN_MAX } from '../../machines/limits.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createAlertSweep } from './alert-sweep.ts';

const BEGAN_MS = 1_700_000_000_000;

it('should remove what was settled long ago, batch after batch, and leave what is live', async () => {
  const { alerts: store, designation } = createMemoryRelational();
  const ids = Array.from({ length: ALERTS_REMOVED_PER_RUN_MAX + 2 }, (_, at) => `alert ${at}`);
  const findings = ids.map((alertId) =>
    findingOf(
      {
        ...{ alertId, kind: 'sensor_stale', severity: 'low', ruleId: alertId, sensorId: 's' },
        ...{ nodeName: 'n', headline: '', detail: '', occurredAtMs: BEGAN_MS, observedAtMs: null },
        ...{ source: 'trust', dedupKey: alertId, texts: {}, tags: [], groupIds: [] },
        ...{ relatedEventCount: null, search: null },
      },
      'once',
    ),
  );
  await store.raise({ nowMs: BEGAN_MS, findings });
  await store.act({
    ...{ actor: 'user:a', from: '192.0.2.1', nowMs: BEGAN_MS, alertIds: ids.slice(1) },
    act: { act: 'resolve', resolution: 'fixed' },
  });
  const tenure = await designation.stand({
    ...{ holder: 'x', nowMs: BEGAN_MS, onLost: () => undefined },
  });
  const of = { epoch: tenure?.epoch ?? 0, signal: new AbortController().signal };
  let nowMs = BEGAN_MS + ALERTS_KEPT_MS;
  const { loop, removed } = createAlertSweep({ store, now: () => nowMs });
  expect([await loop.run(of), removed()]).toEqual([{ hasMore: false }, 0]);
  nowMs += 1;
  expect([await loop.run(of), removed()]).toEqual([{ hasMore: true }, ALERTS_REMOVED_PER_RUN_MAX]);
  expect([await loop.run(of), removed()]).toEqual([{ hasMore: false }, ids.length - 1]);
  const left = await store.list({ limit: 10, before: null });
  expect(left.map(({ alert }) => alert.alertId)).toEqual(['alert 0']);
});
