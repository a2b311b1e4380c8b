import { describe, expect, it } from 'vitest';
import type { SensorDetail } from '../../operator-plane/fleet/sensor-view.ts';
import { printRecord } from '../plumbing/output.ts';
import { LISTED_COLUMNS, SHOWN_COLUMNS } from './shown-columns.ts';

const ENGINE = ['ENGINE-MODE', 'ENGINE-PASSED-OVER', 'ENGINE-UPGRADE', 'DISABLED-HOOKS'];

function printed(engine: object | undefined): string[] {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), talk: () => undefined };
  const sensor = { facts: engine === undefined ? null : { engine } } as unknown as SensorDetail;
  const view = {
    columns: SHOWN_COLUMNS.filter(({ head }) => ENGINE.includes(head)),
    name: () => 'n',
    empty: '',
  };
  printRecord(terminal as never, sensor, view, { format: 'table', headers: true });
  return lines;
}

describe("a sensor's record, of its engine", () => {
  it('should show how it sees, why no better one runs, and what it lacks', () => {
    const disabled_hooks = [
      { hook: 'engine/upgrade', reason: 'procfs (b) did not take over: it ended with 3' },
      { hook: 'engine/tetragon', reason: 'this kernel has no kprobes' },
      { hook: 'engine/ebpf', reason: 'needs a newer kernel\nLOST 0' },
      { hook: 'dns', reason: 'no packet socket' },
    ];
    const engine = { kind: 'procfs', mode: 'polling', version: '1.7.0', restarts: 2 };
    expect(printed({ ...engine, disabled_hooks })).toEqual([
      'ENGINE-MODE          polling, version 1.7.0, 2 restarts',
      'ENGINE-PASSED-OVER   tetragon: this kernel has no kprobes',
      '                     ebpf: needs a newer kernel\\x0aLOST 0',
      'ENGINE-UPGRADE       procfs (b) did not take over: it ended with 3',
      'DISABLED-HOOKS       dns: no packet socket',
    ]);
  });

  it('should show nothing it was not told', () => {
    expect(printed(undefined).map((line) => line.split(/ +/)[1])).toEqual(['-', '-', '-', '-']);
  });
});

describe("a sensor's record, of its capabilities", () => {
  const bare: SensorDetail = {
    ...({} as SensorDetail),
    ...{ declared_role: null, group_ids: [], team_ids: [], states: null, facts: null },
    ...{ enrolled_at: '2026-07-01T00:00:00Z', revoked_at: null, revoked_reason: null },
  };
  const shown = (sensor: SensorDetail) =>
    Object.fromEntries(SHOWN_COLUMNS.map(({ head, read }) => [head, read(sensor)]));

  it('should keep its order, each heading once', () => {
    const order = [
      ...['ROLE', 'GROUPS', 'TEAMS', 'POLICY', ...ENGINE, 'POLICIES', 'CONTAINMENT'],
      ...['FRESHNESS', 'ENROLLED', 'REVOKED', 'REASON', 'SEEN', 'LOST'],
    ];
    const heads = SHOWN_COLUMNS.map(({ head }) => head);
    expect(heads.filter((head) => order.includes(head))).toEqual(order);
    expect(heads.length).toBe(new Set(heads).size);
  });

  it('should show a line or nothing where there is nothing to tell', () => {
    const { ENROLLED, ...others } = shown(bare);
    expect(ENROLLED).toBe('2026-07-01T00:00:00Z');
    for (const value of Object.values(others)) expect([['-'], []]).toContainEqual([value].flat());
  });

  it('should say what came of an order, what policies did, and what was lost', () => {
    const policies = [
      { name: 'a', state: 'in_force', acted: 2, would_have_acted: 0 },
      { name: 'b', state: 'failed', would_have_acted: 3, reason: 'no such hook' },
    ];
    const sensor = {
      ...{ ...bare, group_ids: ['g', 'h'], declared_role: 'edge' },
      states: { freshness: 'fresh', policy: 'in_force', containment: 'failed' },
      facts: {
        engine: { loaded_policies: policies },
        containment: { failure: 'nft is not there' },
        loss: { seen: 7, kernel_lost: 2, spool_discarded: 3 },
      },
    } as unknown as SensorDetail;
    expect(shown(sensor)).toMatchObject({
      ...{ ROLE: 'edge', GROUPS: 'g,h', POLICY: 'in_force', FRESHNESS: 'fresh' },
      CONTAINMENT: 'failed: nft is not there',
      POLICIES: ['a in_force, acted 2 times', 'b failed, would have acted 3 times, no such hook'],
      ...{ SEEN: '7', LOST: '5' },
    });
  });
});

describe('a list of sensors, of its capabilities', () => {
  it('should tell in further columns what they declare for lists', () => {
    const states = { freshness: 'fresh', policy: 'in_force', containment: 'contained' };
    const told = (sensor: unknown) =>
      LISTED_COLUMNS.map(({ head, wide, read }) => [head, wide, read(sensor as never)]);
    expect(told({ states })).toEqual([
      ['POLICY', true, 'in_force'],
      ['CONTAINMENT', true, 'contained'],
    ]);
    expect(told({ states: null }).map(([, , text]) => text)).toEqual(['-', '-']);
  });
});
