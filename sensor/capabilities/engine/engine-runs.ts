// The processes of the engine: the one that runs, and a newer build that is tried beside it. A process says hello and
// alive on its standard output and stops when its standard input ends. decision: D50
import { ENGINE_STOP_TIMEOUT_MS } from '../../../machines/limits.ts';
import type { EngineBuild } from '../../../machines/sensor/engine.rules.ts';
import type { Parts } from '../../actors/parts.ts';
import type { EngineLaunch, EngineRun } from '../../engine/engine-launcher.ts';
import type { LastTold } from '../../engine/engine-run.ts';
import type { PolicyKeeper } from '../policy/policies.ts';
import { countGap, createLossCounter } from './engine-losses.ts';
import { type EngineMessage, engineMessageOf, helloOf, lastToldOf } from './engine-messages.ts';

export type EngineParts = Pick<
  Parts,
  'config' | 'logger' | 'clock' | 'monotonicNow' | 'seed' | 'facts' | 'onCrash' | 'ports'
> &
  Partial<Pick<Parts, 'machines'>>;
type Hello = ReturnType<typeof helloOf>;
/** What the machine of the engine has to hear. */
export type EngineNews =
  | { readonly type: 'engine.ready' | 'next.ready'; readonly hello: Hello }
  | { readonly type: 'engine.alive'; readonly memoryBytes: number }
  | { readonly type: 'next.attached' };
export type EngineRuns = {
  /** Answers whether a lesser engine could take the place of the one that was laid out. */
  unpack(): Promise<boolean>;
  /** Resolves with how it ended, or with how the build that took its place did. */
  run(signal: AbortSignal): Promise<string>;
  /** Resolves with how the newer build ended; rejects with why it cannot be started. */
  runNext(build: EngineBuild, signal: AbortSignal): Promise<string>;
  letGo(): void;
  accept(): void;
  /** Ends whatever runs: the input first, and by force what does not end by itself. */
  stop(): Promise<void>;
};
/** A newer build on its way. */
type Trial = {
  run: EngineRun | null;
  isAccepted: boolean;
  /** The one before has ended, and said what it told last. */
  readonly letGo: PromiseWithResolvers<LastTold>;
  readonly accepted: PromiseWithResolvers<EngineRun>;
};

const NOTHING_TOLD: LastTold = { until: 0 };

