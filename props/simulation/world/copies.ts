// Copies of nodes: somebody starts a second machine from the image of a first one, and its Sensor finds an identity, a spool
// and policies that are not its own. A copy has its own engine, clock, disk and way to the Consoles. decision: D172
import { stateOf } from '../checkers/node-files.ts';
import { type NodeHost, STATE_DIR } from './node-host.ts';
import type { World } from './world.ts';

export type Copies = {
  /** A machine from the image of this one, switched off; null when there is no identity to copy, or the disk cannot be read. */
  make(node: NodeHost): NodeHost | null;
  /** Switches it off for good; its disk goes with it. */
  throwAway(copy: NodeHost): void;
  /** Those that were not thrown away. */
  all(): readonly NodeHost[];
  /** All there ever were. */
  ever(): readonly NodeHost[];
};

/** Who holds the directory, what runs there, and the engine's own files are those of a machine. */
const NOT_COPIED = /^(\.lock.*|run|engine)$/;
const MARK = '~';

/** The node that a host is, or is a copy of. */
export function originalOf(host: string): string {
  return host.split(MARK, 1)[0] ?? host;
}

/** Makes the copies of a fleet; `host` makes a machine with an empty disk. */
export function createCopies(world: World, host: (name: string) => NodeHost): Copies {
  const made: NodeHost[] = [];
  const gone = new Set<NodeHost>();
  return {
    make(node) {
      const sensor = stateOf(node)?.sensor_id;
      const image = imageOf(node, STATE_DIR);
      if (sensor === undefined || image === null) return null;
      const copy = host(`${node.name}${MARK}${made.length + 1}`);
      for (const [file, bytes] of image) copy.disk.write(file, bytes, 0o600);
      made.push(copy);
      world.observe({ kind: 'node.copied', node: node.name, copy: copy.name, sensor });
      return copy;
    },
    throwAway(copy) {
      if (gone.has(copy)) return;
      world.observe({ kind: 'copy.leaves', copy: copy.name });
      gone.add(copy);
      copy.wipe();
    },
    all: () => made.filter((copy) => !gone.has(copy)),
    ever: () => made,
  };
}

type Image = readonly (readonly [file: string, bytes: Buffer])[];

function imageOf({ disk }: NodeHost, folder: string): Image | null {
  try {
    return disk.calls.list(folder).flatMap((name) => {
      if (folder === STATE_DIR && NOT_COPIED.test(name)) return [];
      const file = `${folder}/${name}`;
      const bytes = disk.read(file);
      return bytes === null
        ? (imageOf({ disk } as NodeHost, file) ?? [])
        : [[file, bytes] as const];
    });
  } catch {
    return null;
  }
}
