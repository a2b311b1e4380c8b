import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import {
  attachedOf,
  hooked,
  launchEngine,
  linesOf,
  numbersOf,
  prepareBusy,
  type Running,
  range,
  skipReason,
  startEngine,
  startLoad,
  stopEngine,
  type Told,
  until,
} from './engine-rig.ts';

const refused = skipReason('ebpf engine, from one to the next');

let directory = '';
let engines: Running[] = [];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-'));
  engines = [];
});
afterEach(async () => {
  for (const engine of engines) await stopEngine(engine, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<Running> {
  const running = await startEngine(directory);
  engines.push(running);
  return running;
}

const HANDOVERS = 8;
const KILLS = 3;
const FILES = 1000;
const WAIT = { timeout: 60_000, interval: 5 };
const BUSY = /busy-\d+[ab]/;

/** Engines one after the other, each beside the one before, and two busy programs around the moment of every handover. */
async function handOverBusy(flags: readonly string[]): Promise<Running> {
  let current = await startEngine(directory, ...flags);
  engines.push(current);
  for (let round = 0; round < HANDOVERS; round += 1) {
    const next = launchEngine(directory, '--beside', ...flags);
    const busy = await Promise.all(
      ['a', 'b'].map((one) => prepareBusy(path.join(directory, `busy-${round}${one}`), FILES)),
    );
    const running = await next.hello;
    engines.push(running);
    const underWay = busy.map((one) => once(one.stdout, 'data'));
    for (const one of busy) one.stdin.end('go');
    await Promise.all(underWay);
    current.child.stdin.end(); // Detaching takes it a while longer.
    await vi.waitFor(() => expect(next.words.at(-1)).toHaveProperty('engine'), WAIT);
    for (const one of busy) one.kill('SIGKILL');
    current = running;
  }
  await Promise.all(engines.map((engine) => stopEngine(engine)));
  return current;
}

/** By program, the numbers that do not follow the one before, of what was told in its order. */
function outOfOrder(told: readonly Told[], number: RegExp, modulo: number): string[] {
  const last = new Map<string, number>();
  const wrong: string[] = [];
  for (const { body } of told) {
    const words = JSON.stringify(body);
    const [program] = BUSY.exec(words) ?? [];
    const at = Number(number.exec(words)?.[1] ?? Number.NaN);
    if (program === undefined || Number.isNaN(at)) continue;
    const before = last.get(program);
    if (before !== undefined && (before + 1) % modulo !== at)
      wrong.push(`${program}: ${at} after ${before}`);
    last.set(program, at);
  }
  expect(last.size).toBe(2 * HANDOVERS);
  return wrong;
}

describe.skipIf(refused !== undefined)('ebpf engine, from one to the next', () => {
  it('should hand over to the next, which starts beside it, without a gap and without telling twice', async () => {
    const first = await start();
    const load = startLoad('passed');
    await until(first.file, (all) => numbersOf(all, 'passed', 'process_exec').length > 20);
    const next = launchEngine(directory);
    // It attaches and then waits for the first to let go.
    const all = attachedOf(first.child.pid);
    await until(first.file, () => attachedOf(next.child.pid) >= all);
    await stopEngine(first);
    const second = await next.hello;
    engines.push(second);
    const many = numbersOf(linesOf(second.file), 'passed', 'process_exec').length + 50;
    await until(second.file, (all) => numbersOf(all, 'passed', 'process_exec').length > many);
    load.kill();
    await stopEngine(second);
    const lines = linesOf(second.file);
    const execs = numbersOf(lines, 'passed', 'process_exec');
    const exits = numbersOf(lines, 'passed', 'process_exit');
    expect(execs).toEqual(range(execs[0] ?? -1, execs.at(-1) ?? -1));
    expect(exits).toEqual(range(exits[0] ?? -1, exits.at(-1) ?? -1));
    expect(second.words[0]).toMatchObject({ gap_ms: 0 });
    expect(second.words.at(-1)).toMatchObject({ lost: 0 });
  });

  it.each([
    ['a few programs', 10],
    ['more than the list of what was told last', 500],
  ])(
    'should leave nothing out and tell nothing twice when the one before is killed after %s',
    async (_name, both) => {
      let running = await start();
      const load = startLoad('killed');
      const execs = (all: Told[]) => numbersOf(all, 'killed', 'process_exec').length;
      const more = (count: number) => {
        const before = execs(linesOf(running.file));
        return until(running.file, (all) => execs(all) > before + count);
      };
      for (let round = 0; round < KILLS; round += 1) {
        await more(20);
        const next = await launchEngine(directory, '--beside').hello;
        engines.push(next);
        await more(both);
        await stopEngine(running, 'SIGKILL');
        await vi.waitFor(() => expect(next.words.at(-1)).toHaveProperty('engine'), WAIT);
        running = next;
      }
      await more(20);
      load.kill();
      await stopEngine(running);
      for (const kind of ['process_exec', 'process_exit']) {
        const told = numbersOf(linesOf(running.file), 'killed', kind);
        expect(told).toEqual(range(told[0] ?? -1, told.at(-1) ?? -1));
      }
    },
  );

  it('should tell once what happens around the moment of a handover, however close the events follow', async () => {
    const watched = path.join(directory, 'busy');
    const flags = [
      '--watch-path',
      watched,
      '--export-file-max-size-mb',
      '4000',
      '--ring-kib',
      '65536',
    ];
    const last = await handOverBusy(flags);
    const lines = linesOf(last.file);
    const opens = hooked(lines, 'security_file_open');
    expect(outOfOrder(opens, /\/no-(\d+)"/, FILES)).toEqual([]);
    expect(outOfOrder(hooked(lines, 'udp_sendmsg'), /"q(\d+)\.example"/, Infinity)).toEqual([]);
    expect(engines.map(({ words }) => words.at(-1))).toEqual(
      engines.map(() => expect.objectContaining({ lost: 0 })),
    );
  });

  it('should say after a kill for how long nobody watched, and count what began meanwhile', async () => {
    const first = await start();
    await stopEngine(first, 'SIGKILL');
    spawnSync('/bin/sh', ['-c', 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done']);
    const second = await start();
    await stopEngine(second);
    expect(Number(second.words[0]?.['gap_ms'])).toBeGreaterThan(0);
    const lost = Number(second.words.at(-1)?.['lost']);
    expect(lost).toBeGreaterThanOrEqual(100);
    const told = linesOf(second.file)
      .filter(({ kind }) => kind === 'rate_limit_info')
      .map(({ kind, body }) => engineLossOf(JSON.stringify({ [kind]: body })));
    // A busy kernel may have lost something of its own, on a line of its own.
    const sum = (name: 'kernel_lost' | 'engine_lost') =>
      told.reduce((all, one) => all + (one?.[name] ?? 0), 0);
    expect(sum('engine_lost')).toBeGreaterThanOrEqual(100);
    expect(sum('kernel_lost') + sum('engine_lost')).toBe(lost);
  });

  it('should end one that hangs and hold the export alone', async () => {
    const first = await start();
    first.child.kill('SIGSTOP');
    const ended = once(first.child, 'exit');
    const second = await start();
    await ended;
    expect(first.child.signalCode).toBe('SIGKILL');
    spawnSync('/bin/true', ['alone']);
    await until(second.file, (all) => all.some(({ body }) => body.process?.arguments === 'alone'));
  });
});
