// The directory of root actors of one kind. Callers address an id and get "absent" as an ordinary answer; nobody holds
// an actor. Each actor has the shared clock, an error observer and a supervisor: one that fails is rebuilt from facts,
// at most so often a window, and leaves a crash record with its last events. decision: D4; invariant: I8, I10
import {
  type Actor,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
  type StateValue,
} from 'xstate';
import type { InspectionFeed, Standing } from './inspection-feed.ts';
import { createTimerBook, type RunningTimer, type TimerBook } from './running-timers.ts';
import { isSameValue, regionsOf } from './state-value.ts';
import type { CrashLog, Supervisor } from './supervisor.ts';
import type { WheelClock } from './wheel-clock.ts';

/** First moves of an actor that was built from facts: not history. */
export const ACTOR_OPENED = 'actor.opened';
export const ACTOR_REBUILT = 'actor.rebuilt';

export type ActorView<TMachine extends AnyStateMachine> = {
  readonly id: string;
  readonly snapshot: SnapshotFrom<TMachine>;
  readonly sinceMs: number;
  readonly lastEvent: string;
  readonly restarts: number;
  readonly timers: readonly RunningTimer[];
};

export type Directory<TMachine extends AnyStateMachine> = {
  readonly kind: string;
  /**
   * Starts the actor of an id from facts; an existing one is kept. `why` names the first move in the feed. After
   * `closeAll` nothing is started: what a late answer wrote is read at the next start.
   */
  open(id: string, input: InputFrom<TMachine>, why?: string): void;
  /** Hands an event over; 'absent' when there is no such actor. Never throws. */
  tell(id: string, event: EventFromLogic<TMachine>): 'told' | 'absent';
  ask(id: string): ActorView<TMachine> | 'absent';
  /** Called after each start of an actor, rebuilt ones included: who knows what facts do not hold tells it then. */
  subscribeStarted(listener: (id: string) => void): () => void;
  ids(): IterableIterator<string>;
  size(): number;
  close(id: string): void;
  closeAll(): void;
};

export type DirectoryOptions<TMachine extends AnyStateMachine> = {
  readonly kind: string;
  readonly machine: TMachine;
  readonly clock: WheelClock;
  readonly feed: InspectionFeed;
  readonly supervisor: Supervisor;
  readonly crashes: CrashLog;
  readonly now: () => number;
  /** Facts to rebuild a failed actor from; null = there are none, the actor stays stopped. Until they are here it is absent. */
  readonly rebuild: (id: string) => Promise<InputFrom<TMachine> | null>;
  /** Called when facts could not be had. */
  readonly onRebuildFailed?: (id: string, error: unknown) => void;
  /** What of an event is worth keeping in the feed; small and without secrets. */
  readonly factsOf?: (event: EventFromLogic<TMachine>) => Readonly<Record<string, unknown>>;
  /** Whether an event that moved no region changed facts that somebody who looks back will miss. */
  readonly hasNewFacts?: (
    before: SnapshotFrom<TMachine>['context'],
    after: SnapshotFrom<TMachine>['context'],
  ) => boolean;
  /** Called after each event that an actor took, with the snapshot it led to. */
  readonly onSnapshot?: (id: string, snapshot: SnapshotFrom<TMachine>) => void;
};

type Held = {
  readonly ref: Actor<AnyStateMachine>;
  readonly timers: TimerBook;
  regions: ReadonlyMap<string, string>;
  value: StateValue | undefined;
  context: AnyMachineSnapshot['context'];
  sinceMs: number;
  lastEvent: string;
  /** The first snapshot is followed when the start is over, under the name of its reason. */
  isStarted: boolean;
};

