// `service-console serve`: a Console from console.yaml and the environment, without a local Sensor. It runs in the
// foreground and logs JSON lines, as a service manager wants it.
import { createLogger } from '../../actors/runtime/json-log.ts';
import { startConsole } from '../main.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { programVersion } from './program-version.ts';
import { onStopSignal, readConfig } from './quickstart.ts';

/** Runs until it is told to stop; resolves to the exit code. */
export async function runServe(): Promise<number> {
  const config = readConfig(process.env, process.getuid?.() === 0);
  const logger = createLogger(config.logLevel);
  const started = await startConsole({ config, version: programVersion(), logger });
  if (!started.ok) {
    throw new CommandFailure(
      EXIT.failed,
      `the Console could not start: ${started.step}: ${started.reason}`,
    );
  }
  logger.info(
    { port: started.console.port, caFingerprint: started.console.caFingerprint },
    'serving',
  );
  await onStopSignal(logger);
  await started.console.stop();
  return EXIT.ok;
}
