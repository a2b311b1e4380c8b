// One run: a fleet, its accidents, the healing, and the judgment. Everything follows from the options and the plan.
import { WHEEL_TICK_MS } from '../../machines/limits.ts';
import { STATE_FILES } from '../../sensor/state-directory/identity.ts';
import { silentLogger } from '../contracts/real-stores.ts';
import { CHECKERS } from './checkers/all.ts';
import type { FleetView, Violation } from './checkers/checker.ts';
import { whatIsMissing } from './checkers/liveness.ts';
import { TOLD_WITHIN_MS } from './checkers/loss-ledger.ts';
import { sameDatabase } from './checkers/same-database.ts';
import { effectsOn } from './faults/all.ts';
import { FORGETTING, type PlannedFault } from './faults/kinds.ts';
import { drawPlan } from './faults/plan.ts';
import { live } from './live.ts';
import { lengthMs, type Options } from './options.ts';
import type { PlantedBug } from './planted/planted-bug.ts';
import { createAuthority } from './world/authority.ts';
import { fingerprintOf, issuersIn, readCertificate } from './world/certificates.ts';
import { type ConsoleHost, createConsoleHost } from './world/console-host.ts';
import { createCopies } from './world/copies.ts';
import { createListeners } from './world/dial.ts';
import { keyOfEvent } from './world/engine.ts';
import { createIdentityProvider } from './world/identity-provider.ts';
import { createKeeper } from './world/keeper.ts';
import { createNetwork } from './world/network.ts';
import { createNodeHost, type NodeHost, STATE_DIR } from './world/node-host.ts';
import { createOperators } from './world/operators.ts';
import { createPeople } from './world/people.ts';
import { createPublisher } from './world/publisher.ts';
import { openRealRelational, type RealRelational } from './world/real-relational.ts';
import { createReceivers } from './world/receivers.ts';
import { createSimulatedStores } from './world/stores.ts';
import { createWarden } from './world/warden.ts';
import { createWorld, type Logged, type World } from './world/world.ts';

export type Outcome = 'held' | 'crash' | 'safety' | 'liveness';
export type RunResult = {
  readonly outcome: Outcome;
  readonly violations: readonly Violation[];
  readonly crashes: readonly string[];
  readonly plan: readonly PlannedFault[];
  /** SHA-256 of everything observed. */
  readonly hash: string;
  readonly observations: Readonly<Record<string, number>>;
  readonly steps: number;
  /** True time from the first to the last step. */
  readonly simulatedMs: number;
  readonly sensorHours: number;
  readonly faults: Readonly<Record<string, number>>;
  /** What happened before the end, for a report of a failing run. */
  readonly recent: readonly Logged[];
  readonly fleet: FleetView;
};

export type RunOptions = {
  /** Absent: drawn from the options. */
  readonly plan?: readonly PlannedFault[];
  readonly bug?: PlantedBug;
  /** The address of an empty database, which answers in place of the simulated one: not replayable to the bit. */
  readonly databaseUrl?: string;
  /** Gets the world before anything happens, to follow its time. */
  readonly onWorld?: (world: World) => void;
};

const PROBE_MS = 20_000;
const HEAL_LOOK_MS = 5_000;
const HELP_EVERY_LOOKS = 24;
/** After the last accident everything must be well within this time. */
const HEAL_MAX_MS = 40 * 60_000;
const START_SPREAD_MS = 5_000;

/** Runs it to its end, or to the first violation. */
export async function runSimulation(options: Options, more: RunOptions = {}): Promise<RunResult> {
  const world = createWorld(options.seed);
  more.onWorld?.(world);
  const unheard = (error: unknown): void => world.crashed('a promise nobody listens to', error);
  process.on('unhandledRejection', unheard);
  try {
    return await runIn(world, options, more);
  } finally {
    process.off('unhandledRejection', unheard);
  }
}

async function runIn(world: World, options: Options, more: RunOptions): Promise<RunResult> {
  const planned = more.plan ?? drawPlan(options);
  if (more.databaseUrl === undefined) return runOver(world, options, { ...more, plan: planned });
  const { intervals } = options;
  const real = await openRealRelational(world, {
    ...{ url: more.databaseUrl, intervals, logger: silentLogger },
  });
  try {
    // A real one forgets nothing here: it would have to be a copy of what it was.
    const plan = planned.filter(({ kind }) => !FORGETTING.has(kind));
    return await runOver(world, options, { ...more, plan, real });
  } finally {
    await real.close();
  }
}

type Parts = RunOptions & {
  readonly plan: readonly PlannedFault[];
  readonly real?: RealRelational;
};

