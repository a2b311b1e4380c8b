// A node of the simulated fleet: the real Sensor, its machines and shells, over a simulated disk, engine, clock and
// network. What a life leaves behind is what its disk holds.
import type { Intervals } from '../../../machines/limits.ts';
import { EXIT } from '../../../machines/sensor/node.rules.ts';
import { type NodeRun, runNode } from '../../../sensor/actors/node.actor.ts';
import type { NodePorts } from '../../../sensor/actors/node-ports.ts';
import { CAPABILITIES } from '../../../sensor/capabilities.ts';
import { declaredDefaults, type SensorConfig } from '../../../sensor/config/config.ts';
import { worldKeyWork } from './certificates.ts';
import { createHostClock, wheelOf } from './clocks.ts';
import { CONSOLE_HOST_NAME } from './console-name.ts';
import type { Listeners } from './dial.ts';
import { createSimulatedDisk, type SimulatedDisk } from './disk.ts';
import { createSimulatedEngine, type SimulatedEngine } from './engine.ts';
import { beginLife, type Life, type TakenFirst } from './life.ts';
import { worldLogger } from './logger.ts';
import type { Network } from './network.ts';
import { createNodeContainers, type NodeContainers } from './node-containers.ts';
import { createNodeSockets, type NodeSockets } from './node-sockets.ts';
import { createSimulatedFilter } from './packet-filter.ts';
import { pauseLife } from './paused.ts';
import { worldTransport } from './transport.ts';
import type { World } from './world.ts';

export const STATE_DIR = '/var/lib/service-sensor';
/** Where the engine's files are put. */
export const ENGINE_DIR = `${STATE_DIR}/engine/v1.7.0`;
export const BOOT_ID = 'abcdef01-0000-4000-8000-000000000000';
const TOKEN_DROP = `${STATE_DIR}/run/token`;
const STATUS = `${STATE_DIR}/run/status.json`;
const RESTART_MS = 5_000;
/** As in the unit of the Sensor: refused or misconfigured. */
const NOT_AGAIN: readonly number[] = [EXIT.usage, EXIT.refusedByState];

/** A planted bug replaces ports of a node's life. */
export type NodeTampering = {
  readonly ports?: (ports: NodePorts, node: string) => NodePorts;
  readonly intervals?: (intervals: Intervals) => Intervals;
  /** What the Sensor reads of the node's clock. */
  readonly now?: (now: () => number) => () => number;
  readonly spoolEventsMax?: (eventsMax: number) => number;
  readonly binariesMax?: (binariesMax: number) => number;
};

export type NodeHost = {
  readonly name: string;
  readonly clock: ReturnType<typeof createHostClock>;
  readonly disk: SimulatedDisk;
  readonly engine: SimulatedEngine;
  readonly sockets: NodeSockets;
  readonly containers: NodeContainers;
  isUp(): boolean;
  /** Whether rules of a containment are in its kernel. */
  isCutOff(): boolean;
  incarnation(): number;
  start(): void;
  /** Ends it in order, as SIGTERM does. */
  stop(): void;
  end(how: 'killed' | 'power_lost'): void;
  /** Stops the Sensor, as SIGSTOP does, until what is given back is called; nothing where it is off. */
  pause(first: TakenFirst): () => void;
  isPaused(): boolean;
  /** Ends it before or after its n-th call to the outside from now. */
  ambush(calls: number, when: 'before' | 'after', how: 'killed' | 'power_lost'): void;
  /** Leaves a token for the Sensor, running or not. */
  giveToken(secret: string): void;
  /** Takes the node out of service and forgets everything on its disk. */
  wipe(): void;
  /** The state the Sensor tells of itself in its status file; `off` while it does not run. */
  state(): string;
  /** How the last run ended; null while it runs. */
  lastExit(): { readonly exitCode: number; readonly reason: string | null } | null;
};

export type NodeHostOptions = {
  readonly world: World;
  readonly name: string;
  readonly network: Network;
  readonly listeners: Listeners;
  readonly intervals: Intervals;
  readonly spoolEventsMax: number;
  readonly driftPpm: number;
  readonly offsetMs: number;
  /** Mean time between events when nothing special happens. */
  readonly quietMs: number;
  /** Programs with habits; with any there are sockets and containers, too. */
  readonly programs: number;
  /** Programs whose habits are known at once. */
  readonly binariesMax: number;
  /** Whether its engine carries out policies. */
  readonly carriesPolicies: boolean;
  readonly tampering: NodeTampering;
};

