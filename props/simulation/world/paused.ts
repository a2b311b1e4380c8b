// A process that gets no turn for a while, told to whoever watches.
import type { Life, TakenFirst } from './life.ts';
import type { World } from './world.ts';

const nothingToEnd = (): void => undefined;

/** Pauses the life a host has now, if it has one; what is given back lets it go on. */
export function pauseLife(world: World, life: Life | null, first: TakenFirst): () => void {
  if (life === null || !life.isAlive()) return nothingToEnd;
  const { host, incarnation } = life;
  const goOn = life.pause(first);
  world.observe({ kind: 'process.paused', host, incarnation });
  return () => {
    if (goOn()) world.observe({ kind: 'process.resumed', host, incarnation });
  };
}
