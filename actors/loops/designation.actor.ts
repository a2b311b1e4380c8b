// Runs the designation of one Console: it stands, proves its lock, and steps down the moment it cannot. decision: D60
import { createActor, fromPromise } from 'xstate';
import {
  type DesignationActorRef,
  type DesignationEvent,
  designationMachine,
} from '../../machines/console/runtime/designation.machine.ts';
import { isProven } from '../../machines/console/runtime/designation.rules.ts';
import type { Designation, Tenure } from '../../storage/ports/runtime/designation.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

export type DesignationHolder = {
  readonly actor: DesignationActorRef;
  /** Of the tenure, while the lock was proven lately enough; null otherwise. */
  epoch(): number | null;
  /** Since when it is, or is not, the designated one. */
  sinceMs(): number;
  /** Somebody was told by the database that another Console is designated. */
  noteOvertaken(reason: string): void;
  /** Lets the lock go; resolves when it is gone. */
  stop(): Promise<void>;
};

export type DesignationDeps = {
  readonly port: Designation;
  /** This Console, for operators. */
  readonly holder: string;
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly logger: Logger;
  readonly onDuty: () => void;
  readonly offDuty: () => void;
};

/** Stands at once, and goes on standing until it is stopped. */
export function startDesignation(deps: DesignationDeps): DesignationHolder {
  const { port, holder, logger } = deps;
  let tenure: Tenure | null = null;
  let provenAtMs: number | null = null;
  let releasing: Promise<unknown> = Promise.resolve();
  let wasUnavailable = false;
  let sinceMs = deps.now();

  async function stand(signal: AbortSignal): Promise<number | null> {
    const askedAtMs = deps.monotonicNow();
    // The session may end before the word of its tenure is here.
    let lostBecause: string | null = null;
    let own: Tenure | null = null;
    own = await port.stand({
      holder,
      nowMs: deps.now(),
      onLost: (reason) => {
        lostBecause = reason;
        if (tenure !== null && tenure === own) tell({ type: 'lock.lost', reason });
      },
    });
    wasUnavailable = false;
    if (own === null) return null;
    if (signal.aborted || lostBecause !== null) {
      release(own);
      throw new Error(lostBecause ?? 'the lock came too late');
    }
    tenure = own;
    provenAtMs = askedAtMs;
    return own.epoch;
  }

  async function prove(): Promise<void> {
    const askedAtMs = deps.monotonicNow();
    const own = tenure;
    if (own === null) throw new Error('the lock is not held');
    await own.prove();
    if (tenure === own) provenAtMs = askedAtMs;
  }

  function release(own: Tenure): void {
    releasing = Promise.all([releasing, own.release()]);
  }

  const tell = (event: DesignationEvent): void => {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  };

  const actor = createActor(
    designationMachine.provide({
      actors: {
        stand: fromPromise<number | null, undefined>(({ signal }) => stand(signal)),
        prove: fromPromise<void, undefined>(prove),
      },
      actions: {
        beginDuty: ({ context: { epoch } }) => {
          logger.info(
            { epoch, holder },
            'this Console is designated: it runs the loops of the fleet',
          );
          sinceMs = deps.now();
          deps.onDuty();
        },
        endDuty: () => {
          const own = tenure;
          tenure = null;
          provenAtMs = null;
          sinceMs = deps.now();
          deps.offDuty();
          if (own !== null) release(own);
        },
        tellLost: ({ context: { epoch } }, { reason }) =>
          logger.warn({ epoch, reason }, 'this Console is not the designated one any more'),
        // Once in a row: it is tried again every second.
        tellUnavailable: (_, { error }) => {
          if (wasUnavailable) return;
          wasUnavailable = true;
          logger.warn({ error: String(error) }, 'this Console cannot stand for designation');
        },
      },
    }),
    { clock: deps.clock as never },
  );
  actor.subscribe({
    error: (error) => {
      logger.error({ error: String(error) }, 'the designation failed');
      deps.offDuty();
    },
  });
  actor.start();
  return {
    actor,
    epoch: () =>
      tenure !== null && isProven(provenAtMs, deps.monotonicNow()) ? tenure.epoch : null,
    sinceMs: () => sinceMs,
    noteOvertaken: (reason) => tell({ type: 'lock.lost', reason }),
    async stop() {
      tell({ type: 'designation.stop' });
      await releasing;
    },
  };
}
