// The loop of a Console that notices when the wall clock jumps; what holds dates in it has one of its own. decision: D4, D60
import { CLOCK_CHECK_INTERVAL_MS } from '../../machines/limits.ts';
import { type ClockWatchOptions, createClockLook } from '../runtime/clock-watch.ts';
import { instantLoop, type UpkeepLoop } from './loop.ts';

/** Makes the loop; jumps count from now on. */
export function clockLoop({
  name,
  ...watch
}: ClockWatchOptions & { readonly name: string }): UpkeepLoop {
  return instantLoop(name, CLOCK_CHECK_INTERVAL_MS, createClockLook(watch));
}
