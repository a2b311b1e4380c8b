// Starts the engine as a process of its own, and a newer build of it beside the one that runs. What its lines mean, when
// it is started again and which build is refused is not decided here.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type EngineBuild,
  type EngineRefusal,
  type HookReport,
  isUntried,
} from '../../machines/sensor/engine.rules.ts';
import {
  ENGINE_OUTLIVE_MAX_BYTES,
  ENGINE_OUTLIVE_MS,
} from '../../machines/sensor/engine-limits.ts';
import { refusalOf } from '../../machines/sensor/engine-trials.rules.ts';
import { CARRIED, ENTRY, type OwnKind } from './carried.ts';
import { betterThan, type EngineKind, type EngineWish, passedOverBy } from './choice.ts';
import { dryLoad } from './dry-load.ts';
import { type EbpfConfig, NO_EBPF_CONFIG } from './ebpf-config.ts';
import { type EbpfFlags, ebpfFlagsOf, unhonoured } from './ebpf-settings.ts';
import type { EngineLaunch, EngineRun, LastTold } from './engine-run.ts';
import {
  createUpgrades,
  type EngineLook,
  type NextEngine,
  type TrialKeeper,
} from './engine-upgrades.ts';
import { readKernel } from './kernel.ts';
import { createKindChanges } from './kind-change.ts';
import { type GivenUp, layOutAndChoose } from './lay-out.ts';
import { endOrphan } from './orphan.ts';
import { residentBytes } from './process-memory.ts';
import { createTetragon, NO_TETRAGON, type Tetragon } from './tetragon/tetragon.ts';
import { clearBeside } from './unpack.ts';

export type { EngineLaunch, EngineRun } from './engine-run.ts';
export type { EngineLook, NextEngine } from './engine-upgrades.ts';
export type EngineLauncher = TrialKeeper & {
  /**
   * Lays the engine out where it runs from and chooses; answers whether a lesser one could take its place. A build that
   * was refused is not laid out again: what ran before it is. Idempotent; rejects when the disk refuses.
   */
  unpack(): Promise<boolean>;
  /** From now on this build of the engine that was chosen last is passed over, until the Sensor starts again. */
  fallBack(reason: string): void;
  /** Starts it; asked only after `unpack`. A start that fails is a run that is gone at once. */
  launch(options: EngineLaunch): EngineRun;
  /** The engine that was chosen last; before any was, what was wished for. */
  kind(): EngineWish;
  /**
   * The better engines that do not run here, and what the configuration asks that the one that does cannot honour, each
   * with the reason; known after `unpack`, even one that rejected.
   */
  passedOver(): readonly HookReport[];
  /** Whether the kernel is a PREEMPT_RT one. Never rejects. */
  isPreemptRt(): Promise<boolean>;
  /** After an ordered stop: ends an engine that an earlier, killed Sensor left and nobody took over. Never rejects. */
  leave?(): Promise<void>;
  /**
   * Whether `unpack` would bring another build of the engine that runs, or, where it chooses freely, of a better one than
   * when that was passed over. Cheap while nothing changed; never rejects.
   */
  look(): Promise<EngineLook>;
  /** Lays this build, which the last look found, out beside the one that runs; rejects with why it cannot run here. */
  prepareNext(build: EngineBuild): Promise<NextEngine>;
  /** What was prepared last is the engine from now on; rejects when the disk refuses, and is the engine all the same. */
  acceptNext(): Promise<void>;
  /** This build is not brought any more; what ran when it was tried is. */
  refuseNext(build: EngineBuild, reason: string): void;
  /** The builds that are carried and not brought because they were refused. */
  refusals(): readonly EngineRefusal[];
};

export type LauncherOptions = {
  readonly tetragon?: Tetragon;
  /** Where the program carries its engines. */
  readonly carried?: URL;
  /** What is asked of the `ebpf` engine beyond what it does by itself. */
  readonly ebpf?: EbpfConfig;
};

