// What happened while nobody watched: a Tetragon, its Sensor or both are killed, and the next one tells from when to when
// nothing is known, how much at most began in between, and what the kernel side counted until the end. invariant: I19
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
  const gap = () => {
    const hooks = words.find((word) => word['engine'] === 'tetragon')?.['disabled_hooks'] as Word[];
    const told = hooks.find(({ hook }) => hook === 'tetragon/gap')?.['reason'];
    return told === undefined ? undefined : String(told);
  };
  return { run, words, errors, life, gap };
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
const GAP = /^nothing is known of what happened from \S+Z to \S+Z: at most (\d+) processes and /;

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('tetragon gap: skipped, the engine runs as root only\n');

describe.skipIf(!isRoot)('a Tetragon that was killed', () => {
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

  it('should leave no gap when it was ended in order with its Sensor', async () => {
    const first = await start(await sensor());
    await first.life(1);
    first.run.endInput();
    await first.run.gone;
    const second = await start(await sensor());
    expect(untoldOf(await second.life(1))).toEqual({ kernel_lost: 7, engine_lost: 0 });
    expect(second.gap()).toBeUndefined();
    expect(second.errors).toEqual([]);
  });
});
