// Every periodic loop of a Console in one place: started together at the ninth step, seen and run by operators, stopped
// together. Loops of the process are on duty from the start; designated ones while this Console is. decision: D60
import type {
  LoopActorRef,
  LoopEvent,
  LoopSnapshot,
} from '../../machines/console/runtime/loop.machine.ts';
import type { LastRun, LoopPlace } from '../../machines/console/runtime/loop.rules.ts';
import { LOOP_STOP_TIMEOUT_MS } from '../../machines/console/runtime/loop-limits.ts';
import type { Designation } from '../../storage/ports/runtime/designation.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';
import { type DesignationHolder, startDesignation } from './designation.actor.ts';
import { type RunningLoop, startLoop } from './loop.actor.ts';
import type { Loop } from './loop.ts';

/** One loop as it stands now. Times in milliseconds since the epoch. */
export type LoopView = {
  readonly name: string;
  readonly runsOn: LoopPlace;
  readonly everyMs: number;
  readonly state: 'off_duty' | 'waiting' | 'running' | 'stopped';
  readonly sinceMs: number;
  readonly snapshot: LoopSnapshot;
  readonly runs: number;
  readonly failedRuns: number;
  readonly failures: number;
  readonly lastRun: LastRun | null;
  readonly nextAtMs: number | null;
};

/** Off duty: another Console has to be asked, or nobody runs designated loops. */
export type RunNow = 'started' | 'running' | 'off_duty' | 'absent';

export type LoopRegistry = {
  /** Takes one more loop. Throws for a name that is taken, and once the loops are started. */
  add(loop: Loop): void;
  /** Starts all of them. */
  start(): void;
  list(): readonly LoopView[];
  get(name: string): LoopView | null;
  /** The actor of a loop, to be followed; null when there is none, or it is not started. */
  actorOf(name: string): LoopActorRef | null;
  /** Runs a loop that is waiting for its time now. */
  runNow(name: string): RunNow;
  /** Runs a loop on duty as soon as it can: now, or once more after a run that is under way. Nothing where it is off duty. */
  wake(name: string): void;
  /** Resolves once no run of the loop is under way; at once for one that is unknown. */
  idle(name: string): Promise<void>;
  /** Whether this Console stands for designation, and the tenure it has. */
  designation(): { readonly stands: boolean; readonly epoch: number | null };
  /** The actor of the designation; null before the start and where this Console does not stand. */
  holder(): DesignationHolder | null;
  /** Tells every run to end and waits for them, within a time; lets the lock go. */
  stop(): Promise<void>;
};

export type LoopRegistryDeps = {
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly logger: Logger;
  /** Null: background tasks are off, and this Console runs no designated loop. */
  readonly designation: { readonly port: Designation; readonly holder: string } | null;
};

const TASKS_ARE_OFF =
  'background tasks are off: another Console of this database has to run these loops';

type Held = {
  readonly loop: Loop;
  readonly running: RunningLoop;
  sinceMs: number;
  state: LoopView['state'];
};

