// Starts the engine as a process of its own, and a newer build of it beside the one that runs. What its lines mean, when
// it is started again and which build is refused is not decided here.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EngineBuild, HookReport } from '../../machines/sensor/engine.rules.ts';
import { CARRIED, ENTRY, type OwnKind } from './carried.ts';
import type { EngineKind, EngineWish } from './choice.ts';
import type { EngineLaunch, EngineRun, LastTold } from './engine-run.ts';
import { createUpgrades, type EngineLook, type NextEngine } from './engine-upgrades.ts';
import { readKernel } from './kernel.ts';
import { layOutAndChoose } from './lay-out.ts';
import { residentBytes } from './process-memory.ts';
import { createTetragon, NO_TETRAGON, type Tetragon } from './tetragon/tetragon.ts';
import { clearBeside } from './unpack.ts';

export type { EngineLaunch, EngineRun } from './engine-run.ts';
export type { EngineLook, NextEngine } from './engine-upgrades.ts';
export type EngineLauncher = {
  /**
   * Lays the engine out where it runs from and chooses; answers whether a lesser one could take its place. A build that
   * was refused is not laid out again: what ran before it is. Idempotent; rejects when the disk refuses.
   */
  unpack(): Promise<boolean>;
  /** From now on the engine that was chosen last is passed over, for this reason, until the Sensor starts again. */
  fallBack(reason: string): void;
  /** Starts it; asked only after `unpack`. A start that fails is a run that is gone at once. */
  launch(options: EngineLaunch): EngineRun;
  /** The better engines that do not run here, each with the reason; known after `unpack`. */
  passedOver(): readonly HookReport[];
  /** Whether the kernel is a PREEMPT_RT one. Never rejects. */
  isPreemptRt(): Promise<boolean>;
  /** Whether `unpack` would bring another build of the engine that runs. Cheap while nothing changed; never rejects. */
  look(): Promise<EngineLook>;
  /** Lays this build, which the last look found, out beside the one that runs; rejects with why it cannot run here. */
  prepareNext(build: EngineBuild): Promise<NextEngine>;
  /** What was prepared last is the engine from now on; rejects when the disk refuses, and is the engine all the same. */
  acceptNext(): Promise<void>;
  /** This build is not brought any more; what ran when it was tried is. */
  refuseNext(build: EngineBuild): void;
};

export type LauncherOptions = {
  readonly tetragon?: Tetragon;
  /** Where the program carries its engines. */
  readonly carried?: URL;
};

/** Launches the best engine that works here, or the one wished for, as a child process. */
export function createEngineLauncher(
  stateDir: string,
  wish: EngineWish = 'auto',
  options: LauncherOptions = {},
): EngineLauncher {
  const { tetragon = createTetragon(stateDir, NO_TETRAGON), carried = CARRIED } = options;
  let directory = '';
  let passedOver: readonly HookReport[] = [];
  let chosen: EngineKind | null = null;
  const givenUp = new Map<EngineKind, string>();
  const upgrades = createUpgrades(
    stateDir,
    carried,
    (kind, place) => (asked) => launchProcess(kind, place, { ...asked, isBeside: true }),
  );
  return {
    async unpack() {
      await clearBeside(stateDir);
      const whyNotTetragon = async () => (await tetragon.whyNot()) ?? (await tetragon.prepare());
      const found = await layOutAndChoose(stateDir, wish, {
        whyNotTetragon,
        givenUp,
        carried,
        kept: upgrades.kept,
      });
      if (!found.choice.ok) throw new Error(found.choice.reason);
      ({ directory } = found);
      passedOver = found.choice.passedOver;
      chosen = found.choice.kind;
      upgrades.follow(chosen === 'tetragon' ? null : (found.engines.get(chosen) ?? null));
      if (chosen !== 'tetragon') await tetragon.clearAway();
      return found.choice.hasFallback;
    },
    fallBack(reason) {
      if (chosen !== null) givenUp.set(chosen, `it failed again and again: ${reason}`);
    },
    launch: (asked) =>
      chosen === 'tetragon'
        ? tetragon.launch(asked)
        : launchProcess(chosen ?? 'procfs', directory, asked),
    passedOver: () => passedOver,
    isPreemptRt: async () => (await readKernel()).preemptRt,
    look: () => (chosen === 'tetragon' ? tetragon.look() : upgrades.look()),
    prepareNext: (build) =>
      chosen === 'tetragon' ? tetragon.prepareNext(build) : upgrades.prepare(build),
    async acceptNext() {
      if (chosen === 'tetragon') tetragon.acceptNext();
      else await upgrades.accept();
    },
    refuseNext(build) {
      if (chosen === 'tetragon') tetragon.refuseNext(build);
      else upgrades.refuse(build);
    },
  };
}

function launchProcess(
  kind: OwnKind,
  directory: string,
  options: EngineLaunch & { readonly isBeside?: boolean },
): EngineRun {
  const { exportFile, nodeName, policyFile } = options;
  const carriesPolicies = kind === 'ebpf';
  const entry = join(directory, ENTRY[kind]);
  const [program, ...words] = kind === 'ebpf' ? [entry] : [process.execPath, entry];
  const flags = ['--export-filename', exportFile, '--node-name', nodeName];
  if (carriesPolicies && policyFile !== undefined) flags.push('--policy-file', policyFile);
  if (options.isBeside === true) flags.push('--beside');
  const child = spawn(program, [...words, ...flags, '--ignore-pid', String(process.pid)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const gone = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    // Its last words have been read by then.
    child.on('close', (code, killed) => resolve(`it ended with ${killed ?? code}`));
  });
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', options.onLine);
  createInterface({ input: child.stderr }).on('line', options.onErrorLine);
  const tell = (word: string): void => {
    if (child.stdin.writable) child.stdin.write(`${word}\n`);
  };
  return {
    gone,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    memoryBytes: () => residentBytes(child.pid),
    endInput: () => {
      child.stdin.end();
    },
    kill: () => {
      child.kill('SIGKILL');
    },
    ...(carriesPolicies
      ? { readPolicies: () => tell('policies') }
      : { takeOver: (told: LastTold) => tell(handoverWord(told)) }),
  };
}

/** The line with the events comes first: a build that does not know it goes by the time alone. */
function handoverWord({ until, events }: LastTold): string {
  const last = events === undefined ? '' : `told since ${events.since}: ${events.names}\n`;
  return `${last}take over after ${until}`;
}
