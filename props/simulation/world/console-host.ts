// A Console of the simulated fleet: the real fleet of actors, the real sensor plane and its routes, over simulated
// stores, clocks and listener. It can be started, stopped in order, and killed at any moment; what is left of it then is
// what the stores hold.
import { createHash } from 'node:crypto';
import { type AuditSealer, startAuditSealer } from '../../../actors/audit/audit-sealer.actor.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import type { RateBudget } from '../../../gateway/access/rate-budget.ts';
import { assembleFleet, type Fleet } from '../../../gateway/assembly/fleet.ts';
import { assembleSensorSide, type SensorSide } from '../../../gateway/assembly/sensor.ts';
import type { ConsoleConfig } from '../../../gateway/config/config.ts';
import { createPeerFingerprints } from '../../../gateway/listener/peer-fingerprints.ts';
import type { Intervals } from '../../../machines/limits.ts';
import {
  CERTIFICATE_BACKDATE_MS,
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE,
  SERVER_CERTIFICATE_TTL_MS,
} from '../../../machines/limits.ts';
import { worldSigner } from './audit-keys.ts';
import { worldCertificates } from './certificates.ts';
import { createHostClock, timeOf, wheelOf } from './clocks.ts';
import type { Listeners } from './dial.ts';
import { createEdge, type Edge } from './edge.ts';
import { keyOfEvent } from './engine.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { beginLife, type Life } from './life.ts';
import { worldLogger } from './logger.ts';
import type { Network } from './network.ts';
import { createOperatorSide, type OperatorSide } from './operator-side.ts';
import type { Random } from './random.ts';
import type { SimulatedStores } from './stores.ts';
import type { SimulatedAnalyticsPorts } from './stores-analytics.ts';
import type { SimulatedRelationalPorts } from './stores-relational.ts';
import type { World } from './world.ts';

/** The name under which the Sensors look for their Console. */
export const CONSOLE_HOST_NAME = 'console.world';

/** The ports of one Console life; a planted bug replaces one of them. */
export type ConsolePorts = {
  readonly relational: SimulatedRelationalPorts;
  readonly analytics: SimulatedAnalyticsPorts;
  readonly fleet: Fleet;
};
export type ConsoleTampering = {
  readonly relational?: (ports: SimulatedRelationalPorts) => SimulatedRelationalPorts;
  readonly analytics?: (ports: SimulatedAnalyticsPorts) => SimulatedAnalyticsPorts;
  readonly fleet?: (fleet: Fleet) => Fleet;
  readonly intervals?: (intervals: Intervals) => Intervals;
  readonly wheel?: (wheel: WheelClock) => WheelClock;
  readonly edge?: (edge: Edge) => Edge;
};

export type RunningConsole = ConsolePorts & {
  readonly life: Life;
  readonly side: SensorSide;
  readonly sealer: AuditSealer;
  readonly operators: OperatorSide;
  /** When this process began to build its actors, by its own clock. */
  readonly bootedAtMs: number;
  /** Timers armed in this process. */
  timers(): number;
};
export type ConsoleHost = {
  readonly name: string;
  readonly clock: ReturnType<typeof createHostClock>;
  /** Null while it is down or still starting. */
  running(): RunningConsole | null;
  /** Whether it was told to end, and its actors may have gone already. */
  isStopping(): boolean;
  isUp(): boolean;
  start(): void;
  /** Ends it in order, as SIGTERM does. */
  stop(): void;
  end(how: 'killed' | 'power_lost'): void;
  /** Ends it before or after its n-th call to a store from now. */
  ambush(calls: number, when: 'before' | 'after'): void;
};

export type ConsoleHostOptions = {
  readonly world: World;
  readonly name: string;
  readonly network: Network;
  readonly listeners: Listeners;
  readonly stores: SimulatedStores;
  readonly provider: IdentityProvider;
  readonly intervals: Intervals;
  readonly driftPpm: number;
  readonly tampering: ConsoleTampering;
};

