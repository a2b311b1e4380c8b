// The engine's actor with engines that only speak: who is asked to end, and when, while one follows another.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { ENGINE_FALLBACK_FAILURES } from '../../../machines/limits.ts';
import type { EngineRefusal } from '../../../machines/sensor/engine.rules.ts';
import { emptyFacts } from '../../actors/facts.ts';
import type { EngineLaunch, EngineLauncher, EngineRun } from '../../engine/engine-launcher.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { startEngine } from './engine.actor.ts';

type Engine = {
  readonly name: string;
  readonly deeds: string[];
  say(word: object): void;
  end(how: string): void;
};
const TAKE_OVER = 'take over after 42, told since 40: one two';
const HELLO = { engine: 'ebpf', version: '1.7.0', mode: 'ring', disabled_hooks: [] };
const build = (sum: string) => ({ kind: 'ebpf', sum, name: `ebpf (${sum})` });

let facts = emptyFacts();
let engines: Engine[] = [];
let carried = 'a';
let isBeside = true;
let broken: string | null = null;
let unplaced: string | null = null;
let kind: 'ebpf' | 'procfs' | 'tetragon' = 'ebpf';
let hasFallback = false;
let passedOver: { hook: string; reason: string }[] = [];
let looks = 0;
let told: string[] = [];
let known: readonly EngineRefusal[] = [];
let actor: ReturnType<typeof startEngine>;
let clock = createWheelClock();

/** Runs until it is told to end, and notes what it is told. */
function launch(name: string, { onLine }: EngineLaunch): EngineRun {
  let hasEnded = false;
  const { promise: gone, resolve } = Promise.withResolvers<string>();
  const engine: Engine = {
    name,
    deeds: [],
    say: (word) => onLine(JSON.stringify(word)),
    end(how) {
      hasEnded = true;
      resolve(how);
    },
  };
  engines.push(engine);
  return {
    gone,
    hasEnded: () => hasEnded,
    memoryBytes: async () => 1,
    endInput() {
      engine.deeds.push('asked');
      engine.say({ told_until: 42, told_since: 40, told_last: 'one two' });
      engine.end('it ended with 0');
    },
    kill: () => engine.end('it ended with SIGKILL'),
    takeOver: ({ until, events }) =>
      engine.deeds.push(`take over after ${until}, told since ${events?.since}: ${events?.names}`),
    readPolicies: () => engine.deeds.push('policies'),
  };
}

function makeLauncher(): EngineLauncher {
  let running = carried;
  let next = carried;
  return {
    async unpack() {
      if (unplaced !== null) throw new Error(unplaced);
      return hasFallback;
    },
    fallBack(reason) {
      passedOver = [{ hook: `engine/${kind}`, reason: `given up: ${reason}` }];
      kind = 'procfs';
    },
    launch: (asked) => launch(running, asked),
    kind: () => kind,
    passedOver: () => passedOver,
    isPreemptRt: async () => false,
    async look() {
      looks += 1;
      return running === carried
        ? { state: 'current' }
        : { state: 'newer', build: build(carried), running: build(running) };
    },
    async prepareNext({ sum }) {
      if (broken !== null) throw new Error(broken);
      next = sum;
      return { isBeside, launch: (asked) => launch(sum, asked) };
    },
    async acceptNext() {
      running = next;
      told.push(`accepted ${next}`);
    },
    refuseNext: ({ sum }) => void told.push(`refused ${sum}`),
    recall: () => undefined,
    trials: () => [],
    refusals: () => known,
  };
}

async function met(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((resolve) => setTimeout(resolve, 2));
}
const engine = (at: number): Engine => {
  const found = engines[at];
  if (found === undefined) throw new Error(`engine ${at} was not started`);
  return found;
};
const refusal = () =>
  facts.engine.disabled_hooks.find(({ hook }) => hook === 'engine/upgrade')?.reason;

beforeEach(() => {
  facts = emptyFacts();
  [engines, told, known, carried, isBeside, broken] = [[], [], [], 'a', true, null];
  [unplaced, kind, hasFallback, passedOver] = [null, 'ebpf', false, []];
});
afterEach(async () => {
  await stop();
  clock.stop();
});
function begin(): void {
  clock = createWheelClock();
  const parts = {
    config: {
      stateDir: '/nowhere',
      nodeName: 'n1',
      intervals: {
        ...DEFAULT_INTERVALS,
        ...{ ENGINE_UPGRADE_LOOK_MS: 20, ENGINE_RESTART_BACKOFF_MIN_MS: 1 },
      },
    },
    ...{ logger: silentLogger, clock, facts, seed: 1, monotonicNow: () => 0 },
    onCrash: (_: string, error: unknown) => {
      throw error;
    },
    ports: { engine: makeLauncher(), files: diskFiles },
  };
  const policies = {
    file: 'f',
    useEngine: () => undefined,
    hear: () => undefined,
    loaded: () => [],
  };
  actor = startEngine(parts as never, 'events.log', policies as never, () => undefined);
}
async function beginRunning(): Promise<void> {
  begin();
  await met(() => engines.length === 1);
  engine(0).say(HELLO);
  await met(() => facts.engine.state === 'running');
}
async function stop(): Promise<void> {
  if (actor.getSnapshot().status === 'done') return;
  actor.send({ type: 'stop.requested' });
  await met(() => actor.getSnapshot().status === 'done');
}

