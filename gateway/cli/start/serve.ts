// `service-console serve`: a Console from console.yaml and the environment, without a local Sensor. It runs in the
// foreground and logs JSON lines, as a service manager wants it. One that was told nothing yet opens the first run and ends
// with the exit code that asks for a new start when the configuration is written. decision: D42
import { createLogger } from '../../../actors/runtime/json-log.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { ConsoleConfig } from '../../config/config.ts';
import { needsSetup } from '../../config/needs-setup.ts';
import { startConsole } from '../../main.ts';
import { findPage } from '../../page/find-page.ts';
import type { PageFiles } from '../../page/page-files.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { programPath } from '../plumbing/program-path.ts';
import { programVersion } from '../plumbing/program-version.ts';
import { onStopSignal, readConfig } from './quickstart.ts';
import { openSetup, type RunningSetup } from './serve-setup.ts';
import { demandPlace, startFailure } from './start-problem.ts';

/** Runs until it is told to stop; resolves to the exit code. */
export async function runServe(): Promise<number> {
  const source = { env: process.env, isRoot: process.getuid?.() === 0 };
  const config = readConfig(source.env, source.isRoot);
  const logger = createLogger(config.logLevel);
  await demandPlace(config);
  const page = await findPage({
    dataDir: config.dataDir,
    tell: (line) => logger.info(line),
  });
  if (needsSetup(source)) return runSetup({ config, page }, logger);
  const giveUp = new AbortController();
  const stopped = onStopSignal(logger).then(() => giveUp.abort());
  const version = programVersion();
  const started = await startConsole({ config, page, version, logger, givenUp: giveUp.signal });
  if (!started.ok && giveUp.signal.aborted) return EXIT.ok;
  if (!started.ok) throw startFailure(started.step, started.reason, config);
  logger.info(
    { port: started.console.port, caFingerprint: started.console.caFingerprint },
    'serving',
  );
  await stopped;
  await started.console.stop();
  return EXIT.ok;
}

async function runSetup(
  opened: { readonly config: ConsoleConfig; readonly page: PageFiles | null },
  logger: Logger,
): Promise<number> {
  const codes: string[] = [];
  let running: RunningSetup | null = null;
  const tell = (): void => {
    if (running !== null) for (const code of codes.splice(0)) tellCode(running, code);
  };
  running = await openSetup({
    ...{ ...opened, logger, env: process.env, version: programVersion() },
    tellCode(code) {
      codes.push(code);
      tell();
    },
  }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.failed, `the setup could not be opened: ${why}`);
  });
  tell();
  const stopped = onStopSignal(logger).then(() => EXIT.ok);
  const exitCode = await Promise.race([stopped, running.written.then(() => EXIT.restart)]);
  await running.stop();
  if (exitCode === EXIT.restart) logger.info('the configuration is written; starting again');
  return exitCode;
}

// The code is for people at this terminal; the log, which is sent elsewhere, never holds it.
function tellCode({ port, caFingerprint }: RunningSetup, code: string): void {
  process.stderr.write(
    `\nThis Console is not set up yet.\n  Open        https://localhost:${port}/setup\n  or run      ${programPath()} setup\n  Setup code  ${code}\n  CA SHA-256  ${caFingerprint}\n\n`,
  );
}
