// What is absent where a sensor's events arrive at two Consoles: what neither has seen, and nothing that the other has.
import { describe, expect, it } from 'vitest';
import type { RuleSpec } from '../../machines/detection/rule-spec.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../storage/memory/telemetry/memory-events.ts';
import { EventStoreUnavailable } from '../../storage/ports/telemetry/event-store.ts';
import { createAlerts } from './alerts.ts';
import { createRuleEngine, type RuleEngine } from './rule-engine.ts';

const BEGIN_MS = Date.parse('2026-11-25T00:00:00Z');
const WINDOW_MS = 300_000;
const RULE: RuleSpec = {
  ...{ rule_name: 'backup', severity: 'low' },
  detect: { kind: 'absence', condition: 'binary:/bin/backup', window_secs: WINDOW_MS / 1_000 },
};

async function createConsoles(more: Partial<RuleSpec> = {}) {
  const { alerts, alertRules } = createMemoryRelational();
  const events = createMemoryEvents(1_000, 1_000_000);
  const spec = { ...RULE, ...more };
  await alertRules.put({
    ...{ actor: 'a', from: '', nowMs: BEGIN_MS, ruleId: 'backup', version: null, spec },
  });
  const made = { ids: 0, nowMs: BEGIN_MS, questions: 0 };
  const store: typeof events.events = {
    ...events.events,
    async arrivals(asked) {
      made.questions += 1;
      if (made.questions === 0) throw new EventStoreUnavailable('away');
      return await events.events.arrivals(asked);
    },
  };
  const newId = () => {
    made.ids += 1;
    return `0199-${made.ids.toString().padStart(8, '0')}`;
  };
  const labels = { tags: [], groupIds: [], role: null };
  const start = async (): Promise<RuleEngine> => {
    const engine = createRuleEngine(
      {
        ...{ rules: alertRules, events: store, inbox: alerts, chance: { newId } },
        alerts: createAlerts({ store: alerts, now: () => made.nowMs }),
        ...{ labelsOf: () => labels, now: () => made.nowMs, monotonicNow: () => 0 },
        horizon: async () => made.nowMs,
        pause: async () => undefined,
      },
      () => undefined,
    );
    await engine.look();
    return engine;
  };
  return {
    ...{ here: await start(), there: await start() },
    setMode: events.setMode,
    /** The store fails at its n-th question from now on. */
    failAt(n: number) {
      made.questions = -n;
    },
    /** A program starts on the sensor, so long after the beginning, and is told to one of them. */
    async starts(engine: RuleEngine, secs: number, program: string) {
      made.nowMs = BEGIN_MS + secs * 1_000;
      made.ids += 1;
      const event = {
        ...{ event_id: made.ids.toString(16).padStart(32, '0'), schema_version: 1 },
        ...{ severity: 'info' as const, event_kind: 'process_exec' as const, message: 'm' },
        observed_at: new Date(made.nowMs).toISOString(),
        process: { exec_id: String(made.ids), pid: made.ids, binary: `/bin/${program}` },
      };
      const batch = {
        ...{ sensorId: 'sensor', nodeName: 'node', streamId: 's', channel: 'batch' as const },
        ...{ digest: '', sequence: made.ids, receivedAtMs: made.nowMs, events: [event] },
      };
      await events.sink.append(batch);
      engine.take(batch);
      while (await engine.work());
    },
    /** Since when it was missed, in seconds from the beginning. */
    async missed() {
      const rows = await alerts.list({ limit: 10, before: null });
      return rows.map(({ alert: { detail }, count }) => {
        const sinceMs = Date.parse(detail.slice('Nothing of it since '.length, -1));
        return [(sinceMs - BEGIN_MS) / 1_000, count];
      });
    },
  };
}

describe('absences with two Consoles', () => {
  it('should not tell of what the other Console has seen, and wait from then on', async () => {
    const { here, there, starts, missed } = await createConsoles();
    await starts(here, 10, 'backup');
    await starts(there, 200, 'backup');
    await starts(here, 400, 'other');
    expect(await missed()).toEqual([]);
    await starts(here, 600, 'other');
    expect(await missed()).toEqual([[200, 1]]);
  });

  it('should tell of what came too late, or was silenced, on either', async () => {
    const { here, there, starts, missed } = await createConsoles();
    await starts(here, 10, 'backup');
    await starts(there, 320, 'backup');
    await starts(here, 400, 'other');
    expect(await missed()).toEqual([[10, 1]]);
    const silent = await createConsoles({ mutes: [{ sensor_id: 'sensor' }] });
    await silent.starts(silent.here, 10, 'backup');
    await silent.starts(silent.here, 400, 'other');
    expect(await silent.missed()).toEqual([]);
  });

  it('should lose nothing of what it finds when the store fails in between', async () => {
    const { here, there, starts, missed, failAt } = await createConsoles();
    await starts(here, 10, 'backup');
    await starts(there, 200, 'backup');
    failAt(2);
    await expect(starts(here, 600, 'other')).rejects.toThrow();
    expect(await missed()).toEqual([]);
    await here.work();
    expect(await missed()).toEqual([[200, 1]]);
  });

  it('should wait for a store that cannot answer, and tell then', async () => {
    const { here, starts, missed, setMode } = await createConsoles();
    await starts(here, 10, 'backup');
    setMode('fail');
    await expect(starts(here, 400, 'other')).rejects.toThrow();
    expect(here.hasWork()).toBe(true);
    setMode('work');
    await here.work();
    expect(await missed()).toEqual([[10, 1]]);
    expect(here.hasWork()).toBe(false);
  });
});
