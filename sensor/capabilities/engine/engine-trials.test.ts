// The file in which a Sensor keeps what became of builds of its engine: its form, what is believed of it, and a Sensor that
// ends at any call to the disk while a broken build is tried. decision: D50
import {
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
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { ENGINE_TRIALS_FILE_MAX_BYTES } from '../../../machines/sensor/engine-limits.ts';
import type { EngineTrial } from '../../../machines/sensor/engine-trials.rules.ts';
import { createEngineLauncher, type EngineLauncher } from '../../engine/engine-launcher.ts';
import { PROCFS_ENGINE_FILE } from '../../engine/unpack.ts';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { engine } from './engine.ts';
import { rememberTrials } from './engine-trials.ts';

const OWN = fileURLToPath(new URL('../../engine/procfs/', import.meta.url));
let directory = '';
let warnings: string[] = [];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'trials-'));
  warnings = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
const file = () => path.join(directory, 'engine-trials.json');
const build = (sum: string) => ({ kind: 'ebpf', sum: sum.repeat(64), name: `ebpf (${sum})` });
const TRIAL: EngineTrial = {
  ...{ build: build('b'), reason: 'it ended with 3', trials: 1 },
  kept: { build: build('a'), files: [{ name: 'ebpf-engine', sum: 'a'.repeat(64) }] },
};

/** A launcher that only knows. */
function knowing(trials: readonly EngineTrial[] = []) {
  const state = { trials, recalled: [] as (readonly EngineTrial[])[] };
  const knowingEngine = {
    recall: (one: readonly EngineTrial[]) => state.recalled.push(one),
    trials: () => state.trials,
    unpack: async () => true,
    prepareNext: async () => ({ isBeside: true }),
    async acceptNext() {
      state.trials = [];
    },
    refuseNext() {
      state.trials = [TRIAL];
    },
  } as unknown as EngineLauncher;
  return { state, engine: knowingEngine };
}
function remember(engine: EngineLauncher, files: Files = diskFiles, stateDir = directory) {
  return rememberTrials({
    config: { stateDir },
    logger: logger as never,
    ports: { files, engine },
  });
}

describe('what is kept of builds that were tried', () => {
  it('should be written whole, for its owner alone, and be recalled once by the next life', async () => {
    const { engine } = knowing([TRIAL]);
    await remember(engine).unpack();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ version: 1, trials: [TRIAL] });
    const next = knowing([TRIAL]);
    const remembering = remember(next.engine);
    await remembering.unpack();
    await remembering.unpack();
    expect(next.state.recalled).toEqual([[TRIAL]]);
    expect(warnings).toEqual([]);
  });

  it('should be gone when nothing is left to know, and absent before', async () => {
    const { engine } = knowing();
    const remembering = remember(engine);
    await remembering.unpack();
    expect(existsSync(file())).toBe(false);
    remembering.refuseNext(TRIAL.build, 'it ended with 3');
    await remembering.save();
    expect(existsSync(file())).toBe(true);
    await remembering.acceptNext();
    expect(existsSync(file())).toBe(false);
  });

  const changed = (change: object) =>
    JSON.stringify({ version: 1, trials: [{ ...TRIAL, ...change }] });
  it.each([
    ['torn', '{"version":1,"trials":['],
    ['empty', ''],
    ['of a later version', '{"version":2,"trials":[]}'],
    ['too large', `{"version":1,"trials":[]}${' '.repeat(ENGINE_TRIALS_FILE_MAX_BYTES)}`],
    ['of too many', JSON.stringify({ version: 1, trials: new Array(4).fill(TRIAL) })],
    ['of a kind nobody knows', changed({ build: { ...TRIAL.build, kind: 'other' } })],
    ['of no sum', changed({ build: { ...TRIAL.build, sum: 'b' } })],
    ['of no count', changed({ trials: -1 })],
    [
      'of a path',
      changed({ kept: { build: build('a'), files: [{ name: '../key', sum: 'a'.repeat(64) }] } }),
    ],
  ])('should count as nothing when the file is %s, and be said', async (_, text) => {
    writeFileSync(file(), text);
    const { state, engine } = knowing();
    await remember(engine).unpack();
    expect(state.recalled).toEqual([[]]);
    expect(warnings).toEqual([expect.stringMatching(/cannot be understood/)]);
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  it('should count as nothing when it cannot be read, and be said', async () => {
    mkdirSync(file());
    const { state, engine } = knowing();
    await remember(engine).unpack();
    expect(state.recalled).toEqual([[]]);
    expect(warnings).toEqual([expect.stringMatching(/cannot be read/)]);
  });

  it('should let no build be tried that it could not be written of, and be written later', async () => {
    const { engine } = knowing([TRIAL]);
    let isFull = true;
    const files: Files = {
      ...diskFiles,
      async open(...asked) {
        if (isFull) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
        return await diskFiles.open(...asked);
      },
    };
    const remembering = remember(engine, files);
    await expect(remembering.prepareNext(TRIAL.build)).rejects.toThrow('no room');
    await remembering.save();
    expect([existsSync(file()), warnings.length]).toEqual([false, 1]);
    isFull = false;
    await remembering.save();
    expect(existsSync(file())).toBe(true);
  });
});

