// Looks again at sensors whose health ages by time alone, so that the live view is right without an event.
import { FLEET_SWEEP_INTERVAL_MS } from '../../machines/limits.ts';
import { instantLoop, type UpkeepLoop } from '../loops/loop.ts';
import type { FleetLiveView } from './fleet-live-view.ts';

/** Makes the loop; every process has a view of its own. */
export function fleetSweepLoop(liveView: Pick<FleetLiveView, 'sweep'>): UpkeepLoop {
  return instantLoop('fleet-sweep', FLEET_SWEEP_INTERVAL_MS, () => liveView.sweep());
}
