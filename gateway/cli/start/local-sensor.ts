// The Sensor that quick start runs on its own machine: the real second program in a process of its own, started again
// when it ends by itself, stopped before the Console. Its token goes through its environment, never its arguments.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../../actors/runtime/logger.ts';
import sensorProcess from '../../../actors/runtime/sensor-process.json' with { type: 'json' };
import { LOCAL_SENSOR_RESTART_MS, STOP_TIMEOUT_MS } from '../../../machines/limits.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'sensor', 'cli', 'service-sensor.js');
/** The Sensor ended because it was refused for good: starting it again would be refused again. */
const EXIT_REFUSED = 6;

export type LocalSensor = { readonly stateDir: string; stop(): Promise<void> };

export type LocalSensorOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  readonly url: string;
  readonly caFingerprint: string;
  /** Makes a one-time token; asked only when this machine has no identity yet. */
  readonly createToken: () => Promise<string>;
  readonly logger: Logger;
  /** Whether its log goes to this terminal. */
  readonly isVerbose: boolean;
};

/** Where the Sensor of this machine keeps its state. */
export function sensorStateDir(options: Pick<LocalSensorOptions, 'env' | 'isRoot'>): string {
  const { env } = options;
  if (env['SERVICE_SENSOR_STATE_DIR']) return env['SERVICE_SENSOR_STATE_DIR'];
  if (options.isRoot) return '/var/lib/service-sensor';
  const home = env['HOME'] ?? homedir();
  return join(env['XDG_STATE_HOME'] ?? join(home, '.local', 'state'), 'service-sensor');
}

/** Starts the Sensor and keeps it running until `stop`. */
export async function startLocalSensor(options: LocalSensorOptions): Promise<LocalSensor> {
  const { logger } = options;
  const stateDir = sensorStateDir(options);
  let child: ChildProcess | null = null;
  let isStopping = false;
  let timer: NodeJS.Timeout | null = null;

  async function start(): Promise<void> {
    const token = existsSync(join(stateDir, 'client.cert.pem'))
      ? null
      : await options.createToken();
    if (isStopping) return;
    // A group of its own: Ctrl-C reaches the Console first, which stops the Sensor in order.
    child = spawn(
      process.execPath,
      [
        ...sensorProcess.flags,
        PROGRAM,
        'run',
        '--url',
        options.url,
        '--ca-fingerprint',
        options.caFingerprint,
      ],
      {
        detached: true,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: {
          ...options.env,
          ...sensorProcess.env,
          SERVICE_SENSOR_STATE_DIR: stateDir,
          // Its last words are a sentence; its log is for those who ask.
          SERVICE_LOG_LEVEL:
            options.env['SERVICE_LOG_LEVEL'] ?? (options.isVerbose ? 'info' : 'silent'),
          ...(token === null ? {} : { SERVICE_SENSOR_TOKEN: token }),
        },
      },
    );
    child.on('exit', (code) => {
      child = null;
      if (isStopping) return;
      if (code === EXIT_REFUSED) {
        logger.error({ stateDir }, 'the local Sensor was refused; see its message above');
        return;
      }
      logger.warn({ code }, 'the local Sensor ended; it is started again');
      timer = setTimeout(() => void start(), LOCAL_SENSOR_RESTART_MS);
    });
  }

  await start();
  return {
    stateDir,
    async stop() {
      isStopping = true;
      if (timer !== null) clearTimeout(timer);
      if (child !== null) await end(child);
    },
  };
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const kill = setTimeout(() => child.kill('SIGKILL'), 2 * STOP_TIMEOUT_MS);
    child.once('exit', () => {
      clearTimeout(kill);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
