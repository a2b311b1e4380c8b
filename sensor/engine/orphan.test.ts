// Which processes are ended as engines that a killed Sensor left: real ones, that only carry the names. decision: D51
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EBPF_ENGINE_FILE } from './ebpf.ts';
import { createEngineLauncher } from './engine-launcher.ts';
import { exportFileIn } from './export-files.ts';
import { endOrphan } from './orphan.ts';
import { engineDirectory } from './unpack.ts';

let stateDir = '';
let children: ChildProcess[] = [];
beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'orphan-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(stateDir, { recursive: true, force: true });
});

/** A process of that program which has the export among its words, and runs until it is ended. */
async function run(program: string, exported = exportFileIn(stateDir)): Promise<ChildProcess> {
  mkdirSync(path.dirname(program), { recursive: true });
  if (!existsSync(program)) copyFileSync('/bin/sh', program);
  const child = spawn(program, ['-c', 'echo ready; read line', 'sh', exported], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  exits.set(child, once(child, 'exit'));
  await once(child.stdout ?? child, 'data');
  return child;
}
/** How it ended; known also when it has ended long before. */
const exits = new WeakMap<ChildProcess, Promise<unknown[]>>();
const own = () => path.join(engineDirectory(stateDir), EBPF_ENGINE_FILE);
const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

describe('an engine without its Sensor', () => {
  it('should be ended by its program and the export it writes, and nothing else', async () => {
    const orphan = await run(own());
    const others = [
      await run(path.join(stateDir, 'another-program')),
      await run(own(), path.join(stateDir, 'another-export')),
    ];
    await endOrphan(stateDir);
    expect(await exits.get(orphan)).toEqual([null, 'SIGTERM']);
    expect(others.map(isRunning)).toEqual([true, true]);
  });

  it('should be left alone when its number has gone to another process since', async () => {
    const orphan = await run(own());
    let reads = 0;
    /** The number goes to another process as soon as its start was read once. */
    async function readReused(file: string): Promise<string> {
      const found = await readFile(file, 'utf8');
      if (file !== `/proc/${orphan.pid}/stat`) return found;
      reads += 1;
      return reads === 1 ? found : found.replaceAll(/ (\d+)/g, ' 1$1');
    }
    await endOrphan(stateDir, readReused);
    expect(reads).toBeGreaterThan(1);
    // What was sent to it would have ended it by now: its answer comes after.
    orphan.stdin?.end('go on\n');
    expect(await exits.get(orphan)).toEqual([0, null]);
  });

  it('should be ended before an engine of another kind begins', async () => {
    const orphan = await run(own());
    await createEngineLauncher(stateDir, 'procfs').unpack();
    expect(await exits.get(orphan)).toEqual([null, 'SIGTERM']);
  });

  it('should be left for the next one of its kind, which takes over from it', async () => {
    const orphan = await run(own());
    // Where this kind cannot run none is chosen, and nothing is ended either.
    await createEngineLauncher(stateDir, 'ebpf')
      .unpack()
      .catch(() => undefined);
    orphan.stdin?.end('go on\n');
    expect(await exits.get(orphan)).toEqual([0, null]);
  });
});