/** Launches the best engine that works here, or the one wished for, as a child process. */
export function createEngineLauncher(
  stateDir: string,
  wish: EngineWish = 'auto',
  options: LauncherOptions = {},
): EngineLauncher {
  const { tetragon = createTetragon(stateDir, NO_TETRAGON), carried = CARRIED } = options;
  const { ebpf = NO_EBPF_CONFIG } = options;
  let settings: EbpfFlags = { flags: [], disabled: [] };
  let directory = '';
  let passedOver: readonly HookReport[] = [];
  let chosen: EngineKind | null = null;
  /** The kind that begins to run in place of another one. */
  let beginning: EngineKind | null = null;
  const follow = createKindChanges(stateDir);
  const givenUp = new Map<EngineKind, GivenUp>();
  /** In this life of the Sensor, for whatever reason; of each kind the last one. */
  const refused = new Map<string, EngineRefusal>();
  const upgrades = createUpgrades(
    stateDir,
    carried,
    (kind, place, isBeside) => (asked) =>
      launchProcess(kind, place, { ...asked, isBeside, ebpfFlags: settings.flags }),
  );
  const trials = () => [...tetragon.trials(), ...upgrades.trials()];

  function refusals(): readonly EngineRefusal[] {
    const byKind = new Map<string, EngineRefusal>();
    for (const trial of trials()) {
      const refusal = refusalOf(trial);
      if (refusal !== null) byKind.set(refusal.build.kind, refusal);
    }
    for (const [kind, refusal] of refused) byKind.set(kind, refusal);
    return candidatesOf(wish, chosen).flatMap((kind) => byKind.get(kind) ?? []);
  }

  async function lookAt(kind: EngineKind): Promise<EngineLook> {
    const running = chosen === 'tetragon' ? tetragon.running() : upgrades.running();
    const found = kind === 'tetragon' ? await tetragon.look() : await upgrades.look(kind);
    if (running === null) return { state: 'unready' };
    const isOther = typeof found !== 'string' && found.sum !== refused.get(kind)?.build.sum;
    if (found === 'current' || isOther) refused.delete(kind);
    return typeof found === 'string' ? { state: found } : { state: 'newer', build: found, running };
  }

  function launchAs(kind: EngineKind, asked: EngineLaunch): EngineRun {
    const followed = follow(kind, asked);
    if (kind === 'tetragon') return tetragon.launch(followed);
    return launchProcess(kind, directory, { ...followed, ebpfFlags: settings.flags });
  }

  return {
    recall(known) {
      upgrades.recall(known);
      tetragon.recall(known);
    },
    trials,
    refusals,
    async unpack() {
      await clearBeside(stateDir);
      beginning = null;
      const whyNotTetragon = async () => (await tetragon.whyNot()) ?? (await tetragon.prepare());
      const found = await layOutAndChoose(stateDir, wish, {
        whyNotTetragon,
        givenUp,
        carried,
        trials: upgrades.known,
      });
      ({ passedOver } = found.choice);
      if (!found.choice.ok) throw new Error(found.choice.reason);
      settings = await ebpfFlagsOf(ebpf);
      ({ directory } = found);
      chosen = found.choice.kind;
      upgrades.follow(chosen === 'tetragon' ? null : chosen, found.engines);
      if (chosen !== 'tetragon') await tetragon.clearAway();
      if (chosen !== 'ebpf') await endOrphan(stateDir);
      return found.choice.hasFallback;
    },
    fallBack(reason) {
      if (chosen === null) return;
      const sum = chosen === 'tetragon' ? null : (upgrades.running()?.sum ?? null);
      givenUp.set(chosen, { reason: `it failed again and again: ${reason}`, sum });
    },
    launch: (asked) => launchAs(chosen ?? 'procfs', asked),
    kind: () => beginning ?? chosen ?? wish,
    passedOver() {
      const better = beginning === null ? passedOver : passedOverBy(beginning, passedOver);
      const kind = beginning ?? chosen;
      if (kind === null) return better;
      return [...better, ...(kind === 'ebpf' ? settings.disabled : unhonoured(kind, ebpf))];
    },
    isPreemptRt: async () => (await readKernel()).preemptRt,
    leave: () => endOrphan(stateDir),
    async look() {
      let look: EngineLook = { state: 'unready' };
      for (const kind of candidatesOf(wish, chosen)) {
        look = await lookAt(kind);
        if (look.state === 'newer' && isUntried(refusals(), look.build)) return look;
      }
      return look;
    },
    async prepareNext(build) {
      settings = await ebpfFlagsOf(ebpf);
      const next =
        build.kind === 'tetragon'
          ? await tetragon.prepareNext(build)
          : await upgrades.prepare(build);
      if (build.kind === chosen) return next;
      return {
        isBeside: false,
        launch(asked) {
          beginning = kindOf(build);
          return next.launch(follow(beginning, asked));
        },
      };
    },
    async acceptNext() {
      const before = chosen;
      if (chosen !== null) refused.delete(beginning ?? chosen);
      if (beginning !== null) {
        passedOver = passedOverBy(beginning, passedOver);
        chosen = beginning;
        beginning = null;
        givenUp.delete(chosen);
      }
      if (chosen !== 'tetragon') {
        await upgrades.accept();
        return;
      }
      tetragon.acceptNext();
      if (before !== 'tetragon') upgrades.leave();
    },
    refuseNext(build, reason) {
      beginning = null;
      refused.set(build.kind, { build, reason });
      if (build.kind === 'tetragon') tetragon.refuseNext({ build, reason });
      else upgrades.refuse({ build, reason });
    },
  };
}