/** Makes an empty registry; nothing runs before `start`. */
export function createLoopRegistry(deps: LoopRegistryDeps): LoopRegistry {
  const { clock, now, monotonicNow, logger } = deps;
  const known = new Map<string, Loop>();
  const held = new Map<string, Held>();
  let holder: DesignationHolder | null = null;

  function hold(loop: Loop): void {
    const running = startLoop(loop, {
      ...{ clock, now, monotonicNow, logger },
      epoch: () => holder?.epoch() ?? null,
      onOvertaken: (reason) => holder?.noteOvertaken(reason),
    });
    const own: Held = { loop, running, sinceMs: now(), state: 'off_duty' };
    running.actor.subscribe((snapshot) => {
      const state = stateOf(snapshot);
      if (state === own.state) return;
      own.state = state;
      own.sinceMs = now();
    });
    held.set(loop.name, own);
  }

  function tell(event: LoopEvent, which: (loop: Loop) => boolean): void {
    for (const { loop, running } of held.values()) {
      if (which(loop) && isActive(running)) running.actor.send(event);
    }
  }

  function start(): void {
    for (const loop of known.values()) hold(loop);
    tell({ type: 'loop.on_duty' }, ({ runsOn }) => runsOn !== 'designated');
    const designated = [...known.values()].filter(({ runsOn }) => runsOn === 'designated');
    if (deps.designation === null) {
      const names = designated.map(({ name }) => name);
      logger.warn({ loops: names }, TASKS_ARE_OFF);
      return;
    }
    holder = startDesignation({
      ...deps.designation,
      ...{ clock, now, monotonicNow, logger },
      onDuty: () => tell({ type: 'loop.on_duty' }, ({ runsOn }) => runsOn === 'designated'),
      offDuty: () => tell({ type: 'loop.off_duty' }, ({ runsOn }) => runsOn === 'designated'),
    });
  }

  async function stop(): Promise<void> {
    tell({ type: 'loop.stop' }, () => true);
    const runs = [...held.values()].map(({ running }) => running.idle());
    await within(Promise.all(runs), clock);
    await holder?.stop();
    await deps.designation?.port.close();
  }

  return {
    add(loop) {
      if (held.size > 0) throw new Error(`the loop ${loop.name} comes after the start`);
      if (known.has(loop.name)) throw new Error(`there are two loops named ${loop.name}`);
      known.set(loop.name, loop);
    },
    start,
    list: () => [...held.values()].map(viewOf),
    get(name) {
      const own = held.get(name);
      return own === undefined ? null : viewOf(own);
    },
    wake: (name) => held.get(name)?.running.actor.send({ type: 'loop.run_now' }),
    actorOf: (name) => held.get(name)?.running.actor ?? null,
    runNow(name) {
      const own = held.get(name);
      if (own === undefined) return 'absent';
      if (own.state !== 'waiting') return own.state === 'running' ? 'running' : 'off_duty';
      own.running.actor.send({ type: 'loop.run_now' });
      return 'started';
    },
    idle: async (name) => held.get(name)?.running.idle(),
    designation: () => ({ stands: deps.designation !== null, epoch: holder?.epoch() ?? null }),
    holder: () => holder,
    stop,
  };
}

function viewOf({ loop, running, sinceMs, state }: Held): LoopView {
  const snapshot = running.actor.getSnapshot();
  const { runs, failedRuns, failures, lastRun, nextAtMs } = snapshot.context;
  const { name, runsOn, everyMs } = loop;
  // That there was nothing to do was found out all the same.
  const glanced = running.glances.last();
  const plannedMs = glanced === null ? nextAtMs : glanced.endedAtMs + everyMs;
  return {
    ...{ name, runsOn, everyMs, state, sinceMs, snapshot },
    ...{ runs: runs + running.glances.count(), failedRuns, failures, lastRun: glanced ?? lastRun },
    nextAtMs: state === 'waiting' ? plannedMs : null,
  };
}

function stateOf(snapshot: LoopSnapshot): LoopView['state'] {
  if (snapshot.hasTag('running')) return 'running';
  if (snapshot.hasTag('on-duty')) return 'waiting';
  return snapshot.status === 'active' ? 'off_duty' : 'stopped';
}

function isActive({ actor }: RunningLoop): boolean {
  return actor.getSnapshot().status === 'active';
}

// A run that heeds no signal may not hold the Console's end up; what it writes later is fenced.
async function within(ended: Promise<unknown>, clock: WheelClock): Promise<void> {
  let timer = 0;
  const late = new Promise<void>((resolve) => {
    timer = clock.setTimeout(() => resolve(), LOOP_STOP_TIMEOUT_MS);
  });
  await Promise.race([ended, late]);
  clock.clearTimeout(timer);
}
