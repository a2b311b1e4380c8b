// Mistakes that show when a process gets no turn for a while.
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { FaultKind } from '../faults/kinds.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, QUICK_SILENCE } from './settings.ts';

const BEAT_MS = 1_000;
/** A world in which something happens all the time does not sleep, and half of the time the Console has its turns. */
const HARMLESS: readonly FaultKind[] = Array(9).fill('engine.rotate');

/** A wheel whose timers count beats, so that they wait for as long as the process ran. */
function countingBeats(wheel: WheelClock): WheelClock {
  const armed = new Map<number, number>();
  let nextId = 1;
  return {
    ...wheel,
    setTimeout(run, delayMs) {
      const id = nextId++;
      const wait = (leftMs: number): void => {
        const stepMs = Math.min(leftMs, BEAT_MS);
        const step = (): void => {
          if (leftMs > stepMs) wait(leftMs - stepMs);
          else {
            armed.delete(id);
            run();
          }
        };
        armed.set(id, wheel.setTimeout(step, stepMs));
      };
      wait(delayMs);
      return id;
    },
    clearTimeout(id) {
      const beat = armed.get(id);
      if (beat !== undefined) wheel.clearTimeout(beat);
      armed.delete(id);
    },
  };
}

export const PAUSE_BUGS: readonly PlantedBug[] = [
  {
    name: 'pause-is-not-counted',
    mistake: 'The timers of a Console wait for as long as it ran, so that a pause makes them late.',
    foundBy: 'health-rule',
    options: {
      ...{ ...CALM, sensors: 2, hours: 0.7, faultsPerHour: 200, intervals: QUICK_SILENCE },
      kinds: ['console.pause', 'node.kill', 'node.kill', ...HARMLESS],
    },
    pinnedSeed: '1',
    console: () => ({ wheel: countingBeats }),
  },
];
