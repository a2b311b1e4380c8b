// `service-sensor enroll`: exchanges a token for an identity. When a Sensor already runs on this state directory, the
// token is handed to it, so that a re-enrollment needs no stop.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '../../../actors/runtime/json-log.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { EXIT, enrollmentFailure } from '../../../machines/sensor/node.rules.ts';
import { kindOfSecret } from '../../../machines/trust/secret.rules.ts';
import { enroll } from '../../actors/enrollment.actor.ts';
import { isForgotten } from '../../actors/forgotten-identity.ts';
import { TOKEN_DROP } from '../../actors/status-file.ts';
import type { SensorConfig } from '../../config/config.ts';
import { SENSOR_VERSION } from '../../config/version.ts';
import { createEngineLauncher } from '../../engine/engine-launcher.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import type { Identity } from '../../state-directory/identity.ts';
import { rsaKeyWork } from '../../state-directory/key-work.ts';
import { openStateDirectory } from '../../state-directory/state-directory.ts';
import { readBootId, readSystemFacts } from '../../telemetry/system.ts';
import { tlsTransport } from '../../transport/transport.ts';
import { rememberTrials } from '../engine/engine-trials.ts';

/** Enrolls and answers the exit code. */
export async function runEnroll(
  config: SensorConfig,
  readToken: () => Promise<string | null>,
  timeoutSeconds: string,
): Promise<number> {
  if (!/^[1-9]\d{0,5}$/.test(timeoutSeconds)) {
    return say(EXIT.usage, '--timeout must be a number of seconds above 0');
  }
  const token = await readToken();
  const kind = token === null ? null : kindOfSecret(token);
  if (token === null) return say(EXIT.usage, 'give a token with --token-file FILE, or - for stdin');
  if (kind !== 'enrollment' && kind !== 'reenrollment') {
    return say(EXIT.usage, 'this is not an enrollment token: check that it was copied whole');
  }
  const told = personLog(
    createLogger(process.env['SERVICE_LOG_LEVEL'] ? config.logLevel : 'silent'),
  );
  const { logger } = told;
  const ports = { files: diskFiles, transport: tlsTransport, keyWork: rsaKeyWork };
  const opened = await openStateDirectory({ path: config.stateDir, ...ports, logger });
  if (!opened.ok) {
    if (opened.reason !== 'locked') return say(EXIT.failed, opened.detail);
    return dropToken(config.stateDir, token);
  }
  const { directory } = opened;
  const clock = createWheelClock();
  try {
    const found = await directory.readIdentity();
    const known = found.kind === 'whole' ? found.state.console_url : undefined;
    const consoleUrl = config.consoleUrl ?? (known === undefined ? null : new URL(known));
    if (
      found.kind === 'whole' &&
      kind === 'enrollment' &&
      (await isKept(found, { config, token, clock }, consoleUrl))
    )
      return say(EXIT.refusedByState, `already enrolled as ${found.sensorId}`);
    if (consoleUrl === null) return say(EXIT.usage, 'give the address of the Console with --url');
    // A disk that refuses the engine is known before the token is spent.
    const refused = await unpackEngine(config, logger);
    if (refused !== null) return say(EXIT.failed, refused);
    const enrolling = enroll(
      {
        ...{ config, logger, clock, now: Date.now, ports },
        directory,
        consoleUrl,
        seed: randomBytes(4).readInt32LE(),
        instanceId: randomBytes(16).toString('hex'),
        version: SENSOR_VERSION,
        bootId: await readBootId(),
        system: await readSystemFacts(),
        onCrash: (_, error) => say(EXIT.failed, String(error)),
        // This program ends here; a run reads the identity from the disk.
        onInstalled: () => undefined,
      },
      token,
    );
    const outcome = await within(Number(timeoutSeconds), enrolling);
    if (outcome === null) {
      const why = told.lastReason() || silence(consoleUrl);
      return say(EXIT.timedOut, `not enrolled within ${timeoutSeconds} s: ${why}`);
    }
    if (outcome.kind === 'enrolled') {
      process.stdout.write(`${outcome.sensorId}\n`);
      return EXIT.ok;
    }
    const failure = enrollmentFailure(outcome);
    return say(failure.exitCode, failure.reason);
  } finally {
    clock.stop();
    await directory.close();
  }
}

/** Whether an identity stands in the way of another one: neither was it revoked, nor has the Console forgotten it. */
async function isKept(
  found: Identity,
  of: Parameters<typeof isForgotten>[2],
  consoleUrl: URL | null,
): Promise<boolean> {
  if (found.state.trust_state === 'trust_revoked') return false;
  if (consoleUrl === null) return true;
  const client = tlsTransport.createClient({
    ...{ baseUrl: consoleUrl, instanceId: randomBytes(16).toString('hex') },
    ...{ proxyUrl: of.config.proxyUrl, identity: found },
  });
  try {
    return !(await isForgotten(client, found, of));
  } finally {
    client.close();
  }
}

/** Null, or why the engine cannot lie here; which engine runs, and whether it does, is seen when the Sensor runs. */
async function unpackEngine(config: SensorConfig, logger: Logger): Promise<string | null> {
  const { stateDir, engine, ebpf } = config;
  const kind = engine === 'tetragon' ? 'auto' : engine;
  try {
    const launcher = createEngineLauncher(stateDir, kind, { ebpf });
    // A build that this node refused does not take the place of the one that runs.
    await rememberTrials({
      ...{ config, logger },
      ports: { files: diskFiles, engine: launcher },
    }).unpack();
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `the engine cannot be unpacked in ${stateDir}: ${reason}`;
  }
}

const silence = ({ host }: URL): string =>
  `${host} has not answered: check the address in --url, and the firewall between`;

async function dropToken(stateDir: string, token: string): Promise<number> {
  await mkdir(join(stateDir, 'run'), { recursive: true, mode: 0o700 });
  await writeFile(join(stateDir, TOKEN_DROP), token, { mode: 0o600 });
  return say(EXIT.ok, 'a Sensor runs here: the token is handed to it; see `service-sensor status`');
}

type Fields = Readonly<Record<string, unknown>>;

// A person waits: each new reason is told once, and why it ended.
function personLog(log: Logger): { readonly logger: Logger; lastReason(): string } {
  let last = '';
  const logger: Logger = {
    ...{
      debug: log.debug,
      info: log.info,
      error: log.error,
      child: (fields: Fields) => log.child(fields),
    },
    warn(fields: Fields | string, text?: string) {
      const reason = typeof fields === 'string' ? '' : String(fields['reason'] ?? '');
      if (reason !== '' && reason !== last) {
        last = reason;
        say(EXIT.ok, `${reason}; trying again`);
      }
      if (typeof fields === 'string') log.warn(fields);
      else log.warn(fields, text ?? '');
    },
  };
  return { logger, lastReason: () => last };
}

async function within<T>(seconds: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), seconds * 1_000);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

function say(exitCode: number, text: string): number {
  process.stderr.write(`service-sensor: ${text}\n`);
  return exitCode;
}
