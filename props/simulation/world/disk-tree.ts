// The directories of a simulated disk. What processes see changes at once; what a power loss leaves is another set of
// entries, which a change joins when its directory is synced or the kernel has got round to it.
import { type FileNode, makeFile, settle, surviveContent } from './disk-content.ts';
import type { Random } from './random.ts';

export type DirectoryNode = {
  readonly kind: 'directory';
  inode: number;
  mode: number;
  entries: Map<string, Node>;
  readonly durable: Map<string, Node>;
};
export type LinkNode = {
  readonly kind: 'link';
  inode: number;
  mode: number;
  readonly target: string;
};
export type Node = FileNode | DirectoryNode | LinkNode;
export type Place = {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
};

type Change = {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | null;
};
/** Changes that happen together or not at all, as a rename's two. */
type Pending = {
  readonly atMs: number;
  readonly changes: readonly Change[];
  readonly touched: readonly unknown[];
};

export type DiskTree = {
  /** Where a path leads without following its last part. Throws ENOENT or ENOTDIR when its directory is none. */
  find(path: string): Place;
  makeFile(place: Place, mode: number): FileNode;
  makeDirectory(place: Place, mode: number): DirectoryNode;
  makeLink(place: Place, target: string): void;
  move(from: Place, to: Place): void;
  drop(place: Place): void;
  hasPending(directory: DirectoryNode): boolean;
  sync(directory: DirectoryNode): void;
  settle(file: FileNode): void;
  /** Draws what is left after a power loss. */
  survive(random: Random): void;
  wipe(): void;
  /** The file with this inode, wherever it is. */
  fileOf(inode: number): FileNode | undefined;
  /** The next file gets the inode of the last one that went. */
  reuseNextInode(): void;
};

/** An error as node's file calls give it. */
export function diskError(code: string, call: string, path: string): Error & { code: string } {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code });
}

/** Makes an empty disk. */
export function createDiskTree(options: {
  readonly now: () => number;
  readonly writebackMs: number;
}): DiskTree {
  const { now, writebackMs } = options;
  let lastInode = 1;
  let freedInode: number | null = null;
  let mayReuse = false;
  let pending: Pending[] = [];
  const root = directoryOf(lastInode, 0o755);

  function nextInode(): number {
    if (mayReuse && freedInode !== null) {
      const again = freedInode;
      freedInode = null;
      mayReuse = false;
      return again;
    }
    lastInode += 1;
    return lastInode;
  }

  function directoryOf(inode: number, mode: number): DirectoryNode {
    return { kind: 'directory', inode, mode, entries: new Map(), durable: new Map() };
  }

  function change(...changes: readonly Change[]): void {
    const atMs = now();
    while (pending[0] !== undefined && atMs - pending[0].atMs >= writebackMs) {
      for (const one of pending.shift()?.changes ?? []) commit(one);
    }
    const touched: unknown[] = [];
    for (const { directory, name, node } of changes) {
      const replaced = directory.entries.get(name);
      touched.push(`${directory.inode}/${name}`);
      if (node !== null) touched.push(node);
      if (replaced !== undefined && replaced !== node) touched.push(replaced);
      apply(directory.entries, name, node);
    }
    pending.push({ atMs, changes, touched });
  }

  function commit({ directory, name, node }: Change): void {
    apply(directory.durable, name, node);
  }

  /** What a synced directory needs, and the older changes those stand on. */
  function neededBy(directory: DirectoryNode): Set<Pending> {
    const needed = new Set<Pending>();
    const touched = new Set<unknown>();
    for (const one of pending.toReversed()) {
      const isOwn = one.changes.some((each) => each.directory === directory);
      if (!isOwn && !one.touched.some((each) => touched.has(each))) continue;
      needed.add(one);
      for (const each of one.touched) touched.add(each);
    }
    return needed;
  }

  function sync(directory: DirectoryNode): void {
    if (pending.length === 0) return;
    const needed = neededBy(directory);
    for (const one of pending) if (needed.has(one)) one.changes.forEach(commit);
    pending = pending.filter((one) => !needed.has(one));
  }

  // A change that stands on a lost one (it touches the same name or file) is lost too; others are drawn apart.
  function surviveChanges(random: Random): void {
    const share = random.pick([0, 0.5, 0.5, 0.9, 1]);
    const lost = new Set<unknown>();
    const atMs = now();
    for (const one of pending) {
      const isSettled = atMs - one.atMs >= writebackMs;
      const stands = !one.touched.some((each) => lost.has(each));
      if (stands && (isSettled || random.chance(share))) one.changes.forEach(commit);
      else for (const each of one.touched) lost.add(each);
    }
    pending = [];
  }

  function surviveBelow(directory: DirectoryNode, random: Random, seen: Set<number>): void {
    directory.entries = new Map(directory.durable);
    for (const node of directory.entries.values()) {
      if (seen.has(node.inode)) node.inode = ++lastInode;
      seen.add(node.inode);
      if (node.kind === 'directory') surviveBelow(node, random, seen);
      if (node.kind !== 'file') continue;
      settle(node, now(), writebackMs);
      surviveContent(node, random);
    }
  }

  function fileBelow(directory: DirectoryNode, inode: number): FileNode | undefined {
    for (const node of directory.entries.values()) {
      if (node.kind === 'file' && node.inode === inode) return node;
      const found = node.kind === 'directory' ? fileBelow(node, inode) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return {
    find(path) {
      const parts = path.split('/').filter((part) => part !== '' && part !== '.');
      const name = parts.pop();
      if (name === undefined) return { directory: root, name: '', node: root };
      let directory = root;
      for (const part of parts) {
        const next = directory.entries.get(part);
        if (next === undefined) throw diskError('ENOENT', 'find', path);
        if (next.kind !== 'directory') throw diskError('ENOTDIR', 'find', path);
        directory = next;
      }
      return { directory, name, node: directory.entries.get(name) };
    },
    makeFile({ directory, name }, mode) {
      const node = makeFile(nextInode(), mode, now());
      change({ directory, name, node });
      return node;
    },
    makeDirectory({ directory, name }, mode) {
      lastInode += 1;
      const node = directoryOf(lastInode, mode);
      change({ directory, name, node });
      return node;
    },
    makeLink({ directory, name }, target) {
      lastInode += 1;
      change({ directory, name, node: { kind: 'link', inode: lastInode, mode: 0o777, target } });
    },
    move(from, to) {
      if (from.node === undefined) return;
      if (to.node?.kind === 'file' && to.node !== from.node) freedInode = to.node.inode;
      change(
        { directory: from.directory, name: from.name, node: null },
        { directory: to.directory, name: to.name, node: from.node },
      );
    },
    drop({ directory, name, node }) {
      if (node?.kind === 'file') freedInode = node.inode;
      change({ directory, name, node: null });
    },
    hasPending: (directory) =>
      pending.some((one) => one.changes.some((each) => each.directory === directory)),
    sync,
    settle: (file) => settle(file, now(), writebackMs),
    survive(random) {
      surviveChanges(random);
      surviveBelow(root, random, new Set([root.inode]));
    },
    wipe() {
      pending = [];
      root.entries.clear();
      root.durable.clear();
    },
    fileOf: (inode) => fileBelow(root, inode),
    reuseNextInode() {
      mayReuse = true;
    },
  };
}

function apply(entries: Map<string, Node>, name: string, node: Node | null): void {
  if (node === null) entries.delete(name);
  else entries.set(name, node);
}
