// An engine whose starter died without a word: it goes on, within its bounds, and what begins meanwhile is told once. What
// begins while no engine watches at all is counted, however the last one ended. invariant: I19
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import {
  launchBy,
  linesOf,
  numbersOf,
  type Running,
  range,
  skipReason,
  startEngine,
  startLoad,
  stopEngine,
  until,
} from './engine-rig.ts';

const refused = skipReason('ebpf engine, without its starter');
const OUTLIVE = ['--outlive-ms', '60000', '--outlive-bytes', '50000000'];

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

async function start(...flags: string[]): Promise<Running> {
  const running = await startEngine(directory, ...flags);
  engines.push(running);
  return running;
}
/** As the kernel leaves it when whoever started it was killed. */
function leaveAlone({ child }: Running): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}
const runPrograms = (count: number) =>
  spawnSync('/bin/sh', ['-c', `i=0; while [ $i -lt ${count} ]; do /bin/true; i=$((i+1)); done`]);
async function countedAfter(running: Running): Promise<number> {
  await stopEngine(running);
  const told = linesOf(running.file)
    .filter(({ kind }) => kind === 'rate_limit_info')
    .map(({ kind, body }) => engineLossOf(JSON.stringify({ [kind]: body })).engine_lost ?? 0);
  const lost = told.reduce((sum, one) => sum + one, 0);
  expect(running.words.at(-1)).toMatchObject({ lost });
  return lost;
}

describe.skipIf(refused !== undefined)('ebpf engine, without its starter', () => {
  it('should go on writing, and hand over to the next without a gap and without telling twice', async () => {
    let running = await start(...OUTLIVE);
    const load = startLoad('alone');
    for (let round = 0; round < 4; round += 1) {
      const seen = numbersOf(linesOf(running.file), 'alone', 'process_exec').length;
      leaveAlone(running);
      await until(
        running.file,
        (all) => numbersOf(all, 'alone', 'process_exec').length > seen + 30,
      );
      const ended = once(running.child, 'exit');
      const next = await start(...OUTLIVE);
      expect(await ended).toEqual([0, null]);
      expect(next.words[0]).toMatchObject({ gap_ms: 0, lost: 0 });
      running = next;
    }
    load.kill();
    await stopEngine(running, 'SIGTERM');
    const lines = linesOf(running.file);
    for (const kind of ['process_exec', 'process_exit']) {
      const told = numbersOf(lines, 'alone', kind);
      expect(told).toEqual(range(told[0] ?? -1, told.at(-1) ?? -1));
    }
    expect(running.words.at(-1)).toMatchObject({ lost: 0 });
  });

  it('should end at once when it is asked to, and in the end by itself', async () => {
    const asked = await start(...OUTLIVE);
    const ended = once(asked.child, 'exit');
    asked.child.stdin.write('end\n');
    expect(await ended).toEqual([0, null]);
    for (const bounds of [
      ['--outlive-ms', '200', '--outlive-bytes', '50000000'],
      ['--outlive-ms', '60000', '--outlive-bytes', '1000'],
    ]) {
      const bound = await start(...bounds);
      const over = once(bound.child, 'exit');
      leaveAlone(bound);
      runPrograms(20);
      expect(await over).toEqual([0, null]);
    }
  });

  it.each([
    ['killed', 'SIGKILL'],
    ['stopped', 'SIGTERM'],
  ] as const)('should count what began after one that was %s', async (how, signal) => {
    await stopEngine(await start(), signal);
    runPrograms(100);
    const next = await start();
    const { gap_ms, unwatched } = next.words[0] ?? {};
    expect(unwatched).toMatchObject({ how });
    expect(Number(gap_ms)).toBeGreaterThan(0);
    expect(await countedAfter(next)).toBeGreaterThanOrEqual(100);
    const [gap] = linesOf(next.file).flatMap(({ body }) => Object(body).unwatched ?? []);
    expect(gap).toEqual(unwatched);
    expect(Date.parse(gap.until) - Date.parse(gap.since)).toBeGreaterThan(0);
  });

  it('should count what began since the machine started anew', async () => {
    await stopEngine(await start(), 'SIGKILL');
    const other = path.join(directory, 'boot_id');
    writeFileSync(other, '00000000-0000-4000-8000-000000000000\n');
    const script = `mount --bind ${other} /proc/sys/kernel/random/boot_id && exec "$0" "$@"`;
    const next = await launchBy(['unshare', '-m', 'sh', '-c', script], directory).hello;
    engines.push(next);
    expect(next.words[0]).toMatchObject({ unwatched: { how: 'rebooted' } });
    expect(await countedAfter(next)).toBeGreaterThan(100);
  });

  it('should count nothing when it is the first', async () => {
    const first = await start();
    expect(first.words[0]).toMatchObject({ gap_ms: 0, lost: 0 });
    expect(first.words[0]).not.toHaveProperty('unwatched');
  });
});
