// What happened while nobody watched: a Tetragon, its Sensor or both are killed or stopped, or the machine is, and the next
// one tells from when to when nobody watched, how much at most began in between, and what the kernel side counted until
// the end. invariant: I19
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineRun } from '../../sensor/engine/engine-run.ts';
import { bpfDirOf } from '../../sensor/engine/tetragon/flags.ts';
import { createTetragon, type Tetragon } from '../../sensor/engine/tetragon/tetragon.ts';
import { makePeerBundle, type PeerBundle } from './tetragon-bundle.ts';

type Word = Readonly<Record<string, unknown>>;
let stateDir = '';
let peer: PeerBundle;
let runs: EngineRun[] = [];

beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'tetragon-gap-'));
  mkdirSync(path.join(stateDir, 'compiled-policies'));
  peer = makePeerBundle('v1.7.0', 7);
  runs = [];
});
afterEach(async () => {
  for (const run of runs) run.kill();
  await Promise.all(runs.map(({ gone }) => gone));
  peer.remove();
  rmSync(stateDir, { recursive: true, force: true });
});

/** A Sensor that has just begun: it knows nothing but what the one before wrote down. */
const sensor = async (): Promise<Tetragon> =>
  createTetragon(stateDir, await peer.settings(), { host: peer.host });

