// The loop of a Console that notices when the wall clock jumps; what holds dates in it has one of its own. decision: D4, D60
import { CLOCK_CHECK_INTERVAL_MS } from '../../machines/limits.ts';
import {
  type ClockWatchOptions,
  createClockLook,
  createPauseLook,
  type PauseWatchOptions,
} from '../runtime/clock-watch.ts';
import { instantLoop, type UpkeepLoop } from './loop.ts';

/** Makes the loop; jumps count from now on, and pauses of the process where somebody wants to hear of them. */
export function clockLoop({
  name,
  onPause,
  ...watch
}: ClockWatchOptions &
  Partial<Pick<PauseWatchOptions, 'onPause'>> & { readonly name: string }): UpkeepLoop {
  const look = createClockLook(watch);
  const lookForPause =
    onPause === undefined ? () => undefined : createPauseLook({ ...watch, onPause });
  return instantLoop(name, CLOCK_CHECK_INTERVAL_MS, () => {
    look();
    lookForPause();
  });
}
