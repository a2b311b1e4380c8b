// What the loops of hunting raise, by example.
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../machines/console/detection/finding.ts';
import { exerciseAfter, newExercise } from '../../machines/console/hunting/exercise.ts';
import { markOfStep } from '../../machines/detection/exercise-steps.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../storage/memory/telemetry/memory-events.ts';
import { createCorrelationLoop } from './correlation-loop.ts';
import { createExerciseLoop } from './exercise-loop.ts';
import { createUsualMarks } from './usual-marks.ts';

const NOW_MS = 1_800_000_000_000;
const SENSORS = ['s1', 's2', 's3'];
const run = { epoch: 1, signal: new AbortController().signal };

function world() {
  const memory = createMemoryRelational();
  const { events, sink } = createMemoryEvents(1);
  const raised: Finding[] = [];
  let [nowMs, made] = [NOW_MS, 0];
  const chance = { newId: () => `id-${String(++made).padStart(4, '0')}` };
  return {
    ...{ memory, events, raised, chance, now: () => nowMs },
    pass: (ms: number) => {
      nowMs += ms;
    },
    raise: async (findings: readonly Finding[]) => void raised.push(...findings),
    async receive(sensorId: string, more: Partial<RuntimeEvent>): Promise<void> {
      made += 1;
      const event: RuntimeEvent = {
        ...{ event_id: String(made).padStart(32, '0'), schema_version: 1, message: '' },
        ...{ observed_at: new Date(nowMs - 1_000).toISOString(), event_kind: 'process_exec' },
        ...{ severity: 'info', ...more },
      };
      await sink.append({
        ...{ sensorId, nodeName: sensorId, streamId: 't', channel: 'stream', sequence: made },
        ...{ digest: String(made), receivedAtMs: nowMs, events: [event] },
      });
    },
  };
}

const process = (binary: string) => ({ exec_id: 'x', pid: 1, binary });

describe('fleet correlation', () => {
  it('should raise one alert for what is remarkable on three sensors, its matches the sensors', async () => {
    const at = world();
    const usual = createUsualMarks({ store: at.memory.usualMarks, chance: at.chance });
    const { events, raise, chance, now } = at;
    const { alerts } = at.memory;
    const loop = createCorrelationLoop({ events, alerts, usual, raise, chance, now });
    for (const sensorId of SENSORS) {
      await at.receive(sensorId, { process: process('/tmp/odd'), severity: 'high' });
      await at.receive(sensorId, { process: process('/bin/ls') });
    }
    for (const sensorId of SENSORS.slice(1)) {
      await at.receive(sensorId, { process: process('/tmp/few'), anomaly_score: 0.95 });
    }
    at.pass(1_000);
    await loop.run(run);
    expect(at.raised.map(({ alert }) => alert.dedupKey)).toEqual([
      'fleet_correlation program /tmp/odd',
    ]);
    expect(at.raised[0]).toMatchObject({
      alert: { kind: 'fleet_correlation', sensorId: 'fleet', severity: 'high' },
      group: { program: '/tmp/odd', sensors: 's1, s2, s3' },
    });
    expect(at.raised[0]?.matches).toHaveLength(3);
    // The same again has the same names, so that it counts once.
    await loop.run(run);
    expect(at.raised[1]?.matches.map(({ matchId }) => matchId)).toEqual(
      at.raised[0]?.matches.map(({ matchId }) => matchId),
    );
    const context = { actor: 'user:a', nowMs: NOW_MS };
    const mark = { binary: '/tmp/odd', sensorId: null, reason: 'ours', untilMs: null };
    await usual.mark({ ...context, mark });
    await loop.run(run);
    expect(at.raised).toHaveLength(2);
  });
});

describe('an exercise', () => {
  it('should say of every step whether it was seen, and where it was lost', async () => {
    const at = world();
    const { raise, chance, now, events } = at;
    const store = at.memory.exercises;
    const started = exerciseAfter(newExercise(60_000), { type: 'exercise.started', atMs: NOW_MS });
    if (started === null) throw new Error('it cannot be started');
    const event = { by: 'event' } as const;
    const rule = { by: 'rule', ruleId: 'r' } as const;
    await store.add({
      ...{ id: 'e', max: 1, nowMs: NOW_MS },
      body: {
        ...{ name: 'drill', sensorIds: ['s1', 's2'], createdBy: 'user:a', results: [] },
        standing: started,
        steps: [
          { step: 'whoami', technique: 'T1033', detection: event },
          { step: 'decode', technique: 'T1140', detection: rule },
        ],
      },
    });
    const loop = createExerciseLoop({
      ...{ events, raise, chance, now, alerts: at.memory.alerts },
      store: {
        list: store.list,
        // No tenure stands here.
        change: ({ epoch: _epoch, ...input }) => store.change(input),
      },
      isTelling: (sensorId) => sensorId === 's1',
    });
    at.pass(5_000);
    for (const step of ['whoami', 'decode']) {
      const shell = { ...process('/bin/sh'), arguments: `-c id\n: ${markOfStep(step)}a` };
      await at.receive('s1', { process: shell });
    }
    await loop.run(run);
    at.pass(120_000);
    await loop.run(run);
    const done = await store.get('e');
    expect(done?.body.standing.state).toBe('scored');
    const told = done?.body.results.map((one) => [one.sensorId, one.step, one.miss]);
    expect(told).toEqual([
      ...[['s1', 'whoami', null] as const, ['s1', 'decode', 'not_matched'] as const],
      ...[['s2', 'whoami', 'not_delivered'] as const, ['s2', 'decode', 'not_delivered'] as const],
    ]);
    expect(done?.body.results[0]?.detectedAfterMs).toBe(1_000);
    expect(at.raised).toHaveLength(1);
    expect(at.raised[0]?.alert).toMatchObject({
      ...{ kind: 'exercise_result', headline: 'drill: 1 of 4 seen' },
    });
  });
});