/** Runs engines into one export; `send` hears of what they say. */
export function createEngineRuns(
  parts: EngineParts,
  exportFile: string,
  policies: PolicyKeeper,
  send: (news: EngineNews) => void,
): EngineRuns {
  const { config, logger, facts } = parts;
  const launcher = parts.ports.engine;
  const live = new Set<EngineRun>();
  const successors = new WeakMap<EngineRun, Promise<EngineRun>>();
  const lastTold = new WeakMap<EngineRun, LastTold>();
  let current: EngineRun | null = null;
  let trial: Trial | null = null;
  let ending: Promise<void> = Promise.resolve();
  // What is laid out now: nothing is written any more once the engine has stopped.
  let placing: Promise<unknown> = Promise.resolve();

  function place<T>(begun: Promise<T>): Promise<T> {
    placing = Promise.all([placing, begun.catch(() => undefined)]);
    return begun;
  }

  function start(launch: (options: EngineLaunch) => EngineRun, isPreemptRt: boolean): EngineRun {
    const countLost = createLossCounter(facts);
    const own = launch({
      exportFile,
      nodeName: config.nodeName,
      ...policies.given,
      onLine: (line) => {
        const message = engineMessageOf(line);
        if (message === null) return;
        countLost(message);
        void hear(message, isPreemptRt, own);
      },
      onGap: (gap) => countGap(parts, gap),
      onErrorLine: (line) => logger.warn({ line: line.slice(0, 500) }, 'the engine says'),
    });
    live.add(own);
    void own.gone.then(() => live.delete(own));
    return own;
  }

  async function hear(message: EngineMessage, isPreemptRt: boolean, own: EngineRun): Promise<void> {
    const isNext = own === trial?.run;
    const isHello = typeof message['engine'] === 'string';
    const told = lastToldOf(message);
    if (told !== null) lastTold.set(own, told);
    // With its hello it becomes the current one, whose messages on policies count from then on.
    if (isNext && isHello) {
      send({ type: 'next.ready', hello: helloOf(message, isPreemptRt, launcher.passedOver()) });
    }
    if (own === current) policies.hear(message);
    if (isNext) {
      if (!isHello && message['attached'] !== undefined) send({ type: 'next.attached' });
    } else if (isHello) {
      send({ type: 'engine.ready', hello: helloOf(message, isPreemptRt, launcher.passedOver()) });
    } else if (message['alive'] !== undefined) {
      const memoryBytes = (await own.memoryBytes()) ?? 0;
      if (own === current) send({ type: 'engine.alive', memoryBytes });
    }
  }

  async function run(signal: AbortSignal): Promise<string> {
    await stop();
    if (signal.aborted) return 'stopped';
    const isPreemptRt = await launcher.isPreemptRt();
    let own = start((options) => launcher.launch(options), isPreemptRt);
    current = own;
    policies.useEngine(own);
    // One that hangs or holds too much does not wait for the next start.
    signal.addEventListener('abort', () => void stop(), { once: true });
    for (;;) {
      const how = await own.gone;
      const successor = successors.get(own);
      if (successor === undefined) return how;
      own = await successor;
    }
  }

  async function runNext(build: EngineBuild, signal: AbortSignal): Promise<string> {
    const own: Trial = {
      run: null,
      isAccepted: false,
      letGo: Promise.withResolvers(),
      accepted: Promise.withResolvers(),
    };
    trial = own;
    const next = await place(launcher.prepareNext(build));
    const isPreemptRt = await launcher.isPreemptRt();
    if (signal.aborted) return 'stopped';
    if (!next.isBeside) {
      send({ type: 'next.attached' });
      await own.letGo.promise;
      if (signal.aborted) return 'stopped';
    }
    const started = start(next.launch, isPreemptRt);
    own.run = started;
    // The effects of the transition that ends this come first, and one of them may be that it was accepted.
    const leave = (): void => {
      if (!own.isAccepted) void end(started);
    };
    signal.addEventListener('abort', () => queueMicrotask(leave), { once: true });
    if (next.isBeside) {
      void own.letGo.promise.then((told) => started.takeOver?.(told));
    }
    return started.gone;
  }

  function letGo(): void {
    const [own, next] = [current, trial];
    if (own === null || next === null) return;
    successors.set(own, next.accepted.promise);
    void end(own).then(() => next.letGo.resolve(lastTold.get(own) ?? NOTHING_TOLD));
  }

  function accept(): void {
    const [next, own] = [trial, trial?.run ?? null];
    if (next === null || own === null) return;
    next.isAccepted = true;
    trial = null;
    current = own;
    next.accepted.resolve(own);
    policies.useEngine(own);
    // They may have changed since it read them.
    own.readPolicies?.();
    place(launcher.acceptNext()).catch((error: unknown) =>
      logger.warn({ reason: String(error) }, 'the newer engine runs from where it was tried'),
    );
  }

  // Ends the input, waits, and kills what does not end by itself.
  async function end(own: EngineRun): Promise<void> {
    if (own.hasEnded()) return;
    own.endInput();
    const timer = parts.clock.setTimeout(() => own.kill(), ENGINE_STOP_TIMEOUT_MS);
    await own.gone;
    parts.clock.clearTimeout(timer);
  }

  function stop(): Promise<void> {
    ending = ending.then(async () => {
      current = null;
      trial = null;
      await placing;
      await Promise.all([...live].map(end));
    });
    return ending;
  }

  return {
    unpack: () => place(launcher.unpack()),
    run,
    runNext,
    letGo,
    accept,
    stop,
  };
}
