// Another build of the real engine put in the place of the one a Sensor carries, while that one runs under load: what is
// told is every program once, whether the other build works or not. decision: D50
import { type ChildProcess, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { emptyFacts } from '../../actors/facts.ts';
import { createEngineLauncher } from '../../engine/engine-launcher.ts';
import {
  linesOf,
  numbersOf,
  range,
  skipReason,
  startLoad,
} from '../../engine/native/engine-rig.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { type PolicyKeeper, startPolicies } from '../policy/policies.ts';
import { startEngine } from './engine.actor.ts';

const refused = skipReason('ebpf engine, upgraded in a running Sensor');
const DEADLINE_MS = 120_000;
/** Programs that begin while no engine runs. */
const UNSEEN = 200;
const CARRIED = fileURLToPath(new URL('../../engine/', import.meta.url));
const PROGRAM = 'ebpf-engine-x86_64';

// Whatever else runs on this machine is told, too.
const MARKS = {
  swap: `swap${process.pid}`,
  stay: `stay${process.pid}`,
  back: `back${process.pid}`,
  better: `better${process.pid}`,
};

let directory = '';
let state = '';
let facts = emptyFacts();
let looks = 0;
let load: ChildProcess | undefined;
let policies: PolicyKeeper | undefined;
let actor: ReturnType<typeof startEngine> | undefined;
let clock = createWheelClock();
const file = () => path.join(state, 'engine', 'export', 'events.log');

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'upgrade-'));
  state = path.join(directory, 'state');
  mkdirSync(path.join(state, 'engine', 'export'), { recursive: true });
  for (const one of ['native', 'procfs'])
    mkdirSync(path.join(directory, 'carried', one), { recursive: true });
  for (const name of [PROGRAM, `${PROGRAM}.sha256`]) {
    cpSync(path.join(CARRIED, 'native', name), path.join(directory, 'carried', 'native', name));
  }
  for (const name of readdirSync(path.join(CARRIED, 'procfs'))) {
    cpSync(path.join(CARRIED, 'procfs', name), path.join(directory, 'carried', 'procfs', name));
  }
  facts = emptyFacts();
  clock = createWheelClock();
});
afterEach(async () => {
  load?.kill();
  await stop();
  await policies?.stop();
  clock.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function stop(): Promise<void> {
  const own = actor;
  actor = undefined;
  if (own === undefined) return;
  const done = new Promise<void>((resolve) => {
    own.subscribe({ complete: resolve });
  });
  own.send({ type: 'stop.requested' });
  await done;
}

/** A Sensor's engine with what it needs, looking for another build ten times a second. */
async function start(wish: 'auto' | 'ebpf' | 'procfs' = 'ebpf'): Promise<void> {
  const intervals = {
    ...DEFAULT_INTERVALS,
    ...{ ENGINE_UPGRADE_LOOK_MS: 100, ENGINE_START_TIMEOUT_MS: 4_000 },
    ...{ ENGINE_RESTART_BACKOFF_MIN_MS: 50, ENGINE_RESTART_BACKOFF_MAX_MS: 100 },
  };
  const carried = pathToFileURL(`${path.join(directory, 'carried')}/`);
  const launcher = createEngineLauncher(state, wish, { carried });
  const engine = {
    ...launcher,
    look: async () => {
      const found = await launcher.look();
      looks += 1;
      return found;
    },
  };
  const parts = {
    config: { stateDir: state, nodeName: 'n1', intervals },
    ...{ logger: silentLogger, clock, facts, seed: 1 },
    monotonicNow: () => performance.now(),
    onCrash: (_: string, error: unknown) => {
      throw error;
    },
    ports: { files: diskFiles, engine },
  };
  policies = await startPolicies(parts as never, () => undefined);
  actor = startEngine(parts as never, file(), policies, () => undefined);
  await met(() => facts.engine.state === 'running');
}

/** Puts a program and its sum where the Sensor carries them, each in one step, as a package manager does. */
function replaceProgram(content: Uint8Array | string): void {
  const native = path.join(directory, 'carried', 'native');
  const sum = createHash('sha256').update(content).digest('hex');
  const put = (name: string, text: Uint8Array | string): void => {
    writeFileSync(path.join(native, `${name}.dpkg-new`), text);
    renameSync(path.join(native, `${name}.dpkg-new`), path.join(native, name));
  };
  put(PROGRAM, content);
  put(`${PROGRAM}.sha256`, `${sum}  ${PROGRAM}\n`);
}

/** The same program with other bytes: what follows an ELF file's sections is not looked at. */
function anotherBuild(): Buffer {
  const program = readFileSync(path.join(CARRIED, 'native', PROGRAM));
  return Buffer.concat([program, Buffer.from('another build')]);
}
const script = (text: string) => `#!/bin/sh\n[ "$1" = --probe ] && exit 0\n${text}\n`;

async function met(what: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!what()) {
    if (Date.now() > deadline) throw new Error(`never met: ${JSON.stringify(facts.engine)}`);
    await wait(10);
  }
}
const execs = (mark: string) => numbersOf(linesOf(file()), mark, 'process_exec');
const refusal = () =>
  facts.engine.disabled_hooks.find(({ hook }) => hook === 'engine/upgrade')?.reason;

/** The engines of this Sensor: what each of their processes was started from. */
function programs(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(`${state}/engine/export`));
}

