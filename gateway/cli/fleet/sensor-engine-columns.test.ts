import { describe, expect, it } from 'vitest';
import type { SensorDetail } from '../../operator-plane/fleet/sensor-view.ts';
import { printRecord } from '../plumbing/output.ts';
import { ENGINE_COLUMNS } from './sensor-engine-columns.ts';

function printed(engine: object | undefined): string[] {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), talk: () => undefined };
  const sensor = { facts: engine === undefined ? null : { engine } } as unknown as SensorDetail;
  const view = { columns: ENGINE_COLUMNS, name: () => 'n', empty: '' };
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
