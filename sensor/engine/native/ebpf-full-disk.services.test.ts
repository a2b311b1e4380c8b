import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import { type Running, skipReason, startEngine, stopEngine } from './engine-rig.ts';

const DEADLINE_MS = 120_000;
const refused = skipReason('ebpf engine, a full disk', (scratch) => {
  const tried = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', scratch]);
  spawnSync('umount', [scratch]);
  return tried.status === 0 ? undefined : 'no disk can be mounted';
});

let directory = '';
let running: Running | undefined;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-'));
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', directory]);
});
afterEach(async () => {
  if (running !== undefined) await stopEngine(running);
  running = undefined;
  spawnSync('umount', [directory]);
  rmSync(directory, { recursive: true, force: true });
});

/** Makes the disk full to its last byte. */
function fill(file: string): void {
  spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=4096']);
}

/** What lines of losses sum up to. */
function toldIn(file: string): number {
  const losses = readFileSync(file, 'utf8').split('\n').map(engineLossOf);
  return losses.reduce((sum, { engine_lost: lost = 0 }) => sum + lost, 0);
}

async function met(what: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!what()) {
    if (Date.now() > deadline) throw new Error('never met');
    await wait(20);
  }
}

describe.skipIf(refused !== undefined)('ebpf engine, a full disk', () => {
  it('should tell what the disk refused once it takes lines again, also when it refused that', async () => {
    const engine = await startEngine(directory);
    running = engine;
    const filler = path.join(directory, 'filler');
    fill(filler);
    // More than what the export's last page has room for.
    for (let round = 0; round < 30; round += 1) spawnSync('/bin/true', ['x'.repeat(1_000)]);
    const lost = () => Number(engine.words.at(-1)?.['lost']);
    await met(() => lost() > 0);
    const heard = engine.words.length;
    await met(() => engine.words.length > heard);
    writeFileSync(filler, '');
    await stopEngine(engine);
    expect(lost()).toBeGreaterThan(20);
    expect(toldIn(engine.file)).toBe(lost());
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'should leave to the next engine what the disk refused, ended by %s',
    async (how) => {
      const first = await startEngine(directory);
      running = first;
      const filler = path.join(directory, 'filler');
      fill(filler);
      for (let round = 0; round < 30; round += 1) spawnSync('/bin/true', ['x'.repeat(1_000)]);
      const lost = () => Number(first.words.at(-1)?.['lost']);
      await met(() => lost() > 20);
      await stopEngine(first, how);
      const refusedLines = lost();
      writeFileSync(filler, '');
      const second = await startEngine(directory);
      running = second;
      await stopEngine(second);
      expect(toldIn(first.file)).toBeGreaterThanOrEqual(refusedLines);
    },
  );
});