/** Begins to tell of numbered programs and waits for some of them. */
async function begin(mark: string): Promise<void> {
  load = startLoad(mark);
  await met(() => execs(mark).length > 20);
}
async function more(mark: string, count: number): Promise<void> {
  const wanted = execs(mark).length + count;
  await met(() => execs(mark).length > wanted);
}
async function expectEachOnce(mark: string, losses: 'none' | 'those of a restart' = 'none') {
  load?.kill();
  await stop();
  for (const kind of ['process_exec', 'process_exit']) {
    const numbers = numbersOf(linesOf(file()), mark, kind);
    expect(numbers).toEqual(range(numbers[0] ?? -1, numbers.at(-1) ?? -1));
  }
  if (losses === 'none') expect(facts.pipeline.engine_lost).toBe(0);
  expect(programs()).toEqual([]);
}

describe.skipIf(refused !== undefined)('ebpf engine, upgraded in a running Sensor', () => {
  it('should give way to another build without a gap and without telling twice', async () => {
    await start();
    await begin(MARKS.swap);
    const laidOut = path.join(state, 'engine', 'v1.7.0', 'ebpf-engine');
    const other = anotherBuild();
    replaceProgram(other);
    await met(() => programs().some((line) => line.includes('/next/')));
    await met(() => readFileSync(laidOut).equals(other));
    await more(MARKS.swap, 50);
    expect(programs()).toHaveLength(1);
    expect(programs()[0]).toContain('/next/ebpf-engine');
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0, kind: 'ebpf' });
    expect(refusal()).toBeUndefined();
    await expectEachOnce(MARKS.swap);
  });

  it('should wait while the program and its sum do not fit', async () => {
    await start();
    const native = path.join(directory, 'carried', 'native');
    writeFileSync(path.join(native, `${PROGRAM}.half`), anotherBuild());
    renameSync(path.join(native, `${PROGRAM}.half`), path.join(native, PROGRAM));
    const enough = looks + 4;
    await met(() => looks >= enough);
    expect(programs()).toHaveLength(1);
    expect(refusal()).toBeUndefined();
    replaceProgram(anotherBuild());
    await met(() => programs().some((line) => line.includes('/next/')));
  });

  it.each([
    ['is no program for this kernel', '#!/bin/sh\nexit 7\n', /it ended with 7/],
    ['ends at once', script('exit 9'), /it ended with 9/],
    ['never says that it is attached', script('exec sleep 60'), /did not take over in time/],
  ])('should go on as before when the other build %s', async (_, content, reason) => {
    await start();
    await begin(MARKS.stay);
    const [before] = programs();
    replaceProgram(content);
    await met(() => reason.test(refusal() ?? ''));
    await more(MARKS.stay, 50);
    expect(programs()).toEqual([before]);
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0 });
    // What it is replaced by is tried again.
    replaceProgram(anotherBuild());
    await met(() => programs().some((line) => line.includes('/next/')));
    await met(() => refusal() === undefined);
    await more(MARKS.stay, 50);
    await expectEachOnce(MARKS.stay);
  });

  it('should start what ran before when the other build dies after the swap', async () => {
    await start();
    await begin(MARKS.back);
    replaceProgram(script(`echo '{"attached":1}'\nsleep 1\nexit 5`));
    await met(() => facts.engine.restarts === 1 && facts.engine.state === 'running');
    expect(refusal()).toMatch(/it ended with 5/);
    await more(MARKS.back, 20);
    expect(programs()).toHaveLength(1);
    expect(programs()[0]).not.toContain('/next/');
  });

  it('should be what runs when the Sensor starts again, and the other build stay refused', async () => {
    await start();
    const laidOut = path.join(state, 'engine', 'v1.7.0', 'ebpf-engine');
    const before = readFileSync(laidOut);
    replaceProgram(script('exit 9'));
    await met(() => /it ended with 9/.test(refusal() ?? ''));
    await stop();
    await policies?.stop();
    facts = emptyFacts();
    await start();
    expect(refusal()).toMatch(/it ended with 9/);
    expect(facts.engine).toMatchObject({ kind: 'ebpf', restarts: 0 });
    expect(readFileSync(laidOut)).toEqual(before);
    expect(statSync(path.join(state, 'engine-trials.json')).mode & 0o777).toBe(0o600);
    const enough = looks + 4;
    await met(() => looks >= enough);
    expect(programs()).toHaveLength(1);
    replaceProgram(anotherBuild());
    await met(() => refusal() === undefined && programs()[0]?.includes('/next/') === true);
    await met(() => !existsSync(path.join(state, 'engine-trials.json')));
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0 });
  });

  it('should take over from the lesser engine once its program is one the kernel takes', async () => {
    replaceProgram('#!/bin/sh\nexit 7\n');
    await start('auto');
    expect(facts.engine.kind).toBe('procfs');
    replaceProgram(script('exit 9'));
    await met(() => /it ended with 9/.test(refusal() ?? '') && facts.engine.restarts === 1);
    await met(() => facts.engine.state === 'running');
    expect(facts.engine.kind).toBe('procfs');
    replaceProgram(anotherBuild());
    await met(() => facts.engine.kind === 'ebpf' && facts.engine.state === 'running');
    await begin(MARKS.better);
    await met(() => refusal() === undefined);
    expect(facts.engine.restarts).toBe(1);
    expect(programs()).toHaveLength(1);
    expect(facts.engine.disabled_hooks.map(({ hook }) => hook)).not.toContain('engine/ebpf');
    // Another kind of engine takes over with the gap of a restart: what began in it is counted. decision: D50, D51
    await expectEachOnce(MARKS.better, 'those of a restart');
  });

  it('should give way to another build of the engine that Node runs, too', async () => {
    await start('procfs');
    expect(facts.engine.kind).toBe('procfs');
    const [before] = programs();
    const entry = path.join(directory, 'carried', 'procfs', 'procfs-engine.ts');
    const text = readFileSync(entry, 'utf8').replace("VERSION = '1.7.0'", "VERSION = '1.7.0-b'");
    writeFileSync(entry, text);
    await met(() => facts.engine.version === '1.7.0-b');
    await met(() => programs().length === 1);
    expect(programs()).not.toEqual([before]);
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0 });
    const laidOut = path.join(state, 'engine', 'v1.7.0', 'procfs-engine.ts');
    await met(() => readFileSync(laidOut, 'utf8') === text);
    writeFileSync(entry, 'throw new Error("no engine");');
    await met(() => refusal() !== undefined);
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0, version: '1.7.0-b' });
    await stop();
    expect(programs()).toEqual([]);
  });

  it('should follow one of another kind and tell what began while neither watched, once', async () => {
    const pass = async (kind: 'ebpf' | 'procfs') => {
      facts = emptyFacts();
      await start(kind);
      await met(() => facts.untold.lines.length > 0);
      const { lines, waiting } = facts.untold;
      expect(lines.map((line) => JSON.parse(line).rate_limit_info.unwatched.how)).toEqual([
        'stopped',
      ]);
      expect(waiting.engine_lost).toBeGreaterThanOrEqual(UNSEEN);
      // By then the spool of a Sensor has it.
      await met(() => !existsSync(`${file()}.gap`));
      await stop();
    };
    const runUnseen = () =>
      spawnSync('/bin/sh', [
        '-c',
        `i=0; while [ $i -lt ${UNSEEN} ]; do /bin/true; i=$((i+1)); done`,
      ]);
    await start('ebpf');
    expect(facts.untold.lines).toEqual([]);
    await stop();
    runUnseen();
    await pass('procfs');
    runUnseen();
    await pass('ebpf');
    // No engine took itself for the last one that watched.
    const told = linesOf(file()).filter(({ kind }) => kind === 'rate_limit_info');
    expect(told.filter(({ body }) => 'unwatched' in body)).toEqual([]);
  });
});
