// What a launcher does about builds over restarts of its Sensor, and about another build of a better engine than the one
// that runs. A script stands for the engine in C; its probe says whether the kernel would take it. decision: D50
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngineLauncher, type EngineLauncher } from './engine-launcher.ts';
import { PROCFS_ENGINE_FILE } from './unpack.ts';

const isBuiltForThis = process.platform === 'linux' && process.arch === 'x64';
const OWN = fileURLToPath(new URL('./procfs/', import.meta.url));
const PROGRAM = 'ebpf-engine-x86_64';
const script = (probe: number, mark: string) =>
  `#!/bin/sh\n[ "$1" = --probe ] && exit ${probe}\n# ${mark}\nexit 9\n`;

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'upgrades-'));
  mkdirSync(path.join(directory, 'carried', 'native'), { recursive: true });
  cpSync(OWN, path.join(directory, 'carried', 'procfs'), { recursive: true });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A launcher of one life of the Sensor, which knows what the one before did. */
function begin(before?: EngineLauncher, wish: 'auto' | 'procfs' | 'ebpf' = 'auto'): EngineLauncher {
  const carried = pathToFileURL(`${path.join(directory, 'carried')}/`);
  const launcher = createEngineLauncher(path.join(directory, 'state'), wish, { carried });
  if (before !== undefined) launcher.recall(JSON.parse(JSON.stringify(before.trials())));
  return launcher;
}
const source = () => path.join(directory, 'carried', 'procfs', PROCFS_ENGINE_FILE);
const laidOut = (name = PROCFS_ENGINE_FILE) =>
  path.join(directory, 'state', 'engine', 'v1.7.0', name);
const read = (file: string) => readFileSync(file, 'utf8');
function carry(text: string): void {
  const program = path.join(directory, 'carried', 'native', PROGRAM);
  const sum = createHash('sha256').update(text).digest('hex');
  writeFileSync(program, text);
  writeFileSync(`${program}.sha256`, `${sum}  ${PROGRAM}\n`);
}

/** The build that is found, when the files stood still. */
async function findNewer(launcher: EngineLauncher) {
  for (let looks = 0; looks < 3; looks += 1) {
    const look = await launcher.look();
    if (look.state === 'newer') return look.build;
  }
  throw new Error('there is no newer build');
}

/** Tries it: it ends by itself. */
async function tryIt(launcher: EngineLauncher): Promise<{ readonly isBeside: boolean }> {
  const build = await findNewer(launcher);
  const next = await launcher.prepareNext(build);
  const run = next.launch({
    exportFile: path.join(directory, 'events.log'),
    nodeName: 'n1',
    onLine: () => undefined,
    onErrorLine: () => undefined,
  });
  run.endInput();
  await run.gone;
  return next;
}

/** Tries another build of the engine that Node runs, which fails. */
async function refuseProcfs(launcher: EngineLauncher): Promise<void> {
  await launcher.unpack();
  writeFileSync(source(), 'throw new Error("broken");\n');
  const build = await findNewer(launcher);
  await tryIt(launcher);
  launcher.refuseNext(build, 'it ended with 1');
}

describe('a refused build, when the Sensor starts again', () => {
  it('should stay out, and what ran before be what is started, with the reason', async () => {
    const first = begin(undefined, 'procfs');
    const before = read(source());
    await refuseProcfs(first);
    const second = begin(first, 'procfs');
    await second.unpack();
    expect(read(laidOut())).toBe(before);
    expect(second.refusals()).toMatchObject([
      { build: { kind: 'procfs' }, reason: 'it ended with 1' },
    ]);
    const third = begin(second, 'procfs');
    await third.unpack();
    expect(read(laidOut())).toBe(before);
    expect(third.refusals()).toEqual(second.refusals());
  });

  it('should be forgotten when another one is carried, or nothing is kept for it any more', async () => {
    const first = begin(undefined, 'procfs');
    await refuseProcfs(first);
    const broken = read(source());
    writeFileSync(source(), '// mended\n');
    const second = begin(first, 'procfs');
    await second.unpack();
    expect(read(laidOut())).toBe('// mended\n');
    expect([second.trials(), second.refusals()]).toEqual([[], []]);
    writeFileSync(source(), broken);
    writeFileSync(laidOut(), 'changed');
    const third = begin(first, 'procfs');
    await third.unpack();
    expect([read(laidOut()), third.trials()]).toEqual([broken, []]);
  });

  it('should be forgotten as soon as a look finds what ran before in its place', async () => {
    const first = begin(undefined, 'procfs');
    const before = read(source());
    await refuseProcfs(first);
    writeFileSync(source(), before);
    await first.look();
    expect(await first.look()).toEqual({ state: 'current' });
    expect([first.trials(), first.refusals()]).toEqual([[], []]);
  });

  it('should be tried once more, beside what ran, when nobody saw how it ended', async () => {
    const before = read(source());
    const first = begin(undefined, 'procfs');
    await first.unpack();
    writeFileSync(source(), `${before}// another build\n`);
    await tryIt(first);
    const second = begin(first, 'procfs');
    await second.unpack();
    expect(read(laidOut())).toBe(before);
    expect(second.refusals()).toEqual([]);
    expect((await tryIt(second)).isBeside).toBe(true);
    const third = begin(second, 'procfs');
    await third.unpack();
    expect(read(laidOut())).toBe(before);
    expect(third.refusals()[0]?.reason).toMatch(/tried 2 times, and never to the end/);
  });

  it('should not be held against it that it could not even be prepared', async () => {
    const before = read(source());
    const first = begin(undefined, 'procfs');
    await first.unpack();
    writeFileSync(source(), `${before}// another build\n`);
    const build = await findNewer(first);
    first.refuseNext(build, 'the disk is full');
    expect(first.refusals()).toEqual([{ build, reason: 'the disk is full' }]);
    const second = begin(first, 'procfs');
    await second.unpack();
    expect([read(laidOut()), second.refusals()]).toEqual([before, []]);
    expect(await findNewer(second)).toEqual(build);
  });
});