/** Makes a node that is off, its disk empty. */
export function createNodeHost(options: NodeHostOptions): NodeHost {
  const { world, name, tampering } = options;
  const { scheduler } = world;
  const random = world.random.fork(name);
  const clock = createHostClock(scheduler, options);
  const disk = createSimulatedDisk(world, name);
  const engine = createSimulatedEngine({
    world,
    node: name,
    disk,
    clock,
    meanQuietMs: options.quietMs,
    programs: options.programs,
    carriesPolicies: options.carriesPolicies,
  });
  const sockets = createNodeSockets(random.fork('sockets'), options.programs > 0);
  const containers = createNodeContainers(random.fork('containers'), options.programs > 0);
  let incarnation = 0;
  let life: Life | null = null;
  let run: NodeRun | null = null;
  let isWanted = false;
  const filter = createSimulatedFilter((kind) => world.observe({ kind, node: name }));
  let token: string | null = null;
  let lastExit: ReturnType<NodeHost['lastExit']> = null;

  function configOf(): SensorConfig {
    return {
      ...declaredDefaults(name),
      stateDir: STATE_DIR,
      consoleUrl: new URL(`https://${CONSOLE_HOST_NAME}:15483`),
      nodeName: name,
      flavor: 'standard',
      declaredRole: null,
      labels: {},
      logLevel: 'silent',
      proxyUrl: null,
      caFingerprint: 'a'.repeat(64),
      caFile: null,
      intervals: tampering.intervals?.(options.intervals) ?? options.intervals,
    };
  }

  function start(): void {
    isWanted = true;
    if (life?.isAlive() === true) return;
    incarnation += 1;
    const own = beginLife(scheduler, { host: name, incarnation });
    life = own;
    lastExit = null;
    const drawn = random.fork(`life ${incarnation}`);
    world.observe({ kind: 'process.started', host: name, incarnation });
    tellKernel();
    const ports: NodePorts = {
      files: disk.filesFor(own),
      exportFiles: disk.exportFilesFor(own),
      transport: worldTransport({
        node: name,
        life: own,
        clock,
        network: options.network,
        listeners: options.listeners,
        random: drawn.fork('network'),
      }),
      keyWork: worldKeyWork(own, drawn.fork('keys')),
      engine: engine.launcherFor(own),
      telemetry: {
        sockets: async () => sockets.look(),
        resources: async () => ({ cpu_percent: 1, memory_bytes: 1, load_1m: 0, uptime_seconds: 1 }),
        processes: async () => ({ items: [{ pid: 1, command: 'init' }] }),
        images: async () => containers.images(),
      },
      cluster: { pods: () => containers.pods() },
      context: { look: async () => null, workloadOf: () => undefined },
      packetFilter: filter.filterFor(own),
    };
    const eventsMax = options.spoolEventsMax;
    const started = runNode({
      config: configOf(),
      logger: worldLogger(world, name, own),
      clock: wheelOf(own, clock),
      now: tampering.now?.(clock.wallNow) ?? clock.wallNow,
      monotonicNow: clock.monotonicNow,
      random: drawn.fork('sensor').bytes,
      version: '1.0.0',
      bootId: `boot-${name}-${incarnation}`,
      system: SYSTEM,
      ports: tampering.ports?.(ports, name) ?? ports,
      spoolEventsMax: tampering.spoolEventsMax?.(eventsMax) ?? eventsMax,
      binariesMax: tampering.binariesMax?.(options.binariesMax) ?? options.binariesMax,
      capabilities: CAPABILITIES,
      async readToken() {
        const given = token;
        token = null;
        return given;
      },
    });
    run = started;
    started.done.then(
      (exit) => {
        if (!own.isAlive()) return;
        lastExit = exit;
        finish(own, exit.exitCode === 0 ? 'stopped' : 'failed', exit.reason ?? '');
        // A service manager starts again what failed, but not what would end the same way.
        if (exit.exitCode === 0 || NOT_AGAIN.includes(exit.exitCode)) return;
        scheduler.after(RESTART_MS, () => isWanted && life === own && start());
      },
      (error: unknown) => world.crashed(name, error),
    );
  }

  // What the lock of the state directory asks the kernel.
  function tellKernel(): void {
    disk.setKernelFile('/proc/sys/kernel/random/boot_id', BOOT_ID);
    disk.setKernelFile(`/proc/${process.pid}/stat`, statOf(process.pid, incarnation));
  }

  function finish(
    own: Life,
    how: 'stopped' | 'killed' | 'power_lost' | 'failed',
    reason = '',
  ): void {
    if (!own.isAlive()) return;
    run = null;
    own.end();
    options.network.endHost(name, how === 'power_lost' ? 'silently' : 'told');
    // Rules live in the kernel, and go with the power.
    if (how === 'power_lost') filter.wipe();
    disk.end(how === 'power_lost' ? 'power_lost' : 'killed', random.fork(`end ${incarnation}`));
    world.observe({ kind: 'process.ended', host: name, incarnation, how, reason });
  }

  return {
    name,
    clock,
    disk,
    engine,
    sockets,
    containers,
    isUp: () => life?.isAlive() === true,
    isCutOff: () => filter.ruleset() !== null,
    incarnation: () => incarnation,
    start,
    stop() {
      isWanted = false;
      const stopped = run;
      life?.hear(() => stopped?.stop());
    },
    end(how) {
      isWanted = false;
      if (life !== null) finish(life, how);
    },
    pause: (first) => pauseLife(world, life, first),
    isPaused: () => life?.isPaused() === true,
    ambush(calls, when, how) {
      const own = life;
      own?.endAtCall(calls, when, () => {
        finish(own, how);
        scheduler.after(RESTART_MS, () => isWanted && start());
      });
    },
    giveToken(secret) {
      token = secret;
      if (life?.isAlive() === true) {
        token = null;
        disk.write(TOKEN_DROP, secret, 0o600);
      }
    },
    wipe() {
      isWanted = false;
      if (life !== null) finish(life, 'killed');
      disk.wipe();
      filter.wipe();
      world.observe({ kind: 'node.wiped', node: name });
    },
    state() {
      if (life?.isAlive() !== true) return 'off';
      const status = disk.read(STATUS)?.toString() ?? '{}';
      return /"state":"([a-z_]+)"/.exec(status)?.[1] ?? 'unknown';
    },
    lastExit: () => lastExit,
  };
}

/** What the kernel tells of a process that began at this tick. */
export function statOf(pid: number, startedAt: number): string {
  const fields = ['S', ...Array.from({ length: 18 }, () => '0'), String(startedAt), '0'];
  return `${pid} (node) ${fields.join(' ')}`;
}

const SYSTEM = {
  os_name: 'debian',
  os_version: '12',
  architecture: 'x64',
  kernel_version: '6.1.0',
} as const;
