// The entry of `service-license` under the bundled Node: joins the process to the program.
import { createLogger } from '../../actors/runtime/json-log.ts';
import { readInput } from './license/input.ts';
import { runLicenseProgram } from './license/program.ts';
import { processTerminal } from './plumbing/terminal.ts';

const logger = createLogger('info');
process.exitCode = await runLicenseProgram(process.argv.slice(2), {
  terminal: processTerminal(process.env),
  now: Date.now,
  readInput,
  logger,
  stopped: () =>
    new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
    }),
});
