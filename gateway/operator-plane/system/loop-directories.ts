// Loops and the designation as directories, so that operators find them beside the sensors. decision: D60
import type { LoopRegistry } from '../../../actors/loops/loop-registry.ts';
import type { DirectoryView } from '../plumbing/deps.ts';
import { loopItem } from './loop-view.ts';

/** The loops as one directory, the designation as another. */
export function loopDirectories(loops: LoopRegistry): readonly DirectoryView[] {
  return [loopDirectory(loops), designationDirectory(loops)];
}

function loopDirectory(loops: LoopRegistry): DirectoryView {
  return {
    kind: 'loop',
    ids: () => loops.list().map(({ name }) => name),
    size: () => loops.list().length,
    ask(id) {
      const loop = loops.get(id);
      if (loop === null) return 'absent';
      const { snapshot, sinceMs, state } = loop;
      const about = loopItem(loop);
      return { id, snapshot, sinceMs, lastEvent: `entered ${state}`, restarts: 0, about };
    },
  };
}

const DESIGNATION_ID = 'designation';

function designationDirectory(loops: LoopRegistry): DirectoryView {
  return {
    kind: 'designation',
    ids: () => (loops.holder() === null ? [] : [DESIGNATION_ID]),
    size: () => (loops.holder() === null ? 0 : 1),
    ask(id) {
      const holder = loops.holder();
      if (id !== DESIGNATION_ID || holder === null) return 'absent';
      const snapshot = holder.actor.getSnapshot();
      const lastEvent = snapshot.hasTag('designated') ? 'became designated' : 'is not designated';
      return { id, snapshot, sinceMs: holder.sinceMs(), lastEvent, restarts: 0 };
    },
  };
}
