// The builds of a simulated host's engine: which one the Sensor's program carries, what is wrong with it, and what a
// Sensor does with it in one life. decision: D50
import { createHash } from 'node:crypto';
import type { EngineBuild, EngineRefusal } from '../../../machines/sensor/engine.rules.ts';
import {
  beginTrial,
  type EngineTrial,
  type KeptEngine,
  refusalOf,
} from '../../../machines/sensor/engine-trials.rules.ts';
import type {
  EngineLaunch,
  EngineLauncher,
  EngineRun,
} from '../../../sensor/engine/engine-launcher.ts';
import type { EngineFiles } from './engine-files.ts';
import type { Life } from './life.ts';

/**
 * good: runs. unfit: the kernel does not take it. ends: at once. mute: it never says anything. stalls: it attaches and
 * says no more. dies: it attaches and ends when it is alone.
 */
export const BUILD_KINDS = ['good', 'unfit', 'ends', 'mute', 'stalls', 'dies'] as const;
export type BuildKind = (typeof BUILD_KINDS)[number];
export type SimulatedBuild = { readonly build: EngineBuild; readonly how: BuildKind };
export type SimulatedBuilds = {
  carried(): SimulatedBuild;
  /** Whether it was ever replaced. */
  areSeveral(): boolean;
  replace(how: BuildKind): void;
  heal(): void;
  /** What the launcher of one life does about them. */
  partFor(options: LifeOptions): BuildsOfLife;
};
type LifeOptions = {
  readonly life: Life;
  launch(asked: EngineLaunch, own: SimulatedBuild, isBeside: boolean): EngineRun;
  readonly files: EngineFiles;
};
type BuildsOfLife = Pick<
  EngineLauncher,
  'launch' | 'look' | 'prepareNext' | 'acceptNext' | 'refuseNext' | 'recall' | 'trials' | 'refusals'
> & {
  /** Puts the build in place that the next start is of. */
  choose(): void;
};

const KIND = 'procfs';

/** Makes the builds of a host, the first one good. */
export function createBuilds(node: string): SimulatedBuilds {
  const bySum = new Map<string, SimulatedBuild>();
  let carried = make('good');

  function make(how: BuildKind): SimulatedBuild {
    const count = bySum.size + 1;
    const sum = createHash('sha256').update(`${node}/${count}`).digest('hex');
    const own = { how, build: { kind: KIND, sum, name: `engine ${count}` } };
    bySum.set(sum, own);
    return own;
  }

  function replace(how: BuildKind): void {
    carried = make(how);
  }

  return {
    carried: () => carried,
    areSeveral: () => bySum.size > 1,
    replace,
    heal() {
      if (carried.how !== 'good') replace('good');
    },
    partFor({ life, launch, files }) {
      let running: SimulatedBuild | null = null;
      let next: SimulatedBuild | null = null;
      let trial: EngineTrial | null = null;
      let refused: EngineRefusal | null = null;
      const kept = (): KeptEngine | null => {
        if (running === null) return null;
        const { build } = running;
        return { build, files: [{ name: 'procfs-engine.ts', sum: build.sum }] };
      };
      return {
        recall(trials) {
          files.recall();
          trial = trials.find(({ build }) => build.kind === KIND) ?? null;
        },
        trials: () => (trial === null ? [] : [trial]),
        refusals() {
          const known = refused ?? (trial === null ? null : refusalOf(trial));
          return known === null ? [] : [known];
        },
        choose() {
          const before = trial?.build.sum === carried.build.sum ? trial.kept?.build.sum : undefined;
          const isThere = before !== undefined && files.inPlace() === before;
          running = (isThere ? bySum.get(before) : undefined) ?? carried;
          files.place(running.build.sum, bySum.size > 1);
          if (!isThere) [trial, refused] = [null, null];
        },
        launch: (asked) => launch(asked, running ?? carried, false),
        async look() {
          if (running === null) return { state: 'unready' };
          const { build } = carried;
          if (trial?.build.sum !== build.sum) trial = null;
          if (refused?.build.sum !== build.sum) refused = null;
          if (running.build.sum === build.sum) return { state: 'current' };
          return { state: 'newer', build, running: running.build };
        },
        prepareNext: ({ sum }) =>
          life.call('engine.prepareNext', () => {
            const own = carried;
            if (own.build.sum !== sum) throw new Error('it was replaced by yet another build');
            if (own.how === 'unfit') throw new Error('the kernel does not take it');
            next = own;
            trial = beginTrial(trial ?? undefined, own.build, kept());
            return { isBeside: true, launch: (asked) => launch(asked, own, true) };
          }),
        async acceptNext() {
          [running, next, trial, refused] = [next ?? running, null, null, null];
          const own = running ?? carried;
          await life.call('engine.acceptNext', () => files.place(own.build.sum, true));
        },
        refuseNext(build, reason) {
          next = null;
          refused = { build, reason };
          const trials = trial?.build.sum === build.sum ? trial.trials : 0;
          trial = { build, reason, trials, kept: kept() };
        },
      };
    },
  };
}
