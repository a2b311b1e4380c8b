import { describe, expect, it } from 'vitest';
import type { TransitionRow } from '../../storage/ports/telemetry/event-store.ts';
import { createNodeMachines } from './node-machines.ts';

const SINCE = '2026-01-01T00:00:00.000Z';
const report = (machine: string, value: string) => ({ machine, value, since: SINCE });

describe('the machines of a node', () => {
  it('should store a state that differs from the one before, and one that is told no more', () => {
    const rows: TransitionRow[] = [];
    const machines = createNodeMachines({ add: (row) => rows.push(row) });
    machines.take('a', [report('stream', 'waiting'), report('engine', 'running')], 1_000);
    machines.take('a', [report('stream', 'waiting'), report('engine', 'running')], 2_000);
    machines.take('a', [report('stream', 'open.resting')], 3_000);

    expect(rows.map(({ actorKind, from, to, atMs }) => [actorKind, from, to, atMs])).toEqual([
      ['node/stream', '', 'waiting', 1_000],
      ['node/engine', '', 'running', 1_000],
      ['node/stream', 'waiting', 'open.resting', 3_000],
      ['node/engine', 'running', '', 3_000],
    ]);
    expect(machines.of('a')).toEqual([
      { ...report('stream', 'open.resting'), reportedAtMs: 3_000 },
    ]);
    expect(machines.of('b')).toEqual([]);
  });
});