/** What may run in place of what runs now, best first. */
function candidatesOf(wish: EngineWish, chosen: EngineKind | null): readonly EngineKind[] {
  if (chosen === null) return [];
  return wish === 'auto' ? [...betterThan(chosen), chosen] : [chosen];
}

/** It goes on when this Sensor is killed, until the next one's engine takes over. decision: D51 */
const OUTLIVE = [
  '--outlive-ms',
  String(ENGINE_OUTLIVE_MS),
  '--outlive-bytes',
  String(ENGINE_OUTLIVE_MAX_BYTES),
];

const DRY_LOAD = '../dry-load';

function kindOf({ kind }: EngineBuild): EngineKind {
  return kind === 'tetragon' || kind === 'ebpf' ? kind : 'procfs';
}

function launchProcess(
  kind: OwnKind,
  directory: string,
  options: EngineLaunch & {
    readonly isBeside?: boolean;
    readonly ebpfFlags: readonly string[];
  },
): EngineRun {
  const { exportFile, nodeName, policyFile } = options;
  const carriesPolicies = kind === 'ebpf';
  const entry = join(directory, ENTRY[kind]);
  const [program, ...words] = kind === 'ebpf' ? [entry] : [process.execPath, entry];
  const flags = ['--export-filename', exportFile, '--node-name', nodeName];
  if (carriesPolicies && policyFile !== undefined) flags.push('--policy-file', policyFile);
  if (kind === 'ebpf') flags.push(...OUTLIVE, ...options.ebpfFlags);
  if (options.isBeside === true) flags.push('--beside');
  const child = spawn(program, [...words, ...flags, '--ignore-pid', String(process.pid)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const gone = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    // Its last words have been read by then.
    child.on('close', (code, killed) => resolve(`it ended with ${killed ?? code}`));
  });
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', options.onLine);
  createInterface({ input: child.stderr }).on('line', options.onErrorLine);
  const tell = (word: string): void => {
    if (child.stdin.writable) child.stdin.write(`${word}\n`);
  };
  return {
    gone,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    memoryBytes: () => residentBytes(child.pid),
    endInput: () => {
      // Without the word it would take this Sensor for one that died, and go on.
      child.stdin.end('end\n');
    },
    kill: () => {
      child.kill('SIGKILL');
    },
    ...(carriesPolicies
      ? {
          readPolicies: () => tell('policies'),
          tryPolicies: (text: string) => dryLoad(entry, join(dirname(exportFile), DRY_LOAD), text),
        }
      : { takeOver: (told: LastTold) => tell(handoverMessage(told)) }),
  };
}

/** The line with the events comes first: a build that does not know it goes by the time alone. */
function handoverMessage({ until, events }: LastTold): string {
  const last = events === undefined ? '' : `told since ${events.since}: ${events.names}\n`;
  return `${last}take over after ${until}`;
}
