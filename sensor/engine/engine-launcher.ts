// Starts the engine as a process of its own. What its lines mean and when it is started again is not decided here.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { HookReport } from '../../machines/sensor/engine.rules.ts';
import { chooseEngine, type EngineChoice, type EngineKind, type EngineWish } from './choice.ts';
import { EBPF_ENGINE_FILE, type EbpfFile, ebpfEngineFile, whyNoEbpf } from './ebpf.ts';
import type { EngineLaunch, EngineRun } from './engine-run.ts';
import { readKernel } from './kernel.ts';
import { residentBytes } from './process-memory.ts';
import { createTetragon, NO_TETRAGON, type Tetragon } from './tetragon/tetragon.ts';
import { engineFiles, PROCFS_ENGINE_FILE, unpackEngine } from './unpack.ts';

export type { EngineLaunch, EngineRun } from './engine-run.ts';
export type EngineLauncher = {
  /**
   * Lays the engine out where it runs from and chooses; answers whether a lesser one could take its place. Idempotent;
   * rejects when the disk refuses.
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
};

/** Launches the best engine that works here, or the one wished for, as a child process. */
export function createEngineLauncher(
  stateDir: string,
  wish: EngineWish = 'auto',
  tetragon: Tetragon = createTetragon(stateDir, NO_TETRAGON),
): EngineLauncher {
  let command: readonly string[] = [];
  let passedOver: readonly HookReport[] = [];
  let chosen: EngineKind | null = null;
  const givenUp = new Map<EngineKind, string>();
  return {
    async unpack() {
      const whyNotTetragon = async () => (await tetragon.whyNot()) ?? (await tetragon.prepare());
      const found = await layOutAndChoose(stateDir, wish, whyNotTetragon, givenUp);
      if (!found.choice.ok) throw new Error(found.choice.reason);
      passedOver = found.choice.passedOver;
      chosen = found.choice.kind;
      if (chosen !== 'tetragon') await tetragon.clearAway();
      command =
        found.choice.kind === 'ebpf'
          ? [join(found.directory, EBPF_ENGINE_FILE)]
          : [process.execPath, join(found.directory, PROCFS_ENGINE_FILE)];
      return found.choice.hasFallback;
    },
    fallBack(reason) {
      if (chosen !== null) givenUp.set(chosen, `it failed again and again: ${reason}`);
    },
    launch: (options) =>
      chosen === 'tetragon'
        ? tetragon.launch(options)
        : launchProcess(command, options, chosen === 'ebpf'),
    passedOver: () => passedOver,
    isPreemptRt: async () => (await readKernel()).preemptRt,
  };
}

/** Puts the engines in place and says which of them runs here; rejects when the disk refuses. */
export async function layOutAndChoose(
  stateDir: string,
  wish: EngineWish,
  whyNotTetragon: () => Promise<string | undefined>,
  givenUp: ReadonlyMap<EngineKind, string> = new Map(),
): Promise<{ readonly directory: string; readonly choice: EngineChoice }> {
  const ebpf = await ebpfEngineFile();
  const files = [...(await engineFiles()), ...(ebpf.ok ? [ebpf.file] : [])];
  const result = await unpackEngine({ stateDir, files });
  if (!result.ok) throw new Error(result.reason);
  const { directory } = result;
  const choice = await chooseEngine(wish, async (kind) => {
    const reason = givenUp.get(kind);
    if (reason !== undefined) return reason;
    if (kind === 'tetragon') return await whyNotTetragon();
    return kind === 'ebpf' ? await whyNotEbpf(ebpf, directory) : undefined;
  });
  return { directory, choice };
}

async function whyNotEbpf(ebpf: EbpfFile, directory: string): Promise<string | undefined> {
  return ebpf.ok ? await whyNoEbpf(join(directory, EBPF_ENGINE_FILE)) : ebpf.reason;
}

function launchProcess(
  command: readonly string[],
  options: EngineLaunch,
  carriesPolicies: boolean,
): EngineRun {
  const { exportFile, nodeName, policyFile } = options;
  const [program = '', ...words] = command;
  const flags = ['--export-filename', exportFile, '--node-name', nodeName];
  if (carriesPolicies && policyFile !== undefined) flags.push('--policy-file', policyFile);
  const child = spawn(program, [...words, ...flags, '--ignore-pid', String(process.pid)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const gone = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, killed) => resolve(`it ended with ${killed ?? code}`));
  });
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', options.onLine);
  createInterface({ input: child.stderr }).on('line', options.onErrorLine);
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
    ...(carriesPolicies && { readPolicies: () => void child.stdin.write('policies\n') }),
  };
}
