// Designation in the simulated PostgreSQL: a lock that belongs to a session. A session ends when its process does and the
// server is told, when it says nothing for its idle time, and when the database lost its connections; nothing else frees it.
import {
  DESIGNATION_SESSION_IDLE_MS,
  DESIGNATION_STAND_TIMEOUT_MS,
} from '../../../machines/console/runtime/loop-limits.ts';
import {
  type DesignationState,
  endSession,
  takeTenure,
} from '../../../storage/memory/runtime/designation.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import {
  type Designation,
  type LastTenure,
  Overtaken,
} from '../../../storage/ports/runtime/designation.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { ScheduledTimer } from './scheduler.ts';
import { hits, type RelationalFaults } from './stores-faults.ts';
import type { Way } from './stores-way.ts';
import type { World } from './world.ts';

const ANSWER_MS = DESIGNATION_STAND_TIMEOUT_MS / 2;

type Session = {
  readonly host: string;
  idle: ScheduledTimer | null;
  isOver: boolean;
  tellLost(): void;
};

export type SimulatedDesignation = {
  portFor(life: Life, way: Way): Designation;
  /** Who holds the lock now; null when nobody does. For checkers. */
  holder(): string | null;
  /** What no database does: the lock is given to whoever asks. For a planted bug. */
  breakLock(): void;
  /** Another server answers: every session is over, and its Console hears of it. */
  failOver(): void;
};

export type DesignationWorld = {
  readonly world: Pick<World, 'scheduler' | 'observe'>;
  readonly random: Random;
  readonly faults: RelationalFaults;
  readonly state: DesignationState;
  /** Told of every tenure that begins. */
  readonly keep: (last: LastTenure) => void;
};

/** Makes the designation of one database over its state. */
export function createSimulatedDesignation(of: DesignationWorld): SimulatedDesignation {
  const { world, random, faults, state } = of;
  const { scheduler } = world;
  let holder: Session | null = null;

  function finish(session: Session): void {
    session.isOver = true;
    if (session.idle !== null) scheduler.cancel(session.idle);
    endSession(state, session);
    if (holder !== session) return;
    holder = null;
    world.observe({ kind: 'designation.ended', console: session.host });
  }

  /** The server heard of the session: its idle time begins anew. */
  function hear(session: Session, tellLost: () => void): void {
    if (session.idle !== null) scheduler.cancel(session.idle);
    session.idle = scheduler.after(DESIGNATION_SESSION_IDLE_MS, () => {
      finish(session);
      // Where the way is broken, too, only silence tells.
      if (!hits(faults.away, session.host) && !hits(faults.stall, session.host)) tellLost();
    });
  }

  function begin(life: Life, way: Way, request: Parameters<Designation['stand']>[0]) {
    const tellLost = (): void => {
      life.hear(() => request.onLost('the server ended the session'));
    };
    const session: Session = { host: life.host, idle: null, isOver: false, tellLost };
    const epoch = takeTenure(state, session, request);
    if (epoch === null) return null;
    of.keep(state.last);
    holder = session;
    world.observe({ kind: 'designation.began', console: life.host, epoch });
    hear(session, tellLost);
    // A killed process is missed by its machine; a dead machine is missed by nobody.
    life.onEnd(() => {
      if (random.chance(0.5)) finish(session);
    });
    return {
      epoch,
      prove: () =>
        way.askWithin(ANSWER_MS, 'designation.prove', () => {
          if (session.isOver) throw new StoreUnavailable('the session ended');
          hear(session, tellLost);
          if (state.last.epoch !== epoch) throw new Overtaken(epoch);
        }),
      release: () =>
        way
          .askWithin(ANSWER_MS, 'designation.release', () => finish(session))
          .catch(() => undefined),
    };
  }

  return {
    holder: () => holder?.host ?? null,
    breakLock: () => {
      state.lockedBy = null;
    },
    failOver() {
      const session = holder;
      if (session === null) return;
      finish(session);
      session.tellLost();
    },
    portFor: (life, way) => ({
      stand: (request) =>
        way.askWithin(ANSWER_MS, 'designation.stand', () => begin(life, way, request)),
      last: () => way.ask('designation.last', () => state.last),
      close: async () => undefined,
    }),
  };
}
