// When what a backtest finds is what was found live: a window over a batch that was stored twice is not comparable, and
// everything else is.
import { describe, expect, it } from 'vitest';
import { createEventRows } from '../../../storage/memory/telemetry/event-rows.ts';
import { WORLD_BEGINS_MS } from '../world/clocks.ts';
import type { KeptRule, Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { ruleBacktest } from './rule-backtest.ts';

const RULE: KeptRule = {
  ...{ id: 'count', detects: 'count', binaries: ['bash'], threshold: 2, windowMs: 60_000 },
};
/** A batch with one start: its sequence is the name of the start. */
type Batch = readonly [receivedMs: number, sequence: number];

const idOf = (sequence: number): string => sequence.toString().padStart(32, '0');

/** What is reported where these batches were stored, and these starts are counted. */
function found(batches: readonly Batch[], counted: readonly number[]): readonly string[] {
  const details: string[] = [];
  const listeners: ((seen: Observation, atMs: number) => void)[] = [];
  const rows = createEventRows();
  const now = { ms: 0 };
  const spec = {
    ...{ rule_name: 'count', severity: 'low' },
    detect: { kind: 'count', condition: 'binary:bash', threshold: 2, window_secs: 60 },
  };
  const fleet = {
    ...{ keepers: 1, copies: { ever: () => [] } },
    consoles: [{ clock: { errorMs: () => 0 } }],
    nodes: [{ name: 'n', engine: { deedOf: () => ({ binary: 'bash', isStart: true, atMs: 0 }) } }],
    world: {
      scheduler: { now: () => now.ms },
      subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener),
    },
    stores: {
      analytics: { rows },
      relational: {
        rules: { list: () => [{ ruleId: 'count', spec, pause: null, activeSinceMs: 0 }] },
        inbox: {
          list: () => [{ count: counted.length, alert: { alertId: 'a' } }],
          events: () => counted.map((sequence) => ({ matchId: idOf(sequence) })),
        },
      },
    },
  } as unknown as FleetView;
  const checker = ruleBacktest.make(fleet, (detail) => details.push(detail));
  const tell = (seen: Observation): void => {
    for (const listener of listeners) listener(seen, now.ms);
  };
  tell({ kind: 'rule.asked', rule: RULE, muted: null });
  tell({ kind: 'rule.told', rule: RULE.id, muted: null, activeMs: WORLD_BEGINS_MS });
  for (const [receivedMs, sequence] of batches) {
    now.ms = receivedMs;
    const receivedAtMs = WORLD_BEGINS_MS + receivedMs;
    const batch = {
      ...{ sensorId: 's', nodeName: 'n', streamId: 'x', channel: 'stream' as const, sequence },
      ...{ digest: String(sequence), receivedAtMs },
    } as const;
    const process = { exec_id: `n:${sequence}`, pid: sequence, binary: 'bash' };
    rows.add({
      ...batch,
      events: [
        {
          ...{ event_id: idOf(sequence), schema_version: 1, severity: 'info', message: '' },
          ...{ observed_at: new Date(receivedAtMs).toISOString(), event_kind: 'process_exec' },
          process,
        },
      ],
    });
    tell({
      ...{ kind: 'events.stored', console: 'c' },
      batches: [
        {
          ...{ sensor: 's', stream: 'x', channel: 'stream', sequence, receivedAtMs },
          events: [idOf(sequence)],
        },
      ],
    });
  }
  checker.finish?.(now.ms);
  return details;
}

describe('rule backtest', () => {
  const batches: readonly Batch[] = [
    [1_000, 1],
    [2_000, 2],
    [3_000, 3],
  ];

  it('should find that live evaluation counted other starts', () => {
    expect(found(batches, [1, 2])).toEqual([]);
    expect(found(batches, [2, 3])).toHaveLength(1);
  });

  it('should not compare windows where a batch was stored again behind another', () => {
    expect(found([...batches, [4_000, 1]], [1, 2])).toEqual([]);
    expect(found([...batches, [4_000, 3]], [2, 3])).toHaveLength(1);
  });
});
