// The tree of a process: bounded, a tree, and the same whatever the order of the events. decision: D141; invariant: I8, I10
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processTreeOf, startedBy } from '../../machines/detection/process-tree.rules.ts';
import type { EventProcess, StoredEvent } from '../../machines/wire/event.ts';

const BOUNDS = { nodesMax: 20, depthMax: 4 };
const BASE_MS = Date.parse('2026-05-01T00:00:00.000Z');
const id = fc.integer({ min: 0, max: 30 }).map(String);
const processOf = (execId: string): EventProcess => ({
  ...{ exec_id: execId, pid: Number(execId), binary: `/bin/${execId}` },
});

function storedEvent(
  at: number,
  [process, ...above]: readonly string[],
  kind: StoredEvent['event_kind'] = 'process_exec',
): StoredEvent {
  const [parent, ...ancestors] = above;
  return {
    ...{ event_id: String(at).padStart(32, '0'), schema_version: 1, event_kind: kind },
    observed_at: new Date(BASE_MS + at).toISOString(),
    ...{ severity: 'info', message: '', sensor_id: 's', node_name: 'n', received_at: '' },
    ...(process === undefined ? {} : { process: processOf(process) }),
    ...(parent === undefined ? {} : { parent: processOf(parent) }),
    ancestors: ancestors.map(processOf),
  };
}

const events = fc
  .array(fc.tuple(fc.nat({ max: 1_000 }), fc.array(id, { maxLength: 5 })), { maxLength: 60 })
  .map((all) => all.map(([at, line]) => storedEvent(at, line)));

describe('the tree of a process', () => {
  it('is always a tree within its bounds, whatever the events say', () => {
    fc.assert(
      fc.property(id, events, (root, told) => {
        const tree = processTreeOf(root, told, BOUNDS);
        if (tree === null) return;
        const { nodes } = tree;
        expect(nodes.length).toBeLessThanOrEqual(Math.max(BOUNDS.nodesMax, 32));
        expect(new Set(nodes.map((node) => node.execId)).size).toBe(nodes.length);
        for (const [at, node] of nodes.entries()) {
          expect(node.depth).toBeLessThanOrEqual(BOUNDS.depthMax);
          if (node.parentExecId === null) continue;
          const above = nodes.findIndex((one) => one.execId === node.parentExecId);
          expect(above).toBeGreaterThanOrEqual(0);
          expect(above).toBeLessThan(at);
          expect(nodes[above]?.depth).toBe(node.depth - 1);
        }
      }),
    );
  });

  it('never misses what a process started, while there is room', () => {
    const line = (at: number, ...names: string[]) => storedEvent(at, names);
    const told = [
      line(1, '2', '1', '0'),
      line(2, '3', '2', '1', '0'),
      line(3, '4', '2'),
      storedEvent(9, ['3'], 'process_exit'),
    ];
    const tree = processTreeOf('2', told, BOUNDS);
    expect(tree?.nodes.map(({ execId, depth }) => [execId, depth])).toEqual([
      ...[['0', -2] as const, ['1', -1] as const, ['2', 0] as const],
      ...[['3', 1] as const, ['4', 1] as const],
    ]);
    expect(tree?.nodes[3]?.endedAt).toBe(new Date(BASE_MS + 9).toISOString());
    expect(startedBy(new Set(['2']), told)).toEqual(['3', '4']);
    expect(processTreeOf('99', told, BOUNDS)).toBeNull();
  });

  it('always says when it is cut', () => {
    const many = Array.from({ length: 40 }, (_, at) => storedEvent(at, [String(at + 1), '0']));
    const tree = processTreeOf('0', many, BOUNDS);
    expect([tree?.nodes.length, tree?.isCut]).toEqual([BOUNDS.nodesMax, true]);
    const deep = Array.from({ length: 8 }, (_, at) =>
      storedEvent(at, [String(at + 1), String(at)]),
    );
    expect(processTreeOf('0', deep, BOUNDS)).toMatchObject({ isCut: true });
    expect(processTreeOf('0', deep, BOUNDS)?.nodes).toHaveLength(BOUNDS.depthMax + 1);
  });
});