async function runOver(world: World, options: Options, more: Parts): Promise<RunResult> {
  const { plan } = more;
  const forgets = plan.some(({ kind }) => FORGETTING.has(kind));
  const fleet = buildFleet(world, { ...options, forgets, real: more.real }, more.bug);
  const violations: Violation[] = [];
  const ongoing = new Map<PlannedFault, () => void>();
  const view: FleetView = {
    ...fleet,
    world,
    intervals: options.intervals,
    spoolEventsMax: options.spoolEventsMax,
    binariesMax: options.binariesMax,
    keepers: options.keepers,
    receivers: options.receivers,
    forgets,
    isDisturbed: () => ongoing.size > 0,
    disturbances: () => [...ongoing.keys()].map(({ kind }) => kind),
  };
  const report = (checker: string, kind: Violation['kind']) => (detail: string) => {
    violations.push({ checker, detail, atMs: world.scheduler.now(), kind });
    world.scheduler.halt();
  };
  const kinds = more.real === undefined ? CHECKERS : [...CHECKERS, sameDatabase];
  const checkers = kinds.map((kind) => kind.make(view, report(kind.name, 'safety')));
  world.subscribe((observation, atMs) => {
    for (const one of checkers) one.observe?.(observation, atMs);
  });
  const probe = (): void => {
    for (const one of checkers) one.probe?.(world.scheduler.now());
    world.scheduler.after(PROBE_MS, probe);
  };
  world.scheduler.after(PROBE_MS, probe);
  for (const console of fleet.consoles) console.start();
  fleet.people.begin();
  fleet.keeper.begin();
  fleet.warden.begin();
  fleet.publisher.begin();
  fleet.receiving.begin();
  const start = world.random.fork('start');
  for (const node of fleet.nodes) {
    world.scheduler.after(start.next() * START_SPREAD_MS, () => fleet.operators.enrol(node));
  }

  const isOver = (): boolean => violations.length > 0 || world.crashes().length > 0;
  const faults = await live(view, plan, {
    endMs: lengthMs(options),
    effects: effectsOn(fleet),
    ongoing,
    isOver,
    help: () => help(fleet),
  });
  if (!isOver()) {
    heal(fleet, ongoing);
    world.observe({ kind: 'healed' });
    await untilWell(view, fleet, isOver, report('liveness', 'liveness'));
  }
  if (!isOver()) await fleet.stores.relational.lookAtAll();
  if (!isOver()) for (const one of checkers) one.finish?.(world.scheduler.now());
  return {
    outcome: outcomeOf(world, violations),
    violations,
    crashes: world.crashes(),
    plan,
    hash: world.log.hash(),
    observations: world.log.counts(),
    steps: world.scheduler.steps(),
    simulatedMs: world.scheduler.now(),
    sensorHours: (options.sensors * world.scheduler.now()) / 3_600_000,
    faults,
    recent: world.log.recent(),
    fleet: view,
  };
}

function outcomeOf(world: World, violations: readonly Violation[]): Outcome {
  if (world.crashes().length > 0) return 'crash';
  return violations[0]?.kind ?? 'held';
}

type Fleet = ReturnType<typeof buildFleet>;

function buildFleet(
  world: World,
  options: Options & { readonly forgets: boolean; readonly real: RealRelational | undefined },
  bug: PlantedBug | undefined,
) {
  const { intervals } = options;
  const random = world.random.fork('fleet');
  const network = createNetwork(world.scheduler, world.random.fork('network'));
  const listeners = createListeners();
  const stores = createSimulatedStores(world, {
    ...{ keyOfEvent, intervals, forgets: options.forgets, real: options.real },
  });
  const driftPpm = (): number => random.between(-options.driftPpm, options.driftPpm);
  const provider = createIdentityProvider(world.random.fork('identity provider'));
  const authority = createAuthority(world);
  const consoles: ConsoleHost[] = names('console', options.consoles).map((name) =>
    createConsoleHost({
      world,
      name,
      network,
      listeners,
      stores,
      ...{ provider, authority },
      wayOut: (life) => receiving.wayFor(life),
      intervals,
      driftPpm: driftPpm(),
      tampering: bug?.console?.(world, stores) ?? {},
    }),
  );
  const nodeOf = (name: string, driftsPpm: number, offsetMs: number): NodeHost =>
    createNodeHost({
      ...{ world, name, network, listeners, intervals, driftPpm: driftsPpm, offsetMs },
      spoolEventsMax: options.spoolEventsMax,
      quietMs: options.quietMs,
      programs: options.programs,
      binariesMax: options.binariesMax,
      carriesPolicies: options.publishers > 0,
      tampering: bug?.node?.(world) ?? {},
    });
  const nodes: NodeHost[] = names('node', options.sensors).map((name) =>
    nodeOf(name, driftPpm(), random.between(-options.skewMs, options.skewMs)),
  );
  const copies = createCopies(world, (name) => nodeOf(name, 0, 0));
  const operators = createOperators({ world, consoles, stores });
  const people = createPeople({
    ...{ world, consoles, listeners, stores, provider },
    count: options.people,
  });
  const keeper = createKeeper({ world, consoles, listeners, count: options.keepers });
  const warden = createWarden({ world, consoles, listeners, count: options.wardens });
  const publisher = createPublisher({ world, consoles, listeners, count: options.publishers });
  const receiving = createReceivers({ world, consoles, listeners, count: options.receivers });
  const lone = { keeper, warden, publisher, authority };
  const lifetimeMs = intervals.CLIENT_CERTIFICATE_TTL_MS;
  return {
    world,
    network,
    stores,
    consoles,
    nodes,
    copies,
    operators,
    people,
    ...lone,
    receiving,
    lifetimeMs,
  };
}

