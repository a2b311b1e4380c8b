// The promises of the baseline store: the latest baseline of a program, and each score once, from the event it came with.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Baseline } from '../../machines/wire/baseline.ts';
import type { BaselineStore } from '../../storage/ports/telemetry/baseline-store.ts';
import {
  type EventSink,
  EventStoreUnavailable,
} from '../../storage/ports/telemetry/event-store.ts';
import type { Harness } from './away.ts';
import { batch, event, HOSTILE, NOW_MS } from './samples.ts';

function baseline(binary: string, more: Partial<Baseline> = {}): Baseline {
  return {
    binary,
    executions: 12.5,
    is_warm: true,
    learned_since: new Date(NOW_MS - 86_400_000).toISOString(),
    updated_at: new Date(NOW_MS).toISOString(),
    children: [{ name: '/bin/sh', weight: 0.25 }],
    files: [],
    destinations: [{ name: HOSTILE, weight: 3 }],
    users: [{ name: '0', weight: 1 }],
    hours: Array.from({ length: 24 }, (_, hour) => hour / 4),
    ...more,
  };
}

export function baselineStoreContract(
  harness: Harness<{ readonly baselines: BaselineStore; readonly sink: EventSink }>,
): void {
  const store = () => harness.port().baselines;

  it('should hold the latest baseline of each program, by name, page by page', async () => {
    const sensorId = randomUUID();
    const [one, two] = [baseline('/usr/bin/a'), baseline(HOSTILE)];
    await store().put({ sensorId, baselines: [one, two], forgotten: [], nowMs: NOW_MS });
    const changed = baseline('/usr/bin/a', { executions: 99, is_warm: false });
    const later = NOW_MS + 1_000;
    await store().put({ sensorId, baselines: [changed], forgotten: [], nowMs: later });
    const all = await store().baselinesOf({ sensorId, limit: 9, afterBinary: null });
    expect(all).toEqual([
      { ...two, storedAtMs: NOW_MS },
      { ...changed, storedAtMs: later },
    ]);
    const rest = await store().baselinesOf({ sensorId, limit: 1, afterBinary: HOSTILE });
    expect(rest.map(({ binary }) => binary)).toEqual(['/usr/bin/a']);
    const only = { sensorId, binary: HOSTILE, limit: 9, afterBinary: null };
    expect((await store().baselinesOf(only)).map(({ binary }) => binary)).toEqual([HOSTILE]);
    expect(await store().baselinesOf({ ...only, binary: '/usr/bin/none' })).toEqual([]);
    await store().put({ sensorId, baselines: [], forgotten: ['/usr/bin/a'], nowMs: later + 1 });
    const left = await store().baselinesOf({ sensorId, limit: 9, afterBinary: null });
    expect(left.map(({ binary }) => binary)).toEqual([HOSTILE]);
  });

  it('should have each score once, with the event it came with', async () => {
    const at = (agoMs: number) => new Date(NOW_MS - agoMs).toISOString().replace('Z', '000007Z');
    const odd = event({
      ...{ observed_at: at(2_000), anomaly_score: 0.75 },
      process: { exec_id: 'a', pid: 1, binary: HOSTILE },
    });
    const odder = event({
      observed_at: at(1_000),
      anomaly_score: 0.5,
      process: undefined as never,
    });
    const usual = event({ observed_at: at(500) });
    const one = batch({ events: [odd, odder, usual] });
    const { sensorId } = one;
    await harness.port().sink.append(one);
    await harness.port().sink.append({ ...one, channel: 'batch', events: [odd] });
    const query = { sensorId, fromMs: 0, toMs: NOW_MS + 1_000, limit: 9 };
    const scores = await store().scoresOf({ ...query, atLeast: 0 });
    expect(scores).toEqual([
      {
        ...{ sensorId, at: at(1_000), eventId: odder.event_id, eventKind: odder.event_kind },
        ...{ binary: '', score: 0.5 },
      },
      {
        ...{ sensorId, at: at(2_000), eventId: odd.event_id, eventKind: odd.event_kind },
        ...{ binary: HOSTILE, score: 0.75 },
      },
    ]);
    const high = await store().scoresOf({ ...query, atLeast: 0.6 });
    expect(high.map(({ eventId }) => eventId)).toEqual([odd.event_id]);
    const early = await store().scoresOf({ ...query, atLeast: 0, toMs: NOW_MS - 1_500 });
    expect(early.map(({ eventId }) => eventId)).toEqual([odd.event_id]);
  });

  it('should say that it is away', async () => {
    const sensorId = randomUUID();
    await harness.setAway(true);
    const put = store().put({ sensorId, baselines: [baseline('a')], forgotten: [], nowMs: NOW_MS });
    await expect(put).rejects.toThrow(EventStoreUnavailable);
    await harness.setAway(false);
    expect(await store().baselinesOf({ sensorId, limit: 9, afterBinary: null })).toEqual([]);
  });
}
