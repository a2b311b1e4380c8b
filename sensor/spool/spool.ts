// The spool of a Sensor: one journal holds the events, the batches made of them, what was acknowledged and where the
// engine's export was read up to. Each call plans a change, writes it, and only then tells the machine; so what the
// machine knows is on the disk. invariant: I1, I5, I6; decision: D6, D13
import { type Actor, type AnyStateMachine, createActor, fromPromise } from 'xstate';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import {
  SPOOL_COMPACTION_MIN_BYTES,
  SPOOL_EVENTS_MAX,
  SPOOL_RETRY_MAX_MS,
  SPOOL_RETRY_MIN_MS,
} from '../../machines/limits.ts';
import { type RecoveredSpool, spoolMachine } from '../../machines/sensor/spool.machine.ts';
import { depth, openClaim, type SpoolState } from '../../machines/sensor/spool.rules.ts';
import type { MachineBook } from '../actors/machine-book.ts';
import { errorCode, type Files } from '../state-directory/file-port.ts';
import { createSpoolCalls } from './spool-calls.ts';
import type { OpenSpoolResult, Spool, SpoolStatus } from './spool-port.ts';
import { createSpoolStore } from './spool-store.ts';

export type SpoolOptions = {
  /** The journal's file; its directory exists and belongs to this process alone. */
  readonly path: string;
  readonly files: Files;
  readonly clock: WheelClock;
  /** The wall clock, for the hours of the loss ledger. */
  readonly now: () => number;
  readonly logger: Logger;
  /** 16 random bytes, asked once for a new stream_id. */
  readonly random: () => Uint8Array;
  /** Follows what its statechart does. */
  readonly machines?: MachineBook;
  readonly eventsMax?: number;
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
  readonly compactionMinBytes?: number;
};

/** Opens the spool and recovers what a crash left. Refused only when the disk does not let the journal be read. */
export async function openSpool(options: SpoolOptions): Promise<OpenSpoolResult> {
  const { files, path, random, logger } = options;
  const minBytes = options.compactionMinBytes ?? SPOOL_COMPACTION_MIN_BYTES;
  const store = createSpoolStore({ files, path, random, minBytes });
  const inTurn = createTurns();
  let lastError: unknown = null;

  const machine = spoolMachine.provide({
    actors: {
      recoverJournal: fromPromise<RecoveredSpool, undefined>(() =>
        inTurn(async () => {
          try {
            return { spool: await store.recover() };
          } catch (error) {
            lastError = error;
            logger.warn({ code: errorCode(error) }, 'the spool cannot be read');
            throw error;
          }
        }),
      ),
    },
  });
  const timers = options.machines?.timersOn(options.clock);
  const actor = createActor(machine, {
    clock: (timers?.clock ?? options.clock) as never,
    input: {
      eventsMax: options.eventsMax ?? SPOOL_EVENTS_MAX,
      retryMinMs: options.retryMinMs ?? SPOOL_RETRY_MIN_MS,
      retryMaxMs: options.retryMaxMs ?? SPOOL_RETRY_MAX_MS,
    },
  });
  const isOpen = new Promise<boolean>((resolve) => {
    actor.subscribe({
      next(snapshot) {
        if (snapshot.hasTag('serves')) resolve(true);
        else if (snapshot.matches('failing')) resolve(false);
      },
      error: (error) => logger.error({ error: String(error) }, 'the spool machine failed'),
    });
  });
  timers?.follow(actor.system);
  actor.start();
  if (timers !== undefined) {
    options.machines?.follow('spool', actor as unknown as Actor<AnyStateMachine>, timers);
  }
  if (!(await isOpen)) {
    actor.stop();
    await store.close();
    return { ok: false, reason: refusalOf(lastError), detail: String(lastError) };
  }

  const state = (): SpoolState => actor.getSnapshot().context.spool;
  const calls = createSpoolCalls({
    store,
    logger,
    inTurn,
    state,
    eventsMax: options.eventsMax ?? SPOOL_EVENTS_MAX,
    now: options.now,
    serves: () => actor.getSnapshot().hasTag('serves'),
    isClosed: () => actor.getSnapshot().status === 'done',
    changed: (changes) => actor.send({ type: 'journal.changed', changes }),
    refused(error) {
      logger.warn({ code: errorCode(error) }, 'the disk refused the spool');
      actor.send({ type: 'disk.refused' });
      return refusalOf(error);
    },
  });

  const spool: Spool = {
    streamId: store.streamId(),
    ...calls,
    openClaim(channel) {
      const claim = openClaim(state(), channel);
      return claim && { sequence: claim.sequence, events: claim.to - claim.from };
    },
    depth: () => depth(state()),
    discarded: () => state().discarded,
    ledger: () => state().ledger,
    cursor: store.cursor,
    status: () => ({
      state: stateName(actor.getSnapshot().value),
      depth: depth(state()),
      discarded: state().discarded,
      damaged: store.damaged(),
      journalBytes: store.bytes(),
    }),
    close: () =>
      inTurn(async () => {
        if (actor.getSnapshot().status === 'done') return;
        actor.send({ type: 'spool.close' });
        await store.close();
      }),
  };
  return { ok: true, spool };
}

function stateName(
  value: ReturnType<typeof spoolMachine.getInitialSnapshot>['value'],
): SpoolStatus['state'] {
  return typeof value === 'string' ? value : value.open;
}

function refusalOf(error: unknown): 'disk_full' | 'disk_refuses' {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'disk_refuses';
}

// Runs calls one after another; a failed one does not stop the next.
function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const mine = last.then(run, run);
    last = mine.catch(() => undefined);
    return mine;
  };
}
