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
  type Tenure,
} from '../../../storage/ports/runtime/designation.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { RealLife, RealRelational } from './real-relational.ts';
import type { ScheduledTimer } from './scheduler.ts';
import { hits, type RelationalFaults } from './stores-faults.ts';
import type { Way } from './stores-way.ts';
import type { World } from './world.ts';

type Request = Parameters<Designation['stand']>[0];
type RealTenure = Pick<RealLife, 'sent'> & { readonly tenure: Tenure };

const ANSWER_MS = DESIGNATION_STAND_TIMEOUT_MS / 2;

type Session = {
  readonly host: string;
  /** The session in a real database, whose lock it has there. */
  real: Tenure | null;
  idle: ScheduledTimer | null;
  isOver: boolean;
  tellLost(): void;
};

export type SimulatedDesignation = {
  portFor(life: Life, way: Way, real?: RealLife): Designation;
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
  /** Takes its turn at a real database. */
  readonly alone: RealRelational['alone'];
  readonly begins: RealRelational['begins'];
  readonly release: RealRelational['release'];
  /** A session of it ended without a cause in the world. */
  readonly lost: (console: string, reason: string) => void;
};

/** Makes the designation of one database over its state. */
export function createSimulatedDesignation(of: DesignationWorld): SimulatedDesignation {
  const { world, random, faults, state } = of;
  const { scheduler } = world;
  let holder: Session | null = null;

  function finish(session: Session): void {
    const { real } = session;
    if (real === null) end(session);
    else of.alone(() => of.release(real).then(() => end(session)));
  }

  function end(session: Session): void {
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

  /** `real`: the tenure that a real database gave, with the session it is held by. */
  function begin(life: Life, way: Way, request: Request, real: RealTenure | null): Tenure | null {
    const tellLost = (): void => {
      life.hear(() => request.onLost('the server ended the session'));
    };
    const session: Session = {
      host: life.host,
      idle: null,
      isOver: false,
      tellLost,
      real: real?.tenure ?? null,
    };
    const taken = takeTenure(state, session, request);
    if (taken === null) return null;
    const epoch = taken;
    of.keep(state.last);
    holder = session;
    world.observe({ kind: 'designation.began', console: life.host, epoch });
    hear(session, tellLost);
    // A killed process is missed by its machine; a dead machine is missed by nobody.
    life.onEnd(() => {
      if (random.chance(0.5)) finish(session);
    });
    function prove(): void {
      if (session.isOver) throw new StoreUnavailable('the session ended');
      hear(session, tellLost);
      if (state.last.epoch !== epoch) throw new Overtaken(epoch);
    }
    return {
      epoch,
      prove: () =>
        way.askWithin(ANSWER_MS, 'designation.prove', () =>
          real === null ? prove() : real.sent('designation.prove', real.tenure.prove, prove),
        ),
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
    portFor: (life, way, real) => ({
      stand: async (request) =>
        // A way answers with what an effect promises.
        way.askWithin<Tenure | null | Promise<Tenure | null>>(ANSWER_MS, 'designation.stand', () =>
          real === undefined
            ? begin(life, way, request, null)
            : standInBoth(life, way, request, real),
        ),
      last: () =>
        way.ask('designation.last', () => {
          const last = (): LastTenure => state.last;
          if (real === undefined) return last();
          return real.sent('designation.last', () => real.stores().designation.last(), last);
        }),
      close: async () => undefined,
    }),
  };

  async function standInBoth(
    life: Life,
    way: Way,
    request: Request,
    real: RealLife,
  ): Promise<Tenure | null> {
    let own: Tenure | null = null;
    let begun: Tenure | null = null;
    const isLost = { ...request, onLost: (reason: string) => of.lost(life.host, reason) };
    await real.both<Tenure | null>(
      'designation.stand',
      async () => {
        own = await real.stores().designation.stand(isLost);
        if (own !== null) of.begins(own);
        return own;
      },
      () => {
        begun = begin(life, way, request, own === null ? null : { tenure: own, sent: real.sent });
        return begun;
      },
    );
    return begun;
  }
}