function names(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${kind}-${at + 1}`);
}

/** Ends every accident, sets the clocks right, and switches on what is off. */
function heal(fleet: Fleet, ongoing: Map<PlannedFault, () => void>): void {
  for (const end of [...ongoing.values()]) end();
  ongoing.clear();
  fleet.stores.heal();
  for (const console of fleet.consoles) {
    console.clock.jump(-console.clock.errorMs());
    console.start();
  }
  for (const node of fleet.nodes) {
    fleet.network.heal(node.name);
    node.disk.faults.heal();
    node.engine.heal();
    node.engine.setQuiet(true);
    node.sockets.settle();
    node.containers.settle();
    node.clock.jump(-node.clock.errorMs());
    node.start();
  }
  fleet.people.heal();
  fleet.keeper.heal();
  fleet.warden.heal();
  fleet.publisher.heal();
  fleet.receiving.heal();
}

/**
 * Looks until nothing is missing; operators help where only they can. Then so much time passes that everything which was
 * settled by then must have been told.
 */
async function untilWell(
  view: FleetView,
  fleet: Fleet,
  isOver: () => boolean,
  report: (detail: string) => void,
): Promise<void> {
  const { scheduler } = view.world;
  const endMs = scheduler.now() + HEAL_MAX_MS;
  let missing = ['everything'];
  let looks = 0;
  while (missing.length > 0 && !isOver()) {
    if (scheduler.now() >= endMs) {
      report(missing.join('; '));
      return;
    }
    await scheduler.runUntil(scheduler.now() + HEAL_LOOK_MS);
    looks += 1;
    if (looks % HELP_EVERY_LOOKS === 0) help(fleet);
    missing = whatIsMissing(view);
  }
  await scheduler.runUntil(scheduler.now() + TOLD_WITHIN_MS + WHEEL_TICK_MS);
}

/**
 * What a person does when a node cannot go on by itself: a new token for one that lost or outlived its identity. One whose
 * certificate is not valid yet is stopped first, because a Sensor that runs takes no token.
 */
function help(fleet: Fleet): void {
  const { nodes, consoles, operators, stores } = fleet;
  // One that was still stopping when everything was switched on.
  for (const console of consoles) if (!console.isUp()) console.start();
  for (const node of nodes) {
    if (node.state() === 'running') {
      if (isShutOut(fleet, node)) node.stop();
      continue;
    }
    if (hasOwnWayBack(node)) continue;
    const sensorId = operators.sensorOf(node);
    const sensor = sensorId === null ? undefined : stores.relational.state.sensors.get(sensorId);
    // Where the database forgot it and the root is gone, no Console can tell it so: its directory is put away.
    if (sensor === undefined && knowsNoRoot(fleet, node)) operators.recreate(node);
    else if (sensor === undefined) operators.enrol(node);
    else if (sensor.revokedAtMs !== null) operators.recreate(node);
    else operators.reenroll(node);
  }
}

/** It waits for a token although its certificate is good by its own clock: it has to go on by itself. decision: D67 */
function hasOwnWayBack(node: NodeHost): boolean {
  if (node.state() !== 'awaiting_reenrollment') return false;
  const certificate = readCertificate(certificateOn(node) ?? '');
  return certificate !== null && node.clock.wallNow() < certificate.notAfterMs;
}

/**
 * No Console takes its certificate any more: it was made while a Console's clock was ahead, or a re-enrollment whose
 * answer the node never heard has ended it, or the database forgot it. Only a new token helps, and somebody sees the sensor
 * silent.
 */
function isShutOut(fleet: Fleet, node: NodeHost): boolean {
  const { consoles, stores } = fleet;
  const shown = certificateOn(node);
  const certificate = shown === undefined ? null : readCertificate(shown);
  if (shown === undefined || certificate === null) return false;
  const known = stores.relational.state.certificates.get(fingerprintOf(shown));
  if (known === undefined || known.status === 'ended') return true;
  if (knowsNoRoot(fleet, node)) return true;
  return consoles.every(({ clock }) => clock.wallNow() < certificate.notBeforeMs);
}

/** Its certificate is of a root that is gone, or it does not know the one that Consoles show. */
function knowsNoRoot({ authority }: Fleet, node: NodeHost): boolean {
  const certificate = readCertificate(certificateOn(node) ?? '');
  if (certificate === null) return false;
  const kept = node.disk.read(`${STATE_DIR}/${STATE_FILES.consoleCa}`)?.toString() ?? '';
  const [roots, trusted] = [authority.roots(), issuersIn(kept)];
  return !roots.includes(certificate.issuer) || !trusted.includes(roots[0] ?? '');
}

function certificateOn({ disk }: NodeHost): string | undefined {
  return disk.read(`${STATE_DIR}/${STATE_FILES.certificate}`)?.toString();
}
