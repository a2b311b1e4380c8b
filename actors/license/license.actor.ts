// The one actor of the license: its machine on the wheel clock, what it is told of time, and what the log is told of its
// moves. It never fails by what it is told; if it did, the last facts still decide. decision: D4, D33
import { type ActorRefFrom, createActor } from 'xstate';
import { licenseMachine } from '../../machines/console/license/license.machine.ts';
import type { LicenseFacts, LicensePhase } from '../../machines/trust/license.rules.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

export type LicenseActor = {
  readonly ref: ActorRefFrom<typeof licenseMachine>;
  /** Where it is, since when by the wall clock, and why. */
  view(): { readonly phase: LicensePhase; readonly sinceMs: number; readonly lastEvent: string };
  tellTime(atMs: number): void;
  /** The one that is stored now; null: none. */
  tellImported(license: LicenseFacts | null, seenMs: number): void;
  stop(): void;
};

/** Starts the actor from stored facts. `now` is the wall clock. */
export function startLicenseActor(deps: {
  readonly license: LicenseFacts | null;
  readonly seenMs: number;
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly logger: Logger;
}): LicenseActor {
  const { license, seenMs, clock, now, logger } = deps;
  const ref = createActor(licenseMachine, {
    input: { license, seenMs },
    clock: clock as never,
  });
  let phase: LicensePhase | null = null;
  let sinceMs = now();
  let lastEvent = 'started';
  let telling = 'time passed';
  let isStopped = false;
  ref.subscribe({
    next(snapshot) {
      const next = snapshot.value as LicensePhase;
      if (next === phase) return;
      lastEvent = phase === null ? 'started' : telling;
      phase = next;
      sinceMs = now();
      tellLog(logger, next, snapshot.context.license);
    },
    error: (error) => logger.error({ error: String(error) }, 'the license actor failed'),
  });
  ref.start();
  const told = (event: Parameters<typeof ref.send>[0]): void => {
    // A look at the store may end after the stop.
    if (ref.getSnapshot().status !== 'active' || isStopped) return;
    telling = event.type;
    ref.send(event);
    telling = 'time passed';
  };
  return {
    ref,
    view: () => ({ phase: ref.getSnapshot().value as LicensePhase, sinceMs, lastEvent }),
    tellTime: (atMs) => told({ type: 'time.seen', atMs }),
    tellImported: (next, at) => told({ type: 'license.imported', license: next, seenMs: at }),
    stop() {
      isStopped = true;
      ref.stop();
    },
  };
}

function tellLog(logger: Logger, phase: LicensePhase, license: LicenseFacts | null): void {
  // Said by the gate, when it first matters.
  if (license === null) return;
  const fields = {
    licenseId: license.licenseId,
    phase,
    maxProtectedNodes: license.maxProtectedNodes,
    validUntil: new Date(license.validUntilMs).toISOString(),
    graceUntil: new Date(license.graceUntilMs).toISOString(),
  };
  if (phase === 'grace' || phase === 'expired') {
    logger.warn(fields, 'the license is past its validity');
  } else logger.info(fields, 'the license is in force');
}
