// What `npm start` says of an engine that sees less, by example: in which words, once, and of this start only.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { followSight, sightRows, type ToldEngine } from './local-sight.ts';

const around = { isRoot: false, nodeName: 'node-1', program: '/p/service-console' };
const polling: ToldEngine = {
  ...{ kind: 'procfs', mode: 'polling', state: 'running' },
  disabled_hooks: [
    { hook: 'engine/ebpf', reason: 'not root' },
    { hook: 'sched_process_exec', reason: 'short-lived: not root', missing: true },
  ],
};
const whole: ToldEngine = {
  ...{ kind: 'ebpf', mode: 'ebpf', state: 'running' },
  disabled_hooks: [{ hook: 'engine/tetragon', reason: 'no bundle' }],
};
const holed: ToldEngine = {
  ...whole,
  disabled_hooks: ['sys_enter_connect', 'sys_enter_accept'].map((hook) => ({
    ...{ hook, reason: `no tracefs ${'far '.repeat(99)}`, missing: true },
  })),
};
const textOf = (engine: ToldEngine, isRoot = false) =>
  sightRows(engine, { ...around, isRoot })
    ?.map((row) => row.trim())
    .join(' ');

describe('what an engine that sees less is called', () => {
  it('should say that polling misses short programs, and what helps', () => {
    expect(textOf(polling)).toContain(
      'The engine on this machine polls /proc and misses short programs: run as root for the eBPF engine.',
    );
    expect(sightRows(polling, around)?.slice(-2)).toEqual([
      '    /p/service-console sensors get node-1',
      '    /p/service-console sensors coverage',
    ]);
  });

  it('should say to root why no better engine runs', () => {
    const container = {
      ...polling,
      disabled_hooks: [{ hook: 'engine/ebpf', reason: 'no CAP_BPF' }],
    };
    const hooks = [...container.disabled_hooks, ...polling.disabled_hooks.slice(1)];
    expect(textOf({ ...container, disabled_hooks: hooks }, true)).toContain(
      'misses short programs: the eBPF engine does not run here (no CAP_BPF).',
    );
  });

  it('should name a hook that is missing, and how many more there are', () => {
    expect(textOf(holed, true)).toContain('does not see everything: sys_enter_connect (no tracefs');
    expect(textOf(holed, true)).toContain(', and 1 more.');
  });

  it('should say when no engine runs, and why', () => {
    const failed = { ...whole, state: 'failed' as const };
    expect(textOf(failed)).toContain('No engine runs on this machine');
    expect(textOf(failed)).toContain('tetragon (no bundle)');
  });

  it('should say nothing of an engine that sees all', () => {
    expect(sightRows(whole, around)).toEqual([]);
  });

  it.each([polling, holed, { ...holed, state: 'failed' as const }])(
    'should fit 80 columns',
    (engine) => {
      for (const row of sightRows(engine, around) ?? []) expect(row.length).toBeLessThan(81);
    },
  );
});

describe('the Sensor of this start', () => {
  beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => vi.useRealTimers());
  const time = {
    now: () => Date.now(),
    setTimeout: (run: () => void, ms: number) => setTimeout(run, ms),
    clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  };

  /** Heartbeats of engines, one each 15 s, as they are stored; the first is of before the start. */
  async function toldOf(engines: readonly (ToldEngine | 'away')[]): Promise<string[]> {
    const told: string[] = [];
    let [heardAtMs, engine] = [Date.now() - 60_000, engines[0] ?? whole];
    const stop = followSight({
      ...{ time, around, heardAtMs: () => heardAtMs },
      row: async () => {
        if (engine === 'away') throw new Error('the database is away');
        const facts = { engine, trust: {}, resources: {}, pipeline: {}, capabilities: [] };
        return { nodeName: 'node-1', lastHeartbeatAtMs: heardAtMs, facts };
      },
      tell: (rows) => told.push(rows.join('\n')),
    });
    await vi.advanceTimersByTimeAsync(5_000);
    for (const one of engines.slice(1)) {
      [heardAtMs, engine] = [Date.now(), one];
      await vi.advanceTimersByTimeAsync(15_000);
    }
    stop();
    [heardAtMs, engine] = [Date.now(), holed];
    await vi.advanceTimersByTimeAsync(15_000);
    return told;
  }

  it('should be told of once, when it begins to see less, and not of an earlier start', async () => {
    const starting = { ...whole, state: 'starting' as const };
    expect(await toldOf([polling, starting, whole, whole])).toEqual([]);
    const told = await toldOf([whole, starting, polling, polling, starting, polling]);
    expect(told).toEqual([sightRows(polling, around)?.join('\n')]);
    expect(await toldOf([whole, whole, holed, polling])).toHaveLength(2);
  });

  it('should be told of when the database is back', async () => {
    expect(await toldOf([whole, 'away', polling])).toHaveLength(1);
  });
});
