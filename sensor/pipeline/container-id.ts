// The container a control group belongs to, from its path as /proc/<pid>/cgroup tells it. Runtimes name their groups
// differently, but all put the 64 hexadecimal digits of the container's id into the last parts of the path.
const ID = /(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:\/|$)/g;
const KEY_CHARS = 15;
const RUNTIME_PREFIX = /^[a-z0-9.-]+:\/\//;

/** The id in the innermost group, or undefined for what runs outside of containers. */
export function containerOfCgroup(text: string): string | undefined {
  let found: string | undefined;
  for (const line of text.split('\n')) {
    for (const match of line.matchAll(ID)) found = match[1];
  }
  return found;
}

/** What is compared of an id: engines tell its beginning, runtimes the whole with their name before it. */
export function containerKey(id: string): string | undefined {
  const key = id.replace(RUNTIME_PREFIX, '').slice(0, KEY_CHARS);
  return /^[0-9a-f]{15}$/.test(key) ? key : undefined;
}