describe.skipIf(!isBuiltForThis)('another build of a better engine than the one that runs', () => {
  const hooks = (launcher: EngineLauncher) => launcher.passedOver().map(({ hook }) => hook);

  it('should take over when the kernel takes it, after the one before has ended', async () => {
    carry(script(1, 'one'));
    const launcher = begin();
    expect(await launcher.unpack()).toBe(false);
    expect(hooks(launcher)).toEqual(['engine/tetragon', 'engine/ebpf']);
    expect(await launcher.look()).toEqual({ state: 'current' });
    carry(script(0, 'two'));
    const look = await launcher.look();
    expect(look).toMatchObject({
      ...{ state: 'newer', build: { kind: 'ebpf' }, running: { kind: 'procfs' } },
    });
    expect((await tryIt(launcher)).isBeside).toBe(false);
    expect(hooks(launcher)).toEqual(['engine/tetragon']);
    await launcher.acceptNext();
    expect([await launcher.look(), launcher.trials()]).toEqual([{ state: 'current' }, []]);
    expect(read(laidOut('ebpf-engine'))).toBe(script(0, 'two'));
    expect(statSync(laidOut('ebpf-engine')).mode & 0o777).toBe(0o700);
    expect(await launcher.unpack()).toBe(true);
    expect(hooks(launcher)).toEqual(['engine/tetragon']);
  });

  it('should be looked for after it was given up, and not before its bytes are others', async () => {
    carry(script(0, 'one'));
    const launcher = begin();
    expect(await launcher.unpack()).toBe(true);
    launcher.fallBack('it ended with 9');
    await launcher.unpack();
    expect(launcher.passedOver()[1]?.reason).toBe('it failed again and again: it ended with 9');
    expect(await launcher.look()).toEqual({ state: 'current' });
    chmodSync(path.join(directory, 'carried', 'native', PROGRAM), 0o700);
    expect(await launcher.look()).toEqual({ state: 'current' });
    carry(script(0, 'two'));
    expect((await findNewer(launcher)).kind).toBe('ebpf');
  });

  it('should not be tried again when it failed, by this Sensor or a later one, until it changes', async () => {
    carry(script(1, 'one'));
    const first = begin();
    await first.unpack();
    carry(script(0, 'two'));
    const build = await findNewer(first);
    await tryIt(first);
    first.refuseNext(build, 'it ended with 9');
    expect(await first.look()).toEqual({ state: 'current' });
    for (const launcher of [first, begin(first), begin(begin(first))]) {
      await launcher.unpack();
      expect(hooks(launcher)).toEqual(['engine/tetragon', 'engine/ebpf']);
      expect(launcher.refusals()).toEqual([{ build, reason: 'it ended with 9' }]);
      expect(await launcher.look()).toEqual({ state: 'current' });
    }
    const later = begin(first);
    await later.unpack();
    carry(script(0, 'three'));
    expect((await findNewer(later)).sum).not.toBe(build.sum);
    expect([later.trials(), later.refusals()]).toEqual([[], []]);
  });

  it('should be asked of the kernel again by a later Sensor when that did not take it', async () => {
    carry(script(1, 'one'));
    const first = begin();
    await first.unpack();
    carry(script(1, 'two'));
    const build = await findNewer(first);
    await expect(first.prepareNext(build)).rejects.toThrow('it ended with 1');
    first.refuseNext(build, 'it ended with 1');
    expect(await first.look()).toEqual({ state: 'current' });
    expect([first.trials(), first.refusals().length]).toEqual([[], 1]);
  });

  it('should not be looked for where an engine is forced', async () => {
    carry(script(1, 'one'));
    const launcher = begin(undefined, 'procfs');
    await launcher.unpack();
    carry(script(0, 'two'));
    expect(await launcher.look()).toEqual({ state: 'current' });
  });

  it('should be what runs of its kind, when a newer one of that kind was refused', async () => {
    carry(script(0, 'one'));
    const first = begin(undefined, 'ebpf');
    await first.unpack();
    carry(script(1, 'two'));
    const build = await findNewer(first);
    await expect(first.prepareNext(build)).rejects.toThrow('it ended with 1');
    first.refuseNext(build, 'it ended with 1');
    const second = begin(first, 'ebpf');
    await second.unpack();
    expect(read(laidOut('ebpf-engine'))).toBe(script(0, 'one'));
    expect(second.refusals()).toEqual([{ build, reason: 'it ended with 1' }]);
    expect(existsSync(laidOut('next'))).toBe(false);
  });
});
