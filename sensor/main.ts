// The Sensor's composition root: the only place that joins clock, disk, network and machines into a running program.
import { randomBytes } from 'node:crypto';
import { createLogger } from '../actors/runtime/json-log.ts';
import { createWheelClock } from '../actors/runtime/wheel-clock.ts';
import { runNode } from './actors/node.actor.ts';
import type { NodePorts } from './actors/node-ports.ts';
import { nftables } from './capabilities/containment/packet-filter.ts';
import { CAPABILITIES } from './capabilities.ts';
import type { SensorConfig } from './config/config.ts';
import { SENSOR_VERSION } from './config/version.ts';
import type { EngineWish } from './engine/choice.ts';
import { createEngineLauncher, type LauncherOptions } from './engine/engine-launcher.ts';
import { diskExport } from './engine/export-files.ts';
import { createTetragon } from './engine/tetragon/tetragon.ts';
import { diskFiles } from './state-directory/file-port.ts';
import { rsaKeyWork } from './state-directory/key-work.ts';
import type { KubernetesAccess } from './telemetry/kubernetes-lists.ts';
import { readBootId, readSystemFacts } from './telemetry/system.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { createNodeContext } from './telemetry/workloads.ts';
import { tlsTransport } from './transport/transport.ts';
import { startWatchdog } from './watchdog.ts';

/** The real disk, network, keys, engine and measurements of a Sensor that keeps its state in this directory. */
export function joinPorts(
  stateDir: string,
  engine: EngineWish = 'auto',
  more: LauncherOptions = {},
): NodePorts {
  return {
    files: diskFiles,
    transport: tlsTransport,
    keyWork: rsaKeyWork,
    engine: createEngineLauncher(stateDir, engine, more),
    exportFiles: diskExport,
    telemetry: createTelemetry(stateDir),
    ...contextPorts(null),
    packetFilter: nftables,
  };
}

/** One reader of the cluster serves the events and the inventory. */
function contextPorts(
  access: KubernetesAccess | null,
  tell?: (reason: string | null) => void,
): Pick<NodePorts, 'context' | 'cluster'> {
  const context = createNodeContext(access, tell === undefined ? {} : { tell });
  return { context, cluster: context };
}

/** Runs until SIGTERM or SIGINT, or until it cannot go on; answers the exit code. */
export async function runSensor(
  config: SensorConfig,
  readToken: () => Promise<string | null>,
  /** The configuration as it is now; null while it has mistakes. */
  rereadConfig: () => Promise<SensorConfig | null>,
): Promise<number> {
  const logger = createLogger(config.logLevel);
  const clock = createWheelClock({
    onError: (error) => logger.error({ reason: String(error) }, 'a timer failed'),
  });
  const run = runNode({
    config,
    logger,
    clock,
    now: Date.now,
    monotonicNow: () => performance.now(),
    random: randomBytes,
    version: SENSOR_VERSION,
    bootId: await readBootId(),
    system: await readSystemFacts(),
    ports: {
      ...joinPorts(config.stateDir, config.engine, {
        tetragon: createTetragon(config.stateDir, config.tetragon, {
          read: async () => (await rereadConfig())?.tetragon ?? null,
        }),
        ebpf: config.ebpf,
      }),
      telemetry: createTelemetry(config.stateDir, config.images, (runtime, reason) => {
        if (reason === null) logger.info({ runtime }, 'the container runtime answers again');
        else logger.warn({ runtime, reason }, 'a container runtime does not tell its images');
      }),
      ...contextPorts(config.kubernetes, (reason) => {
        if (reason === null) logger.info('the cluster tells the workloads again');
        else logger.warn({ reason }, 'the cluster does not tell the workloads');
      }),
    },
    capabilities: CAPABILITIES,
    readToken,
  });
  const stop = (): void => run.stop();
  // Never taken off: one more signal would end a process that is about to exit as one that was killed.
  process.on('SIGTERM', stop).on('SIGINT', stop);
  const stopWatchdog = startWatchdog((error) =>
    logger.error({ reason: String(error) }, 'the watchdog is gone'),
  );
  const { exitCode, reason } = await run.done;
  stopWatchdog();
  clock.stop();
  if (exitCode !== 0) process.stderr.write(`service-sensor: ${reason ?? 'failed'}\n`);
  return exitCode;
}
