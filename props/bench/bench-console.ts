// What the benches of a whole fleet share: a home with a Console, sensors that were enrolled before it starts, and programs
// that are ended by their process id, also when the bench is interrupted.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stop } from '../journeys/fleet.ts';
import {
  type Home,
  makeHome,
  type Program,
  removeHome,
  startCommand,
} from '../journeys/programs.ts';

export type BenchHome = {
  readonly home: Home;
  /** A TypeScript file under this Node, in the home's environment. */
  start(file: string, args: readonly string[], nodeOptions?: readonly string[]): Program;
  /** The Console by its TypeScript entry, so that the process started is the gateway itself; it listens when this resolves. */
  startGateway(nodeOptions?: readonly string[]): Promise<Program>;
  end(program: Program): Promise<void>;
  /** A plan for a program of the bench, as a file; its path. */
  writePlan(plan: unknown): string;
  /** Ends what runs and removes the home. */
  tidy(): Promise<void>;
};

/** Makes the home; SIGINT and SIGTERM tidy it. */
export async function openBenchHome(): Promise<BenchHome> {
  const home = await makeHome();
  const running = new Set<Program>();
  let plans = 0;

  function start(file: string, args: readonly string[], nodeOptions: readonly string[] = []) {
    const program = startCommand(process.execPath, [...nodeOptions, file, ...args], {
      env: home.env,
    });
    running.add(program);
    return program;
  }
  async function tidy(): Promise<void> {
    for (const program of running) program.kill('SIGKILL');
    await removeHome(home);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void tidy().finally(() => process.exit(1)));
  }
  return {
    home,
    start,
    async startGateway(nodeOptions) {
      const args = ['quickstart', '--no-sensor'];
      const program = start('gateway/cli/service-console.ts', args, nodeOptions);
      await program.prints(/https:\/\/localhost:\d+/);
      return program;
    },
    async end(program) {
      await stop(program);
      running.delete(program);
    },
    writePlan(plan) {
      plans += 1;
      const path = join(home.folder, `plan-${plans}.json`);
      writeFileSync(path, JSON.stringify(plan), { mode: 0o600 });
      return path;
    },
    tidy,
  };
}
