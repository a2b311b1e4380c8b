// Fills the supervisor's effects with one launcher and hands out where its store answers. decision: D7
import { type ActorOptions, createActor, fromPromise, waitFor } from 'xstate';
import {
  type StoreProbeOutcome,
  type StoreProcessActorRef,
  type StoreStartOutcome,
  storeProcessMachine,
} from '../../machines/console/runtime/store-process.machine.ts';
import { storeReasonOf } from '../../machines/console/runtime/store-process.rules.ts';
import { STORE_PROBE_INTERVAL_MS, STORE_STOP_TIMEOUT_MS } from '../../machines/limits.ts';
import type { EmbeddedLogger, RunningStore, StoreLauncher } from './store-launcher.ts';

type StoreClock = NonNullable<ActorOptions<typeof storeProcessMachine>['clock']>;
type StoreEnd = { readonly atMs: number; readonly reason: string };

export type StoreSupervisionOptions<Endpoint> = {
  readonly launcher: StoreLauncher<Endpoint>;
  readonly clock: StoreClock;
  readonly logger: EmbeddedLogger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly intervals?: { readonly STORE_PROBE_INTERVAL_MS: number };
};

export type SupervisedStore<Endpoint> = {
  readonly actor: StoreProcessActorRef;
  /** Resolves when the store answers; rejects with the reason when it failed for good or was stopped. */
  ready(): Promise<Endpoint>;
  /** Where it answers now; null while it does not. */
  current(): Endpoint | null;
  state(): string;
  pid(): number | null;
  /** Ends the store in order. Resolves when nothing runs any more; idempotent. */
  stop(): Promise<void>;
};

/** Starts a store and keeps it running until it is stopped. */
export function superviseStore<Endpoint>(
  options: StoreSupervisionOptions<Endpoint>,
): SupervisedStore<Endpoint> {
  const { launcher } = options;
  const effects = storeEffects(options);
  const probeIntervalMs = options.intervals?.STORE_PROBE_INTERVAL_MS ?? STORE_PROBE_INTERVAL_MS;
  const actor = createActor(
    storeProcessMachine.provide({ actors: effects.actors, delays: { probeIntervalMs } }),
    { clock: options.clock, input: { atMs: options.now() } },
  );
  logStates(actor, options);
  actor.start();
  return {
    actor,
    current: () =>
      actor.getSnapshot().hasTag('usable') ? (effects.running()?.endpoint ?? null) : null,
    state: () => stateOf(actor.getSnapshot().value),
    pid: () => effects.running()?.pid ?? null,
    async ready() {
      const snapshot = await waitFor(
        actor,
        (one) => one.hasTag('usable') || one.hasTag('given-up') || one.status !== 'active',
      );
      const endpoint = effects.running()?.endpoint;
      if (snapshot.hasTag('usable') && endpoint !== undefined) return endpoint;
      const reason = snapshot.context.reason ?? 'it was stopped';
      throw new Error(`the embedded ${launcher.name} does not run: ${reason}`);
    },
    async stop() {
      actor.send({ type: 'store.stop' });
      await waitFor(actor, (one) => one.status !== 'active');
    },
  };
}

// A start that was given up may still be cleaning up: whatever comes next waits for it, so two servers never meet.
function storeEffects<Endpoint>({ launcher, now, logger }: StoreSupervisionOptions<Endpoint>) {
  let running: RunningStore<Endpoint> | null = null;
  let launching: Promise<unknown> = Promise.resolve();

  async function startStore(signal: AbortSignal): Promise<StoreStartOutcome> {
    await launching;
    if (signal.aborted) return { isStarted: false, atMs: now(), reason: 'the start was given up' };
    // Whatever an earlier try left behind is ended first.
    await running?.stop(STORE_STOP_TIMEOUT_MS);
    running = null;
    const launch = launcher.start(signal).then((store) => {
      running = store;
      return store;
    });
    launching = launch.catch(() => undefined);
    try {
      const { pid, adopted } = await launch;
      logger.info({ store: launcher.name, pid, adopted }, 'an embedded store answers');
      return { isStarted: true, atMs: now() };
    } catch (error) {
      return { isStarted: false, atMs: now(), reason: storeReasonOf(error) };
    }
  }

  async function watchStore(): Promise<StoreEnd> {
    const watched = running;
    const exit = await watched?.exited;
    if (running === watched) running = null;
    const how = exit?.signal ?? `code ${exit?.code ?? 'unknown'}`;
    return { atMs: now(), reason: `the process ended (${how})` };
  }

  async function stopStore(): Promise<void> {
    await launching;
    const ending = running;
    await ending?.stop(STORE_STOP_TIMEOUT_MS);
    if (running === ending) running = null;
  }

  return {
    running: () => running,
    actors: {
      startStore: fromPromise<StoreStartOutcome, undefined>(({ signal }) => startStore(signal)),
      watchStore: fromPromise<StoreEnd, undefined>(() => watchStore()),
      stopStore: fromPromise<void, undefined>(() => stopStore()),
      probeStore: fromPromise<StoreProbeOutcome, undefined>(async () => ({
        isAnswering: (await running?.probe()) ?? false,
        atMs: now(),
      })),
    },
  };
}

function logStates(
  actor: StoreProcessActorRef,
  { launcher, logger }: StoreSupervisionOptions<unknown>,
): void {
  let shown = '';
  actor.subscribe({
    next: ({ value, context }) => {
      const state = stateOf(value);
      if (state === shown) return;
      shown = state;
      const fields = { store: launcher.name, state, reason: context.reason };
      if (state === 'failed') logger.error(fields, 'an embedded store failed for good');
      else if (state === 'backing-off') logger.warn(fields, 'an embedded store is started again');
      else logger.info(fields, 'an embedded store changed its state');
    },
    error: (error) => {
      const fields = { store: launcher.name, reason: storeReasonOf(error) };
      logger.error(fields, 'the supervisor of an embedded store failed');
    },
  });
}

function stateOf(value: unknown): string {
  return typeof value === 'string' ? value : 'ready';
}
