// A cgroup as a container runtime makes one.
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';

/** A cgroup of the unified hierarchy, named as a container runtime names a container's. */
export function makeContainer(id: string): { path: string; remove: () => void } {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const root = mounts.find((line) => line.split(' ')[2] === 'cgroup2')?.split(' ')[1] ?? '';
  const made = path.join(root, `service-sensor-test-${process.pid}`, id);
  mkdirSync(made, { recursive: true });
  return {
    path: made,
    remove: () => {
      const inside = readdirSync(made, { recursive: true, withFileTypes: true });
      const below = inside.filter((one) => one.isDirectory());
      const all = below.map((one) => path.join(one.parentPath, one.name));
      for (const one of all.sort().reverse()) rmdirSync(one);
      rmdirSync(made);
      rmdirSync(path.dirname(made));
    },
  };
}
