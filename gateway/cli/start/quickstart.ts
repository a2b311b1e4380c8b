// `npm start`: a Console with embedded stores that provisions itself, one Sensor on this machine, and a command-line
// context for the second terminal. Ctrl-C stops the Sensor, then the Console, then the stores. decision: D17
import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { FirstAdmin } from '../../../actors/access/first-admin.ts';
import { createLogger } from '../../../actors/runtime/json-log.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import { SIGNAL_REPEAT_MS } from '../../../machines/limits.ts';
import { fleet } from '../../capabilities/fleet/fleet.ts';
import { installation } from '../../capabilities/trust/installation.ts';
import { type ConsoleConfig, loadConfig } from '../../config/config.ts';
import type { Console } from '../../console.ts';
import { startConsole } from '../../main.ts';
import { findPage } from '../../page/find-page.ts';
import { contextFilePath, saveContext } from '../plumbing/context-file.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { createPlainLog } from '../plumbing/plain-log.ts';
import { programPath } from '../plumbing/program-path.ts';
import { programVersion } from '../plumbing/program-version.ts';
import { processTerminal } from '../plumbing/terminal.ts';
import { CONFIGURATION_FILE, setupFiles } from '../settings/setup-files.ts';
import { bannerOf } from './banner.ts';
import { type LocalSensor, sensorStateDir, startLocalSensor } from './local-sensor.ts';
import { followSight } from './local-sight.ts';
import { ownerOf } from './owner.ts';
import { demandContextPlace, demandPlace, startFailure } from './start-problem.ts';

const CONTEXT_NAME = 'local';
type Env = Readonly<Record<string, string | undefined>>;

export type QuickstartOptions = { readonly sensor?: boolean; readonly verbose?: boolean };

/** Runs until it is told to stop; resolves to the exit code. What fails on the way leaves nothing running. */
export async function runQuickstart(options: QuickstartOptions = {}): Promise<number> {
  const env: Env = process.env;
  const isRoot = process.getuid?.() === 0;
  const config = readConfig(env, isRoot);
  await demandPlace(config);
  demandContextPlace(contextFilePath(env), config);
  // Quick start is for people: they read sentences, unless they ask for the log.
  const isVerbose = options.verbose === true || Boolean(env['SERVICE_LOG_LEVEL']);
  const plainLog = createPlainLog(process.stderr);
  const logger = isVerbose ? createLogger(config.logLevel) : plainLog.logger;
  let isTold = false;
  const giveUp = new AbortController();
  const stopped = onStopSignal(logger).then(() => {
    isTold = true;
    giveUp.abort();
    plainLog.tell(false);
    process.stderr.write('Stopping...\n');
  });
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const page = await findPage({ dataDir: config.dataDir, tell, givenUp: giveUp.signal });
  if (isTold) return tellGivenUp();
  tell('Starting the databases and the Console...');
  const version = programVersion();
  const asking = { config, page, version, logger, givenUp: giveUp.signal, isQuickStart: true };
  const started = await startConsole(asking);
  if (!started.ok && isTold) return tellGivenUp();
  if (!started.ok) throw startFailure(started.step, started.reason, config);
  const { console: running } = started;
  const closers: (() => Promise<void>)[] = [() => running.stop()];
  try {
    if (isTold) return EXIT.ok;
    await noteConfigured(config);
    const admin = await ownerOf(running).provideFirstAdmin();
    // A key is somebody's: without an owner there is none.
    if (admin !== null) await provideContext(running, { config, env, ownerId: admin.userId });
    const asked = options.sensor !== false && !isTold;
    const sensor = asked
      ? await openSensor({ running, config, env, isRoot, logger, isVerbose })
      : null;
    if (sensor !== null) closers.push(() => sensor.stop());
    tellReady({ running, config, env, sensor, admin });
    if (sensor !== null) {
      const stopFollowing = followLocal(running, sensor, { isRoot, env });
      closers.push(async () => stopFollowing());
    }
    plainLog.tell(!isTold);
    await stopped;
    return EXIT.ok;
  } catch (error) {
    throw startFailure('after the start', reasonOf(error), config);
  } finally {
    for (const close of closers.reverse()) await close();
    process.stderr.write('Stopped.\n');
  }
}

/** What a start that was ended by the person who began it leaves behind: nothing that runs, nothing half done. */
function tellGivenUp(): number {
  process.stderr.write(
    'Stopped before the start was done. Nothing is left running;\nstart again, and it goes on from here.\n',
  );
  return EXIT.ok;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// A Console that runs is set up: `serve` on the same data takes it over instead of asking for everything anew.
async function noteConfigured({ dataDir, platform }: ConsoleConfig): Promise<void> {
  if (existsSync(join(dataDir, CONFIGURATION_FILE))) return;
  const text = `# Written by the quick start: embedded stores.\nplatform: ${platform}\n`;
  await setupFiles(dataDir).writeConfiguration(text);
}

/** Reads the configuration, or ends the command with every mistake. */
export function readConfig(env: Env, isRoot: boolean): ConsoleConfig {
  const loaded = loadConfig({ env, isRoot });
  if (loaded.ok) return loaded.config;
  throw new CommandFailure(
    EXIT.usage,
    `the configuration has mistakes:\n  ${loaded.mistakes.join('\n  ')}`,
  );
}

/** Resolves at the first signal to stop; a later one, but not the same key press seen twice, ends the process at once. */
export function onStopSignal(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAtMs ??= performance.now();
        if (performance.now() - firstAtMs > SIGNAL_REPEAT_MS) process.exit(EXIT.failed);
        logger.info({ signal }, 'stopping');
        resolve();
      });
    }
  });
}

