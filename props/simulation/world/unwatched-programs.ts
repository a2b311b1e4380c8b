// Programs of a host that begin while no process of its engine watches. The next one counts them by the kernel's own counts.
import type { World } from './world.ts';

export type UnwatchedPrograms = {
  /** From now on nobody watches. */
  begin(): void;
  /** Somebody watches again; answers how many began meanwhile, which the checkers are told, and what is owed. */
  end(): number;
  /** What the process that ended had counted and could not tell; the next one tells it. */
  owe(count: number): void;
  /** The power went: nothing began without it, and a machine that starts counts anew. */
  forget(): void;
};

/** They begin as often as events happen when nothing special does; what is drawn is of its own. */
export function createUnwatchedPrograms(
  world: World,
  node: string,
  meanMs: number,
): UnwatchedPrograms {
  const random = world.random.fork(`engine/${node}/unwatched`);
  let sinceMs: number | null = null;
  let owed = 0;
  return {
    begin() {
      sinceMs = world.scheduler.now();
    },
    end() {
      const forMs = sinceMs === null ? 0 : world.scheduler.now() - sinceMs;
      sinceMs = null;
      const before = owed;
      owed = 0;
      let count = 0;
      if (forMs === 0) return before;
      for (let at = random.exponential(meanMs); at < forMs; at += random.exponential(meanMs)) {
        count += 1;
      }
      if (count > 0) world.observe({ kind: 'programs.unwatched', node, count });
      return before + count;
    },
    owe(count) {
      owed += count;
    },
    forget() {
      sinceMs = null;
      owed = 0;
    },
  };
}
