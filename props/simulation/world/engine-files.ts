// What lies on a simulated host's disk of its engine: the build that is started, and what a Sensor left for the next one.
import path from 'node:path';
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import type { SimulatedDisk } from './disk.ts';
import type { World } from './world.ts';

export type EngineFiles = {
  /** The sum of the build that lies where an engine is started from; '' when none does. */
  inPlace(): string;
  /** Puts it there, for good when the Sensor relies on it; throws when the disk refuses. */
  place(sum: string, isReliedOn: boolean): void;
  /** Somebody removes it. */
  remove(isReliedOn: boolean): void;
  /** The next Sensor reads what was left for it, or cannot. */
  recall(): void;
};

const ENGINE_FILE = 'engine/v1.7.0/procfs-engine.ts';

/** Binds the files of one state directory. */
export function createEngineFiles(
  world: World,
  of: { readonly node: string; readonly disk: SimulatedDisk; readonly stateDir: string },
): EngineFiles {
  const { node, disk, stateDir } = of;
  const file = path.join(stateDir, ENGINE_FILE);
  const tellForgotten = (): void => world.observe({ kind: 'engine.forgotten', node });
  const inPlace = (): string => disk.read(file)?.toString() ?? '';
  return {
    inPlace,
    place(sum, isReliedOn) {
      if (inPlace() === sum) return;
      disk.calls.makeDirectory(path.dirname(file), 0o700);
      disk.calls.open(file, 'replace', 0o600).append(Buffer.from(sum));
      if (isReliedOn) disk.write(file, sum);
    },
    remove(isReliedOn) {
      disk.remove(file);
      if (isReliedOn) tellForgotten();
    },
    recall() {
      const trials = path.join(stateDir, STATE_FILES.engineTrials);
      if (disk.faults.isOn('unreadable', trials)) tellForgotten();
    },
  };
}
