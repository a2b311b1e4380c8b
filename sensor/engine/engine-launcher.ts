// Starts the engine as a process of its own. What its lines mean and when it is started again is not decided here.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readKernel } from './kernel.ts';
import { engineFiles, PROCFS_ENGINE_FILE, unpackEngine } from './unpack.ts';

export type EngineRun = {
  /** Resolves, never rejects, with how it ended. */
  readonly gone: Promise<string>;
  hasEnded(): boolean;
  /** Asks it to end. Idempotent. */
  endInput(): void;
  kill(): void;
};
export type EngineLaunch = {
  readonly exportFile: string;
  readonly nodeName: string;
  /** Each line of its standard output. */
  readonly onLine: (line: string) => void;
  readonly onErrorLine: (line: string) => void;
};
export type EngineLauncher = {
  /** Lays the engine out where it runs from. Idempotent; rejects when the disk refuses. */
  unpack(): Promise<void>;
  /** Starts it; asked only after `unpack`. A start that fails is a run that is gone at once. */
  launch(options: EngineLaunch): EngineRun;
  /** Whether the kernel is a PREEMPT_RT one. Never rejects. */
  isPreemptRt(): Promise<boolean>;
};

/** Launches the engine this program carries, as a child process. */
export function createEngineLauncher(stateDir: string): EngineLauncher {
  let file = '';
  return {
    async unpack() {
      const result = await unpackEngine({ stateDir, files: await engineFiles() });
      if (!result.ok) throw new Error(result.reason);
      file = join(result.directory, PROCFS_ENGINE_FILE);
    },
    launch: (options) => launchProcess(file, options),
    isPreemptRt: async () => (await readKernel()).preemptRt,
  };
}

function launchProcess(file: string, options: EngineLaunch): EngineRun {
  const { exportFile, nodeName } = options;
  const child = spawn(
    process.execPath,
    [
      file,
      '--export-filename',
      exportFile,
      '--node-name',
      nodeName,
      '--ignore-pid',
      String(process.pid),
    ],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] ?? '' } },
  );
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
    endInput: () => {
      child.stdin.end();
    },
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}