describe('engine actor, when another build is carried', () => {
  beforeEach(beginRunning);

  it('should ask the one that runs to end only when the other is attached, and then tell it so', async () => {
    carried = 'b';
    await met(() => engines.length === 2);
    engine(1).say({ alive: 1 });
    expect(engine(0).deeds).toEqual([]);
    engine(1).say({ attached: 3 });
    await met(() => engine(1).deeds.includes(TAKE_OVER));
    expect(engine(0).deeds).toEqual(['asked']);
    engine(1).say({ ...HELLO, version: '1.7.1' });
    await met(() => told.includes('accepted b'));
    expect(engine(1).deeds).toEqual([TAKE_OVER, 'policies']);
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0, version: '1.7.1' });
    await stop();
    expect(engine(1).deeds.at(-1)).toBe('asked');
  });

  it('should start the other when the one before is gone, where two cannot run', async () => {
    isBeside = false;
    carried = 'b';
    await met(() => engines.length === 2);
    expect(engine(0).deeds).toEqual(['asked']);
    engine(1).say(HELLO);
    await met(() => told.includes('accepted b'));
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0 });
  });

  it('should go on with the one that runs when the other ends, and say why', async () => {
    carried = 'b';
    await met(() => engines.length === 2);
    engine(1).end('it ended with 3');
    await met(() => refusal() !== undefined);
    expect(refusal()).toBe('ebpf (b) did not take over: it ended with 3');
    expect([told, engine(0).deeds]).toEqual([['refused b'], []]);
    expect(facts.engine).toMatchObject({ state: 'running', restarts: 0 });
    carried = 'a';
    await met(() => refusal() === undefined);
    expect(engines).toHaveLength(2);
  });

  it('should not start what cannot be prepared', async () => {
    broken = 'the kernel does not take it';
    carried = 'b';
    await met(() => refusal() !== undefined);
    expect(refusal()).toMatch(/the kernel does not take it$/);
    expect(engines).toHaveLength(1);
  });

  it('should say what an earlier Sensor refused, and not try it', async () => {
    await stop();
    clock.stop();
    engines = [];
    facts = emptyFacts();
    known = [{ build: build('b'), reason: 'it ended with 3' }];
    await beginRunning();
    expect(refusal()).toBe('ebpf (b) did not take over: it ended with 3');
    carried = 'b';
    const enough = looks + 3;
    await met(() => looks >= enough);
    expect(engines).toHaveLength(1);
    carried = 'c';
    await met(() => engines.length === 2);
  });

  it('should end both when it is stopped meanwhile', async () => {
    carried = 'b';
    await met(() => engines.length === 2);
    await stop();
    expect([engine(0).deeds, engine(1).deeds]).toEqual([['asked'], ['asked']]);
  });
});

describe('engine actor, when no engine says hello', () => {
  it('should name the one that was asked for, and why it cannot be put in place', async () => {
    [kind, unplaced] = ['tetragon', 'the disk is full'];
    begin();
    await met(() => facts.engine.restarts > 0);
    expect(facts.engine).toMatchObject({
      kind: 'tetragon',
      disabled_hooks: [{ hook: 'engine/tetragon', reason: 'the disk is full' }],
    });
    expect(facts.engine).not.toHaveProperty('mode');
  });

  it('should tell once why the one that was asked for was passed over', async () => {
    [kind, unplaced] = ['tetragon', 'engine/tetragon: this kernel has no kprobes'];
    passedOver = [{ hook: 'engine/tetragon', reason: 'this kernel has no kprobes' }];
    begin();
    await met(() => facts.engine.restarts > 0);
    expect(facts.engine.disabled_hooks).toEqual(passedOver);
  });

  it('should tell how the chosen one ended, beside what was passed over, until it runs', async () => {
    passedOver = [{ hook: 'engine/tetragon', reason: 'no bundle is named' }];
    begin();
    await met(() => engines.length === 1);
    expect(facts.engine).toMatchObject({ kind: 'ebpf', disabled_hooks: passedOver });
    engine(0).end('it ended with 3');
    await met(() => engines.length === 2);
    const [tetragon] = passedOver;
    expect(facts.engine.disabled_hooks).toEqual([
      { hook: 'engine/ebpf', reason: 'it ended with 3' },
      tetragon,
    ]);
    engine(1).say(HELLO);
    await met(() => facts.engine.state === 'running');
    expect(facts.engine).toMatchObject({ kind: 'ebpf', mode: 'ring' });
    expect(JSON.stringify(facts.engine.disabled_hooks)).not.toContain('engine/ebpf');
  });

  it('should tell why one that said hello once does not run any more', async () => {
    begin();
    await met(() => engines.length === 1);
    engine(0).say(HELLO);
    await met(() => facts.engine.state === 'running');
    engine(0).end('it ended with SIGSEGV');
    await met(() => engines.length === 2);
    expect(facts.engine.disabled_hooks).toEqual([
      { hook: 'engine/ebpf', reason: 'it ended with SIGSEGV' },
    ]);
  });

  it('should not lay the failures of one engine at the door of the next', async () => {
    hasFallback = true;
    begin();
    for (let at = 0; at < ENGINE_FALLBACK_FAILURES; at += 1) {
      await met(() => engines.length === at + 1);
      engine(at).end('it ended with 3');
    }
    await met(() => engines.length === ENGINE_FALLBACK_FAILURES + 1);
    expect(facts.engine).toMatchObject({
      kind: 'procfs',
      disabled_hooks: [{ hook: 'engine/ebpf', reason: 'given up: it ended with 3' }],
    });
  });
});