// The key of the context is kept as long as it works; a context of another Console is left alone under its own name.
async function provideContext(
  running: Console,
  of: { readonly config: ConsoleConfig; readonly env: Env; readonly ownerId: string },
): Promise<void> {
  const { config, env, ownerId } = of;
  const url = localUrl(running, config);
  const path = contextFilePath(env);
  const known = existsSync(path)
    ? (parse(readFileSync(path, 'utf8')) as {
        contexts?: Record<string, { url?: string; token?: string; ca_pem?: string }>;
      } | null)
    : null;
  const before = known?.contexts?.[CONTEXT_NAME];
  const isOurs = before?.ca_pem === running.caPem && before.token !== undefined;
  const isGood = isOurs && (await ownerOf(running).isGoodKey(before.token ?? ''));
  const token = isGood
    ? (before.token ?? '')
    : await ownerOf(running).createAdminKey(`quick-start ${config.dataDir}`, {
        ownerId,
        replaces: isOurs ? (before.token ?? null) : null,
      });
  if (token === null) {
    process.stderr.write(
      'The admin has as many API keys as one may have: no key was made for here.\n',
    );
    return;
  }
  saveContext(env, CONTEXT_NAME, { url, token, ca_pem: running.caPem });
}

async function openSensor(deps: {
  readonly running: Console;
  readonly config: ConsoleConfig;
  readonly env: Env;
  readonly isRoot: boolean;
  readonly logger: Logger;
  readonly isVerbose: boolean;
}): Promise<LocalSensor | null> {
  const { running, config, env, isRoot, logger, isVerbose } = deps;
  const stateDir = sensorStateDir({ env, isRoot });
  const sensorId = knownIdentity(stateDir);
  if (sensorId !== null && !(await ownerOf(running).isKnownSensor(sensorId))) {
    process.stderr.write(
      `The Sensor state in ${stateDir} belongs to another Console; move it away to enroll this machine here. No Sensor is started.\n`,
    );
    return null;
  }
  return startLocalSensor({
    env,
    isRoot,
    url: localUrl(running, config),
    caFingerprint: running.caFingerprint.replaceAll(':', '').toLowerCase(),
    createToken: () => ownerOf(running).createToken('quick start'),
    logger,
    isVerbose,
  });
}

function knownIdentity(stateDir: string): string | null {
  const file = join(stateDir, 'sensor-state.json');
  if (!existsSync(file)) return null;
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as { sensor_id?: unknown };
    return typeof state.sensor_id === 'string' ? state.sensor_id : null;
  } catch {
    return null;
  }
}

function tellReady(deps: {
  readonly running: Console;
  readonly config: ConsoleConfig;
  readonly env: Env;
  readonly sensor: LocalSensor | null;
  readonly admin: FirstAdmin | null;
}): void {
  const { running, config, env, sensor, admin } = deps;
  const installed = running.context.use(installation);
  process.stdout.write(
    bannerOf(
      {
        version: programVersion(),
        url: localUrl(running, config),
        bind: config.bind,
        port: running.port,
        caFingerprint: running.caFingerprint,
        contextFile: contextFilePath(env),
        dataDir: config.dataDir,
        sensor,
        admin,
        enroll: { line: installed.line(), isForOthers: installed.url().isForOthers },
        notices: running.context.contributions().flatMap((one) => one.notices?.() ?? []),
        program: programPath(),
      },
      processTerminal(env).colors,
    ),
  );
}

// After the banner, since only a Sensor that was heard says how its engine sees.
function followLocal(
  { context }: Console,
  { stateDir }: LocalSensor,
  { isRoot, env }: { readonly isRoot: boolean; readonly env: Env },
): () => void {
  const { colors } = processTerminal(env);
  const find = (): string => knownIdentity(stateDir) ?? '';
  return followSight({
    time: context.time,
    heardAtMs: () => context.use(fleet).liveView.get(find())?.last_heartbeat_at_ms ?? null,
    row: () => context.relational.sensors.getSensor(find()),
    around: { isRoot, program: programPath() },
    tell: (rows) => process.stdout.write(`${rows.map(colors.yellow).join('\n')}\n\n`),
  });
}

// What listens on one address alone may not be reached at another one of this machine.
function localUrl({ port }: Console, { bind }: ConsoleConfig): string {
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(bind);
  const host = isIPv6(bind) ? `[${bind}]` : bind;
  return `https://${isLocal ? 'localhost' : host}:${port}`;
}