/** Makes a Console that is down. */
export function createConsoleHost(options: ConsoleHostOptions): ConsoleHost {
  const { world, name, network, listeners, stores, tampering } = options;
  const random = world.random.fork(name);
  const clock = createHostClock(world.scheduler, { driftPpm: options.driftPpm });
  const intervals = tampering.intervals?.(options.intervals) ?? options.intervals;
  let incarnation = 0;
  let life: Life | null = null;
  let running: RunningConsole | null = null;
  let stopping: RunningConsole | null = null;
  /** Kept in the data directory: a start makes a new one only when less than a third of its life is left. */
  let certificate = { notBeforeMs: 0, notAfterMs: 0 };

  async function boot(own: Life): Promise<void> {
    const time = timeOf(own, clock);
    const bootedAtMs = clock.wallNow();
    const ownWheel = wheelOf(own, clock);
    const wheel = tampering.wheel?.(ownWheel) ?? ownWheel;
    const logger = worldLogger(world, name, own);
    const relational = stores.relationalFor(own, clock);
    const analytics = stores.analyticsFor(own, clock);
    const ports = {
      relational: tampering.relational?.(relational) ?? relational,
      analytics: tampering.analytics?.(analytics) ?? analytics,
    };
    const assembled = await assembleFleet({
      registry: ports.relational.sensors,
      events: ports.analytics.events,
      clock: wheel,
      time,
      intervals,
      logger,
    });
    const fleet = tampering.fleet?.(assembled) ?? assembled;
    const drawn = random.fork(`life ${own.incarnation}`);
    const side = await assembleSensorSide({
      config: { intervals, platform: 'standard' } as ConsoleConfig,
      time,
      clock: wheel,
      logger,
      fleet,
      registry: ports.relational.sensors,
      facts: ports.relational.facts,
      audit: ports.relational.audit,
      inventory: ports.relational.inventory,
      events: ports.analytics.events,
      sink: ports.analytics.sink,
      telemetry: ports.analytics.telemetry,
      baselines: ports.analytics.baselines,
      certificates: worldCertificates(own, drawn),
      policyPublicKeyPem: 'world policy key',
      license: { nodesAllowed: () => null },
      addressBudget: budgetOf(time.monotonicNow),
      peers: createPeerFingerprints(),
      chance: chanceOf(drawn, clock.wallNow),
      afterParsing: (run) => void own.after(0, run),
    });
    if (!own.isAlive()) return;
    const ownEdge = createEdge({ world, console: name, now: clock.wallNow, keyOfEvent });
    side.plane.attach(ownEdge.app);
    const edge = tampering.edge?.(ownEdge) ?? ownEdge;
    const nowMs = clock.wallNow();
    if (certificate.notAfterMs - nowMs < SERVER_CERTIFICATE_TTL_MS / 3) {
      certificate = {
        notBeforeMs: nowMs - CERTIFICATE_BACKDATE_MS,
        notAfterMs: nowMs + SERVER_CERTIFICATE_TTL_MS,
      };
    }
    const leave = listeners.add(CONSOLE_HOST_NAME, {
      console: name,
      edge,
      life: own,
      clock,
      certificate,
    });
    own.onEnd(leave);
    const sealer = startAuditSealer({
      chain: ports.relational.auditChain,
      signer: worldSigner(name),
      clock: wheel,
      now: clock.wallNow,
      logger,
    });
    const operators = createOperatorSide({
      ...{ world, console: name, life: own, time, clock: wheel, logger, intervals },
      ...{ chance: chanceOf(drawn.fork('operators'), clock.wallNow), provider: options.provider },
      ...{ budget: budgetOf(time.monotonicNow), relational: ports.relational },
    });
    running = {
      ...{ ...ports, sealer, fleet, side, operators, life: own, bootedAtMs },
      timers: wheel.size,
    };
  }

  function start(): void {
    if (life?.isAlive() === true) return;
    incarnation += 1;
    const own = beginLife(world.scheduler, { host: name, incarnation });
    life = own;
    world.observe({ kind: 'process.started', host: name, incarnation });
    boot(own).catch((error: unknown) => {
      // A start that fails (a store is away) is tried again by the service manager.
      if (!own.isAlive()) return;
      finish(own, 'failed', error instanceof Error ? error.message : String(error));
      world.scheduler.after(RESTART_MS, start);
    });
  }

  function finish(
    own: Life,
    how: 'stopped' | 'killed' | 'power_lost' | 'failed',
    reason = '',
  ): void {
    if (!own.isAlive()) return;
    running = null;
    own.end();
    network.endHost(name, how === 'power_lost' ? 'silently' : 'told');
    world.observe({ kind: 'process.ended', host: name, incarnation: own.incarnation, how, reason });
  }

  async function shut(own: Life, console: RunningConsole): Promise<void> {
    const { streams } = console.side.plane;
    streams.shutDown();
    await console.operators.close();
    await console.sealer.stop();
    await console.fleet.close();
    await console.side.telemetry.close();
    await console.analytics.close();
    await console.relational.close();
    streams.dispose();
    finish(own, 'stopped');
  }

  return {
    name,
    clock,
    running: () => running,
    isStopping: () => running !== null && running === stopping,
    isUp: () => life?.isAlive() === true,
    start,
    stop() {
      if (life === null || running === null) return;
      const [own, console] = [life, running];
      stopping = console;
      void shut(own, console);
      // The service manager's patience ends, too.
      world.scheduler.after(STOP_PATIENCE_MS, () => finish(own, 'killed'));
    },
    end(how) {
      if (life !== null) finish(life, how);
    },
    ambush(calls, when) {
      const own = life;
      own?.endAtCall(calls, when, () => {
        finish(own, 'killed');
        // The calls may come long after the accident is over; the service manager starts what was killed.
        world.scheduler.after(RESTART_MS, start);
      });
    },
  };
}

const RESTART_MS = 3_000;
const STOP_PATIENCE_MS = 30_000;

/** A budget per address and minute on the host's clock. */
function budgetOf(monotonicNow: () => number): RateBudget {
  const limit = RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE;
  const windowMs = 60_000;
  const used = new Map<string, number>();
  let endsMs = 0;
  return {
    async consume(key) {
      const nowMs = monotonicNow();
      if (nowMs >= endsMs) {
        used.clear();
        endsMs = nowMs + windowMs;
      }
      const count = (used.get(key) ?? 0) + 1;
      used.set(key, count);
      return {
        allowed: count <= limit,
        limit,
        remaining: Math.max(0, limit - count),
        resetMs: endsMs - nowMs,
      };
    },
    async reward(key) {
      used.set(key, Math.max(0, (used.get(key) ?? 0) - 1));
    },
  };
}

/** Identifiers and secrets drawn from the seed; a UUID of version 7 as the real one lays it out. */
function chanceOf(random: Random, wallNow: () => number): Chance {
  return {
    randomBytes: random.bytes,
    newId() {
      const time = Math.max(0, wallNow()).toString(16).padStart(12, '0');
      const rest = createHash('md5').update(random.bytes(16)).digest('hex');
      return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
    },
  };
}
