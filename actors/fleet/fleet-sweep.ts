// Looks again at sensors whose health ages by time alone, so that the live picture is right without an event.
import { FLEET_SWEEP_INTERVAL_MS } from '../../machines/limits.ts';
import type { UpkeepLoop } from '../loops/loop.ts';
import type { FleetPicture } from './fleet-picture.ts';

/** Makes the loop; every process has a picture of its own. */
export function fleetSweepLoop(picture: Pick<FleetPicture, 'sweep'>): UpkeepLoop {
  return {
    name: 'fleet-sweep',
    runsOn: 'process',
    everyMs: FLEET_SWEEP_INTERVAL_MS,
    async run() {
      picture.sweep();
      return undefined;
    },
  };
}
