// A Console of the simulated fleet: the real one, composed as the program composes it, over simulated stores, clocks, keys
// and listener. It can be started, stopped in order, and killed at any moment; what is left of it then is
// what the stores hold.
import { createHash } from 'node:crypto';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import { digest } from '../../../gateway/capabilities/digest/digest.ts';
import { fleet } from '../../../gateway/capabilities/fleet/fleet.ts';
import type { Fleet } from '../../../gateway/capabilities/fleet/open-fleet.ts';
import {
  type TelemetryService,
  telemetry,
} from '../../../gateway/capabilities/telemetry/telemetry.ts';
import { type Trust, trust } from '../../../gateway/capabilities/trust/trust.ts';
import { CAPABILITIES } from '../../../gateway/capabilities.ts';
import type { Capability, ConsoleContext } from '../../../gateway/capability.ts';
import { runConsole } from '../../../gateway/console.ts';
import type { ConsolePorts } from '../../../gateway/console-ports.ts';
import type { Intervals } from '../../../machines/limits.ts';
import { CERTIFICATE_BACKDATE_MS, SERVER_CERTIFICATE_TTL_MS } from '../../../machines/limits.ts';
import type { Authority } from './authority.ts';
import { createHostClock, wheelOf } from './clocks.ts';
import { CONSOLE_HOST_NAME } from './console-name.ts';
import { consolePorts, type SimulatedPorts } from './console-ports.ts';
import type { Listeners } from './dial.ts';
import { createEdge, type Edge } from './edge.ts';
import { keyOfEvent } from './engine.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { beginLife, type Life, type TakenFirst } from './life.ts';
import type { Network } from './network.ts';
import { createOperatorSide, type OperatorSide, observedAccessOf } from './operator-side.ts';
import { type OutboundWay, postOver } from './outbound-way.ts';
import { pauseLife } from './paused.ts';
import type { Random } from './random.ts';
import type { SimulatedStores } from './stores.ts';
import type { SimulatedAnalyticsPorts } from './stores-analytics.ts';
import type { SimulatedRelationalPorts } from './stores-relational.ts';
import type { World } from './world.ts';

/** What a planted bug replaces in a Console. */
export type ConsoleTampering = {
  readonly relational?: (ports: SimulatedRelationalPorts) => SimulatedRelationalPorts;
  readonly analytics?: (ports: SimulatedAnalyticsPorts) => SimulatedAnalyticsPorts;
  readonly fleet?: (fleet: Fleet) => Fleet;
  readonly intervals?: (intervals: Intervals) => Intervals;
  readonly wheel?: (wheel: WheelClock) => WheelClock;
  readonly edge?: (edge: Edge) => Edge;
  readonly outbound?: (way: OutboundWay) => OutboundWay;
  readonly roots?: (roots: readonly string[]) => readonly string[];
};

export type RunningConsole = SimulatedPorts & {
  readonly fleet: Fleet;
  readonly life: Life;
  readonly context: ConsoleContext;
  readonly side: Trust & TelemetryService;
  readonly operators: OperatorSide;
  /** Ends it in order. */
  stop(): Promise<void>;
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
  /** Stops the process, as SIGSTOP does, until what is given back is called; nothing where it is down. */
  pause(first: TakenFirst): () => void;
  isPaused(): boolean;
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
  readonly authority: Authority;
  readonly wayOut: (life: Life) => OutboundWay;
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
  let certificate = { issuer: '', notBeforeMs: 0, notAfterMs: 0 };

  async function boot(own: Life): Promise<void> {
    const bootedAtMs = clock.wallNow();
    const kept = options.authority.roots();
    const roots = tampering.roots?.(kept) ?? kept;
    const ownWheel = wheelOf(own, clock);
    const wheel = tampering.wheel?.(ownWheel) ?? ownWheel;
    const relational = stores.relationalFor(own, clock);
    const analytics = stores.analyticsFor(own, clock);
    const ports = {
      relational: tampering.relational?.(relational) ?? relational,
      analytics: tampering.analytics?.(analytics) ?? analytics,
    };
    const drawn = random.fork(`life ${own.incarnation}`);
    const chance = chanceOf(drawn, clock.wallNow);
    // Plugins are loaded by ticks, and no time passes while they are.
    const way = options.wayOut(own);
    const loaded = world.scheduler.waitForTurns();
    own.onEnd(loaded);
    const started = await runConsole(
      consolePorts({
        ...{ world, name, life: own, clock, wheel, intervals, chance, random: drawn, ports },
        ...{ provider: options.provider, listen: listenIn(own, roots), roots },
        outboundPost: postOver(tampering.outbound?.(way) ?? way),
      }),
      capabilitiesOf(tampering, observedAccessOf(world, name)),
    );
    loaded();
    if (!own.isAlive()) return;
    if (!started.ok) throw new Error(`${started.step}: ${started.reason}`);
    const { context, stop } = started.console;
    running = {
      ...{ ...ports, context, stop, life: own, bootedAtMs, timers: wheel.size },
      fleet: context.use(fleet),
      side: { ...context.use(trust), ...context.use(telemetry) },
      operators: createOperatorSide(context),
    };
  }

  /** The simulated edge in place of a port. */
  function listenIn(own: Life, roots: readonly string[]): ConsolePorts['listen'] {
    return async (_tls, attach) => {
      const ownEdge = createEdge({ world, console: name, now: clock.wallNow, keyOfEvent });
      attach(ownEdge.app);
      const edge = tampering.edge?.(ownEdge) ?? ownEdge;
      const nowMs = clock.wallNow();
      const isOfAnother = certificate.issuer !== roots[0];
      if (isOfAnother || certificate.notAfterMs - nowMs < SERVER_CERTIFICATE_TTL_MS / 3) {
        certificate = {
          issuer: roots[0] ?? '',
          notBeforeMs: nowMs - CERTIFICATE_BACKDATE_MS,
          notAfterMs: nowMs + SERVER_CERTIFICATE_TTL_MS,
        };
      }
      const at = { console: name, edge, life: own, clock, roots, certificate };
      const leave = listeners.add(CONSOLE_HOST_NAME, at);
      own.onEnd(leave);
      return {
        port: 443,
        swap: () => ({ ok: true, port: 443 }),
        stopAccepting: leave,
        close: () => undefined,
      };
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
    await console.stop();
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
      own.hear(() => {
        stopping = console;
        void shut(own, console);
      });
      // The service manager's patience ends, too.
      world.scheduler.after(STOP_PATIENCE_MS, () => finish(own, 'killed'));
    },
    end(how) {
      if (life !== null) finish(life, how);
    },
    pause: (first) => pauseLife(world, life, first),
    isPaused: () => life?.isPaused() === true,
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

/** The list of what a Console can do, where a planted bug stands in one of them. */
function capabilitiesOf(
  { fleet: change }: ConsoleTampering,
  access: Capability,
): readonly Capability[] {
  const all = CAPABILITIES.filter(({ name }) => name !== digest.name).map((one) =>
    one.name === access.name ? access : one,
  );
  if (change === undefined) return all;
  const changed: Capability<Fleet> = {
    name: fleet.name,
    async open(context) {
      const opened = await fleet.open(context);
      return { ...opened, service: change(opened.service) };
    },
  };
  return all.map((one) => (one.name === fleet.name ? changed : one));
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