async function start(tetragon: Tetragon) {
  const reason = (await tetragon.whyNot()) ?? (await tetragon.prepare());
  if (reason !== undefined) throw new Error(reason);
  const [words, errors]: [Word[], string[]] = [[], []];
  let heard: () => void = () => undefined;
  const run = tetragon.launch({
    exportFile: path.join(stateDir, 'engine', 'export', 'events.log'),
    nodeName: 'node-1',
    onLine: (line) => {
      words.push(JSON.parse(line) as Word);
      heard();
    },
    onErrorLine: (line) => errors.push(line),
  });
  runs.push(run);
  /** The sign of life of this number, from 1 on. */
  async function life(number: number): Promise<Word> {
    for (;;) {
      const found = words.filter((word) => word['alive'] === true)[number - 1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
  }
  const hello = () => words.find((word) => word['engine'] === 'tetragon') ?? {};
  const gap = () => {
    const hooks = hello()['disabled_hooks'] as Word[];
    const told = hooks.find(({ hook }) => hook === 'tetragon/gap')?.['reason'];
    return told === undefined ? undefined : String(told);
  };
  return { run, words, errors, life, hello, gap };
}

/** The pinned map goes on counting, whoever reads it. */
function loseInKernel(events: number): void {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(BigInt(events));
  const bytes = [...value].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`);
  const map = path.join(peer.host.bpfFileSystem, bpfDirOf(stateDir), 'tg_stats_map');
  writeFileSync(map, JSON.stringify([{ key: ['0x00'], values: [{ cpu: 0, value: bytes }] }]));
}
const killTetragon = () => process.kill(Number(readFileSync(peer.host.pidFile, 'utf8')), 'SIGKILL');
const untoldOf = (word: Word | undefined) =>
  word?.['untold'] as { readonly kernel_lost: number; readonly engine_lost: number };
const GAP =
  /^nothing is known of what happened from \S+Z to \S+Z \(\w+\): at most (\d+) processes and /;
type Started = Awaited<ReturnType<typeof start>>;
const runPrograms = (count: number) =>
  spawnSync('/bin/sh', ['-c', `i=0; while [ $i -lt ${count} ]; do /bin/true; i=$((i+1)); done`]);
const spanOf = (started: Started) =>
  started.hello()['unwatched'] as Readonly<Record<string, string>>;

/** The hello says it as other engines do; and of it the event is made. */
function expectSpan(started: Started, how: string): void {
  const span = spanOf(started);
  expect(span).toMatchObject({ how });
  expect(Date.parse(span['until'] ?? '')).toBeGreaterThan(Date.parse(span['since'] ?? ''));
  expect(started.hello()).toMatchObject({ gap_ms: expect.any(Number), lost: expect.any(Number) });
}

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('tetragon gap: skipped, the engine runs as root only\n');

describe.skipIf(!isRoot)('a Tetragon that has ended', () => {
  it('should leave its last counts to its Sensor, and the gap behind it to the next one', async () => {
    const tetragon = await sensor();
    const first = await start(tetragon);
    expect(untoldOf(await first.life(1))).toEqual({ kernel_lost: 7, engine_lost: 0 });
    expect(first.gap()).toBeUndefined();
    loseInKernel(20);
    killTetragon();
    await first.run.gone;
    // Told by its end, since another engine may follow.
    expect(untoldOf(first.words.at(-1))).toEqual({ kernel_lost: 20, engine_lost: 0 });
    loseInKernel(26);
    const second = await start(tetragon);
    const { kernel_lost: lost, engine_lost: unseen } = untoldOf(await second.life(1));
    expect(lost).toBe(6 + 7);
    expect(unseen).toBe(Number(GAP.exec(second.gap() ?? '')?.[1]));
    expect(unseen).toBeGreaterThan(0);
    expect(second.errors).toContain(second.gap());
    expectSpan(second, 'killed');
  });

  it('should be settled by the next Sensor when its own was killed with it', async () => {
    const first = await start(await sensor());
    await first.life(2);
    killTetragon();
    await first.run.gone;
    loseInKernel(12);
    const second = await start(await sensor());
    expect(untoldOf(await second.life(1)).kernel_lost).toBe(5 + 7);
    expect(second.gap()).toMatch(GAP);
    expectSpan(second, 'killed');
  });

  it('should have watched until it is ended when it outlived its Sensor', async () => {
    const first = await start(await sensor());
    await first.life(2);
    loseInKernel(9);
    const beganMs = Date.now();
    const second = await start(await sensor());
    expect(untoldOf(await second.life(1)).kernel_lost).toBe(2 + 7);
    const from = /from (\S+Z)/.exec(second.gap() ?? '')?.[1] ?? '';
    expect(Date.parse(from)).toBeGreaterThanOrEqual(beganMs);
  });

  it('should have its time without a watcher told, and what began in it, when its service was stopped', async () => {
    const first = await start(await sensor());
    await first.life(1);
    const stoppedMs = Date.now();
    first.run.endInput();
    await first.run.gone;
    runPrograms(100);
    const second = await start(await sensor());
    const { kernel_lost: lost, engine_lost: unseen } = untoldOf(await second.life(1));
    expectSpan(second, 'stopped');
    expect([lost, unseen > 99]).toEqual([7, true]);
    expect(Date.parse(spanOf(second)['until'] ?? '')).toBeGreaterThanOrEqual(stoppedMs);
    expect(second.gap()).toMatch(GAP);
  });

  it('should have what began since the machine started anew told, however it ended', async () => {
    const first = await start(await sensor());
    await first.life(2);
    first.run.endInput();
    await first.run.gone;
    const file = path.join(stateDir, 'engine', 'tetragon', 'last-word.json');
    const left = JSON.parse(readFileSync(file, 'utf8')) as Word;
    writeFileSync(file, JSON.stringify({ ...left, boot: `${'0'.repeat(8)}-0000-4000-8000-0` }));
    const second = await start(await sensor());
    expect(untoldOf(await second.life(1)).engine_lost).toBeGreaterThan(100);
    expectSpan(second, 'rebooted');
    expect(spanOf(second)['since']).toBe(new Date(Number(left['atMs'])).toISOString());
  });

  it('should be nothing for the first one', async () => {
    const first = await start(await sensor());
    await first.life(1);
    expect(first.hello()).not.toHaveProperty('unwatched');
    expect([first.gap(), first.errors]).toEqual([undefined, []]);
  });
});