/** Makes the directory of one kind of actor. */
export function createDirectory<TMachine extends AnyStateMachine>(
  options: DirectoryOptions<TMachine>,
): Directory<TMachine> {
  const held = new Map<string, Held>();
  const { kind, feed, now } = options;
  const startListeners = new Set<(id: string) => void>();
  let isClosed = false;

  function start(id: string, input: InputFrom<TMachine>, why: string): void {
    // Observers hear of snapshots and not of events; XState's inspection would tell both and costs more than the event
    // itself, so the machine is listened to where it takes an event, timers included.
    let taken = { type: why } as EventFromLogic<TMachine>;
    const machine: AnyStateMachine = Object.create(options.machine, {
      transition: {
        value: (...step: Parameters<AnyStateMachine['transition']>) => {
          taken = step[1] as EventFromLogic<TMachine>;
          return options.machine.transition(...step);
        },
      },
    });
    const timers = createTimerBook(options.clock, now);
    const ref: Actor<AnyStateMachine> = createActor(machine, {
      id: `${kind}/${id}`,
      input,
      clock: timers.clock as never,
    });
    timers.follow(ref.system);
    const entry: Held = {
      ref,
      timers,
      regions: new Map(),
      value: undefined,
      context: undefined,
      sinceMs: now(),
      lastEvent: why,
      isStarted: false,
    };
    held.set(id, entry);
    ref.subscribe({
      next: (snapshot: AnyMachineSnapshot) => {
        if (entry.isStarted && held.get(id) === entry) follow(id, entry, snapshot, taken);
      },
      error: (error: unknown) => fail(id, ref, error),
    });
    ref.start();
    entry.isStarted = true;
    if (ref.getSnapshot().status !== 'error') {
      follow(id, entry, ref.getSnapshot(), { type: why } as EventFromLogic<TMachine>);
      for (const listener of startListeners) listener(id);
    }
  }

  function follow(
    id: string,
    own: Held,
    snapshot: AnyMachineSnapshot,
    event: EventFromLogic<TMachine>,
  ): void {
    own.lastEvent = event.type;
    const contextBefore = own.context;
    own.context = snapshot.context;
    // Most events change no state: then nothing is built.
    let hasMoved = false;
    if (!isSameValue(own.value, snapshot.value)) {
      own.value = snapshot.value;
      hasMoved = recordMoves(id, own, snapshot, event);
    }
    if (!hasMoved && options.hasNewFacts?.(contextBefore, snapshot.context) === true) {
      const moved = { region: '', from: '', to: '' };
      feed.record({ kind, id, ...moved, ...toldOf(event), after: standingOf(own, snapshot) });
    }
    options.onSnapshot?.(id, snapshot as SnapshotFrom<TMachine>);
  }

  function recordMoves(
    id: string,
    own: Held,
    snapshot: AnyMachineSnapshot,
    event: EventFromLogic<TMachine>,
  ): boolean {
    const before = own.regions;
    own.regions = new Map(regionsOf(snapshot.value));
    const told = toldOf(event);
    let after: Standing | null = null;
    for (const [region, to] of own.regions) {
      const from = before.get(region) ?? '';
      if (from === to) continue;
      own.sinceMs = told.atMs;
      after ??= standingOf(own, snapshot);
      feed.record({ kind, id, region, from, to, ...told, after });
    }
    return after !== null;
  }

  function toldOf(event: EventFromLogic<TMachine>) {
    return { event: event.type, facts: options.factsOf?.(event) ?? {}, atMs: now() };
  }

  function standingOf({ timers }: Held, snapshot: AnyMachineSnapshot): Standing {
    const { value, context } = snapshot;
    return { value, context, timers: timers.running(snapshot) };
  }

  function fail(id: string, ref: Actor<AnyStateMachine>, error: unknown): void {
    const own = held.get(id);
    if (own?.ref !== ref) return;
    const decision = options.supervisor.decide(kind, id);
    options.crashes.record({
      kind,
      id,
      atMs: now(),
      error: error instanceof Error ? error.message : String(error),
      lastEvent: own.lastEvent,
      stateValue: Object.fromEntries(own.regions),
      moves: feed.recentOf(kind, id),
      decision,
    });
    held.delete(id);
    if (decision === 'restart') void rebuild(id);
  }

  async function rebuild(id: string): Promise<void> {
    try {
      const facts = await options.rebuild(id);
      if (facts !== null && !isClosed && !held.has(id)) start(id, facts, ACTOR_REBUILT);
    } catch (error) {
      options.onRebuildFailed?.(id, error);
    }
  }

  function close(id: string): void {
    const own = held.get(id);
    held.delete(id);
    own?.ref.stop();
    feed.forget(kind, id);
  }

  return {
    kind,
    open(id, input, why = ACTOR_OPENED) {
      if (!isClosed && !held.has(id)) start(id, input, why);
    },
    tell(id, event) {
      const own = held.get(id);
      if (own === undefined) return 'absent';
      own.ref.send(event);
      return 'told';
    },
    ask(id) {
      const own = held.get(id);
      if (own === undefined) return 'absent';
      return {
        id,
        snapshot: own.ref.getSnapshot() as SnapshotFrom<TMachine>,
        sinceMs: own.sinceMs,
        lastEvent: own.lastEvent,
        // Asked for rarely, while snapshots are asked for with every heartbeat.
        get restarts() {
          return options.supervisor.restartsOf(kind, id);
        },
        get timers() {
          return own.timers.running(own.ref.getSnapshot());
        },
      };
    },
    subscribeStarted(listener) {
      startListeners.add(listener);
      return () => startListeners.delete(listener);
    },
    ids: () => held.keys(),
    size: () => held.size,
    close,
    closeAll() {
      isClosed = true;
      for (const id of [...held.keys()]) close(id);
    },
  };
}