describe('a Sensor that ends while a broken build is tried', () => {
  const source = () => path.join(directory, 'carried', 'procfs', PROCFS_ENGINE_FILE);
  const laidOut = () => path.join(directory, 'state', 'engine', 'v1.7.0', PROCFS_ENGINE_FILE);
  const launcher = () =>
    createEngineLauncher(path.join(directory, 'state'), 'procfs', {
      carried: pathToFileURL(`${path.join(directory, 'carried')}/`),
    });

  /** The disk of a process that ends before its n-th call; what was asked for is never answered. */
  function endingAt(last: number): { readonly files: Files; readonly ended: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    const ask = <T>(run: () => Promise<T>): Promise<T> => {
      calls += 1;
      if (calls < last) return run();
      resolve();
      return new Promise<T>(() => undefined);
    };
    const files = Object.fromEntries(
      Object.entries(diskFiles).map(([name, call]) => [
        name,
        (...asked: unknown[]) =>
          ask(() => (call as (...all: unknown[]) => Promise<unknown>)(...asked)),
      ]),
    ) as unknown as Files;
    return { files, ended: promise };
  }

  /** A whole life with a broken build. */
  async function tryBroken(own: ReturnType<typeof remember>, onTried: () => void): Promise<void> {
    await own.unpack();
    writeFileSync(source(), 'process.exit(3);\n');
    await own.look();
    await own.look();
    const look = await own.look();
    if (look.state !== 'newer') throw new Error('there is no newer build');
    const next = await own.prepareNext(look.build);
    onTried();
    const run = next.launch({
      ...{ exportFile: 'none', nodeName: 'n1' },
      ...{ onLine: () => undefined, onErrorLine: () => undefined },
    });
    own.refuseNext(look.build, await run.gone);
    await own.save();
    await own.unpack();
  }

  const good = readFileSync(path.join(OWN, PROCFS_ENGINE_FILE), 'utf8');
  function begin(): string {
    for (const one of ['carried/native', 'state', 'carried/procfs']) {
      rmSync(path.join(directory, one), { recursive: true, force: true });
      mkdirSync(path.join(directory, one), { recursive: true });
    }
    cpSync(OWN, path.join(directory, 'carried', 'procfs'), { recursive: true });
    return path.join(directory, 'state');
  }

  it('should leave what ran before to one that enrolls again', async () => {
    const stateDir = begin();
    await tryBroken(remember(launcher(), diskFiles, stateDir), () => undefined);
    const ports = { files: diskFiles, engine: launcher() };
    const opened = await engine.open({ config: { stateDir }, logger, ports } as never);

    await opened.beforeEnrolling?.();

    expect(readFileSync(laidOut(), 'utf8')).toBe(good);
    const later = remember(launcher(), diskFiles, stateDir);
    await later.unpack();
    expect(later.refusals()[0]?.reason).toBe('it ended with 3');
  });

  it('should leave what ran before to the next one, wherever it ends', async () => {
    let isWhole = false;
    for (let last = 1; !isWhole; last += 1) {
      const state = begin();
      let isTried = false;
      const { files, ended } = endingAt(last);
      const live = async (): Promise<boolean> => {
        await tryBroken(remember(launcher(), files, state), () => {
          isTried = true;
        });
        return true;
      };
      isWhole = await Promise.race([live(), ended.then(() => false)]);
      if (!isTried) continue;
      const later = remember(launcher(), diskFiles, state);
      await later.unpack();
      expect(readFileSync(laidOut(), 'utf8')).toBe(good);
      if (isWhole) expect(later.refusals()[0]?.reason).toBe('it ended with 3');
    }
  });
});
