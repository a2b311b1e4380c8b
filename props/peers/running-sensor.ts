// A whole Sensor in this process against the peer: short intervals, its own folder, a clock and a disk a test can bend.
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import { type NodeRun, runNode } from '../../sensor/actors/node.actor.ts';
import { CAPABILITIES } from '../../sensor/capabilities.ts';
import type { SensorCapability } from '../../sensor/capability.ts';
import { loadConfig } from '../../sensor/config/config.ts';
import type { EngineLauncher } from '../../sensor/engine/engine-launcher.ts';
import { joinPorts } from '../../sensor/main.ts';
import { normalise } from '../../sensor/pipeline/normalise.ts';
import { createProcessCache } from '../../sensor/pipeline/process-cache.ts';
import { diskFiles, type Files } from '../../sensor/state-directory/file-port.ts';
import { type ConsolePeer, SENSOR_ID, startConsolePeer } from './console-peer.ts';
import { keepKey } from './kept-key.ts';

export const SHORT_INTERVALS = {
  HEARTBEAT_INTERVAL_MS: 300,
  HEARTBEAT_TIMEOUT_MS: 300,
  STREAM_TICK_MS: 50,
  RECONNECT_BACKOFF_MIN_MS: 50,
  RECONNECT_BACKOFF_MAX_MS: 200,
  ENROLLMENT_RETRY_MIN_MS: 50,
  ENROLLMENT_RETRY_MAX_MS: 100,
  RENEWAL_RETRY_MIN_MS: 50,
  RENEWAL_RETRY_MAX_MS: 200,
};

export type RunningSensor = {
  readonly peer: ConsolePeer;
  readonly stateDir: string;
  /** Warnings of its log, without their fields. */
  readonly warnings: string[];
  /** Milliseconds the Sensor's wall clock is ahead of ours. */
  aheadMs: number;
  start(options?: {
    readonly files?: Files;
    readonly engine?: EngineLauncher;
    readonly capabilities?: readonly SensorCapability[];
  }): Promise<NodeRun>;
  /** Ends the run and waits for it. */
  stop(): Promise<void>;
  /** Writes lines into the engine's export. */
  addLines(from: number, count: number): Promise<void>;
  /** The event ids that these lines become. */
  idsOf(from: number, count: number): readonly string[];
  beats(): readonly Record<string, unknown>[];
  state(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
};

/** Makes the folder and the peer; nothing runs before `start`. */
export async function makeSensor(
  intervals: Readonly<Record<string, number>> = {},
): Promise<RunningSensor> {
  const peer = await startConsolePeer();
  const stateDir = await mkdtemp(join(tmpdir(), 'sensor-node-'));
  await keepKey(stateDir);
  const clock = createWheelClock();
  let runs: NodeRun[] = [];
  const warnings: string[] = [];
  const warn = (...[, text]: readonly unknown[]): void => void warnings.push(String(text));
  const sensor: RunningSensor = {
    peer,
    ...{ stateDir, warnings },
    aheadMs: 0,
    async start({ files = diskFiles, engine, capabilities = CAPABILITIES } = {}) {
      const loaded = await loadConfig(
        { SERVICE_SENSOR_STATE_DIR: stateDir, SERVICE_SENSOR_CONSOLE_URL: peer.url },
        {
          ca_fingerprint: peer.caFingerprint,
          node_name: 'node-1',
          intervals: { ...SHORT_INTERVALS, ...intervals },
        },
      );
      if (!loaded.ok) throw new Error(loaded.mistakes.join('; '));
      const run = runNode({
        config: loaded.config,
        logger: { ...silentLogger, warn },
        clock,
        now: () => Date.now() + sensor.aheadMs,
        monotonicNow: () => performance.now(),
        random: randomBytes,
        version: '0.0.0',
        bootId: 'boot',
        system: { os_name: 'x', os_version: '1', architecture: 'x', kernel_version: '1' },
        ports: { ...joinPorts(stateDir), files, ...(engine && { engine }) },
        capabilities,
        readToken: async () => formatSecret('enrollment', randomBytes(32)),
      });
      runs.push(run);
      return run;
    },
    async stop() {
      for (const run of runs) run.stop();
      await Promise.all(runs.map(({ done }) => done));
      runs = [];
    },
    async addLines(from, count) {
      await mkdir(join(stateDir, 'engine', 'export'), { recursive: true });
      const lines = Array.from({ length: count }, (_, at) => lineOf(from + at));
      await appendFile(join(stateDir, 'engine', 'export', 'events.log'), lines.join(''));
    },
    idsOf: (from, count) => Array.from({ length: count }, (_, at) => idOf(lineOf(from + at))),
    beats: () =>
      peer.requests.filter(({ path }) => path === '/sensors/heartbeat').map(({ json }) => json),
    state: async () => JSON.parse(await readFile(join(stateDir, 'sensor-state.json'), 'utf8')),
    async close() {
      await sensor.stop();
      await peer.close();
      clock.stop();
      // A last look at the status may still be on its way to the disk.
      await rm(stateDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return sensor;
}

function idOf(line: string): string {
  const result = normalise(line, { sensorId: SENSOR_ID, cache: createProcessCache() });
  return result.ok ? result.event.event_id : '';
}

function lineOf(number: number): string {
  const time = new Date(Date.UTC(2026, 0, 1) + number).toISOString();
  const process = { exec_id: `x${number}`, pid: number, binary: '/bin/test', start_time: time };
  return `${JSON.stringify({ process_exec: { process }, node_name: 'n', time })}\n`;
}
