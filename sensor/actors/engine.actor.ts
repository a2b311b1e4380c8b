// The effects of the engine machine: one subprocess that says hello and alive on its standard output and stops when its
// standard input ends.
import { fromPromise } from 'xstate';
import { ENGINE_STOP_TIMEOUT_MS } from '../../machines/limits.ts';
import { type EngineSnapshot, engineMachine } from '../../machines/sensor/engine.machine.ts';
import {
  type EngineHello,
  engineStateOf,
  type HookReport,
} from '../../machines/sensor/engine.rules.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import type { EngineRun } from '../engine/engine-launcher.ts';
import { isObject } from '../transport/answer.ts';
import { createLossCounter } from './engine-losses.ts';
import { type Parts, startActor } from './parts.ts';
import type { PolicyKeeper } from './policies.ts';

const HOOKS_MAX = 256;
const LINE_MAX_CHARS = 262_144;
type EngineParts = Pick<
  Parts,
  'config' | 'logger' | 'clock' | 'monotonicNow' | 'seed' | 'facts' | 'onCrash' | 'ports'
>;

/** Starts the engine's watch; `onChange` hears that its state or its number of restarts is another. */
export function startEngine(
  parts: EngineParts,
  exportFile: string,
  policies: PolicyKeeper,
  onChange: () => void,
) {
  const { config, logger, facts } = parts;
  const launcher = parts.ports.engine;
  let current: EngineRun | null = null;
  let ending: Promise<void> = Promise.resolve();
  let unpacking: Promise<unknown> = Promise.resolve();

  async function run(signal: AbortSignal): Promise<string> {
    await stop();
    if (signal.aborted) return 'stopped';
    const isPreemptRt = await launcher.isPreemptRt();
    const countLost = createLossCounter(facts);
    const own = launcher.launch({
      exportFile,
      nodeName: config.nodeName,
      policyFile: policies.file,
      onLine: (line) => {
        const word = wordOf(line);
        if (word === null) return;
        countLost(word);
        void hear(word, isPreemptRt, own);
      },
      onErrorLine: (line) => logger.warn({ line: line.slice(0, 500) }, 'the engine says'),
    });
    current = own;
    policies.useEngine(own);
    // One that hangs or holds too much does not wait for the next start.
    signal.addEventListener('abort', () => void stop(), { once: true });
    return own.gone;
  }

  async function hear(word: Word, isPreemptRt: boolean, own: EngineRun): Promise<void> {
    if (own === current) policies.hear(word);
    if (typeof word['engine'] === 'string') {
      actor.send({
        type: 'engine.ready',
        hello: helloOf(word, isPreemptRt, launcher.passedOver()),
      });
    } else if (word['alive'] !== undefined) {
      const memoryBytes = (await own.memoryBytes()) ?? 0;
      if (own === current) actor.send({ type: 'engine.alive', memoryBytes });
    }
  }

  // An unpacking that has begun is waited for: nothing is written any more once the engine has stopped.
  function unpack(): Promise<boolean> {
    const begun = launcher.unpack();
    unpacking = begun.catch(() => undefined);
    return begun;
  }

  // Ends the input, waits, and kills what does not end by itself.
  function stop(): Promise<void> {
    ending = ending.then(end);
    return ending;
  }

  async function end(): Promise<void> {
    await unpacking;
    const own = current;
    current = null;
    if (own === null || own.hasEnded()) return;
    own.endInput();
    const timer = parts.clock.setTimeout(() => own.kill(), ENGINE_STOP_TIMEOUT_MS);
    await own.gone;
    parts.clock.clearTimeout(timer);
  }

  const actor = startActor(
    parts,
    engineMachine.provide({
      actors: {
        unpackEngine: fromPromise<boolean, undefined>(unpack),
        runEngine: fromPromise<string, undefined>(({ signal }) => run(signal)),
        stopEngine: fromPromise<unknown, undefined>(stop),
        readClock: fromPromise<number, undefined>(async () => parts.monotonicNow()),
      },
      actions: {
        fallBack: (_, { reason }) => {
          logger.warn({ reason }, 'a lesser engine takes over');
          launcher.fallBack(reason);
        },
        tellLost: (_, { reason }) => logger.warn({ reason }, 'the engine is lost'),
        tellRunning: () => logger.info('the engine runs'),
      },
    }),
    {
      startTimeoutMs: config.intervals.ENGINE_START_TIMEOUT_MS,
      hangTimeoutMs: config.intervals.ENGINE_HANG_TIMEOUT_MS,
      minMs: config.intervals.ENGINE_RESTART_BACKOFF_MIN_MS,
      maxMs: config.intervals.ENGINE_RESTART_BACKOFF_MAX_MS,
      windowMs: config.intervals.ENGINE_RESTART_WINDOW_MS,
      seed: parts.seed,
    },
  );
  const tell = (snapshot: EngineSnapshot): void => {
    const before = facts.engine;
    const { hello, restarts } = snapshot.context;
    const value = snapshot.value;
    const state = typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
    facts.engine = {
      kind: hello?.kind ?? 'procfs',
      version: hello?.version ?? '1.7.0',
      state: engineStateOf(state, snapshot.hasTag('running')),
      restarts,
      disabled_hooks: [...(hello?.disabledHooks ?? [])],
      loaded_policies: snapshot.hasTag('running') ? policies.loaded() : [],
    };
    if (facts.engine.state !== before.state || restarts !== before.restarts) onChange();
  };
  actor.subscribe(tell);
  tell(actor.getSnapshot());
  return actor;
}

type Word = Readonly<Record<string, unknown>>;
function wordOf(line: string): Word | null {
  const parsed = line.length > LINE_MAX_CHARS ? null : parseJson(line);
  return parsed?.ok === true && isObject(parsed.value) ? parsed.value : null;
}

function helloOf(word: Word, isPreemptRt: boolean, passedOver: readonly HookReport[]): EngineHello {
  const listed = Array.isArray(word['disabled_hooks']) ? word['disabled_hooks'] : [];
  const hooks = listed.filter(isObject).map((one) => ({
    hook: String(one['hook']).slice(0, 256),
    reason: String(one['reason']).slice(0, 512),
  }));
  // The verifier of a PREEMPT_RT kernel refuses syscall kprobes with BPF_MODIFY_RETURN; everything else goes on.
  if (isPreemptRt) hooks.push({ hook: 'syscall_kprobes', reason: 'PREEMPT_RT kernel' });
  return {
    kind: String(word['engine']).slice(0, 32),
    version: String(word['version']).slice(0, 32),
    mode: String(word['mode']).slice(0, 32),
    disabledHooks: [...passedOver, ...hooks].slice(0, HOOKS_MAX),
  };
}
