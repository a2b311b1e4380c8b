// The builds of a simulated host's engine: which one the Sensor's program carries, what is wrong with it, and what a
// Sensor does with it in one life. decision: D50
import type { EngineBuild } from '../../../machines/sensor/engine.rules.ts';
import type {
  EngineLaunch,
  EngineLauncher,
  EngineRun,
} from '../../../sensor/engine/engine-launcher.ts';
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
  partFor(
    life: Life,
    launch: (asked: EngineLaunch, own: SimulatedBuild, isBeside: boolean) => EngineRun,
  ): BuildsOfLife;
};
type BuildsOfLife = Pick<
  EngineLauncher,
  'launch' | 'look' | 'prepareNext' | 'acceptNext' | 'refuseNext'
> & {
  /** Decides which build the next start is of. */
  choose(): void;
};

/** Makes the builds of a host, the first one good. */
export function createBuilds(node: string): SimulatedBuilds {
  let count = 0;
  let carried = make('good');

  function make(how: BuildKind): SimulatedBuild {
    count += 1;
    return { how, build: { sum: `${node}/${count}`, name: `engine ${count}` } };
  }

  function replace(how: BuildKind): void {
    carried = make(how);
  }

  return {
    carried: () => carried,
    areSeveral: () => count > 1,
    replace,
    heal() {
      if (carried.how !== 'good') replace('good');
    },
    partFor(life, launch) {
      let running: SimulatedBuild | null = null;
      let next: SimulatedBuild | null = null;
      let refused: { readonly sum: string; readonly before: SimulatedBuild } | null = null;
      return {
        choose() {
          running = refused?.sum === carried.build.sum ? refused.before : carried;
        },
        launch: (asked) => launch(asked, running ?? carried, false),
        async look() {
          if (running === null) return { state: 'unready' };
          if (running.build.sum === carried.build.sum) return { state: 'current' };
          return { state: 'newer', build: carried.build, running: running.build };
        },
        prepareNext: ({ sum }) =>
          life.call('engine.prepareNext', () => {
            const own = carried;
            if (own.build.sum !== sum) throw new Error('it was replaced by yet another build');
            if (own.how === 'unfit') throw new Error('the kernel does not take it');
            next = own;
            return { isBeside: true, launch: (asked) => launch(asked, own, true) };
          }),
        async acceptNext() {
          [running, next, refused] = [next ?? running, null, null];
          await life.call('engine.acceptNext', () => undefined);
        },
        refuseNext({ sum }) {
          if (running !== null) refused = { sum, before: running };
        },
      };
    },
  };
}
