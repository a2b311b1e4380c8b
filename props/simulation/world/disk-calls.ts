// What processes can ask of a simulated disk, each call done at once. Refusals carry node's codes, as the real disk's do.
import type { FileFacts, OpenFor } from '../../../sensor/state-directory/file-port.ts';
import {
  appendContent,
  contentOf,
  type FileNode,
  loseSync,
  readContent,
  syncContent,
  truncateContent,
} from './disk-content.ts';
import type { DiskFaults } from './disk-faults.ts';
import { type DiskTree, diskError, type Place } from './disk-tree.ts';
import type { Random } from './random.ts';

export type OpenHandle = {
  readonly inode: number;
  size(): number;
  read(into: Uint8Array, position: number): number;
  append(bytes: Uint8Array): void;
  truncate(length: number): void;
  sync(): void;
  close(): void;
};

export type DiskCalls = {
  open(path: string, how: OpenFor, mode: number): OpenHandle;
  readFile(path: string): Buffer;
  stat(path: string): (FileFacts & { readonly inode: number }) | null;
  list(path: string): readonly string[];
  makeDirectory(path: string, mode: number): void;
  setMode(path: string, mode: number): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
  syncDirectory(path: string): void;
};

type Ground = {
  readonly tree: DiskTree;
  readonly faults: DiskFaults;
  readonly random: Random;
  readonly now: () => number;
  readonly ownerId: number;
  /** What the kernel tells under /proc; no part of the disk. */
  readonly kernelFiles: ReadonlyMap<string, string>;
};

/** Makes the calls of a disk. */
export function createDiskCalls(ground: Ground): DiskCalls {
  const { tree, faults, random, now, ownerId, kernelFiles } = ground;

  function present(call: string, path: string): Place & { readonly node: object } {
    const { directory, name, node } = tree.find(path);
    if (node === undefined) throw diskError('ENOENT', call, path);
    return { directory, name, node };
  }

  /** A new entry may still find room on a full disk. */
  function refuseEntry(call: string, path: string): void {
    faults.refuseWrite(call, path);
    if (faults.isOn('full', path) && random.chance(0.5)) throw diskError('ENOSPC', call, path);
  }

  function openNode(path: string, how: OpenFor, mode: number): FileNode {
    const place = tree.find(path);
    const { node } = place;
    if (node !== undefined && how === 'exclusive') throw diskError('EEXIST', 'open', path);
    if (node?.kind === 'link') throw diskError('ELOOP', 'open', path);
    if (node?.kind === 'directory') throw diskError('EISDIR', 'open', path);
    if (how !== 'read') faults.refuseWrite('open', path);
    if (node === undefined) {
      if (how === 'read') throw diskError('ENOENT', 'open', path);
      refuseEntry('open', path);
      return tree.makeFile(place, mode);
    }
    if (how === 'replace') {
      tree.settle(node);
      truncateContent(node, 0, now());
    }
    return node;
  }

  function append(file: FileNode, path: string, bytes: Uint8Array): void {
    faults.refuseWrite('write', path);
    tree.settle(file);
    if (bytes.byteLength > 0 && faults.isOn('full', path)) {
      const left = random.chance(0.5) ? 0 : random.between(0, bytes.byteLength - 1);
      appendContent(file, bytes.subarray(0, left), now());
      throw diskError('ENOSPC', 'write', path);
    }
    appendContent(file, bytes, now());
  }

  function sync(file: FileNode, path: string): void {
    if (faults.takeFailSync(path)) {
      loseSync(file, random);
      throw diskError('EIO', 'fsync', path);
    }
    if (file.durable < file.length || file.before !== null) faults.refuseWrite('fsync', path);
    syncContent(file);
  }

  function handle(file: FileNode, path: string, how: OpenFor): OpenHandle {
    let isOpen = true;
    function check(call: string, writes: boolean): void {
      if (!isOpen || (writes && how === 'read')) throw diskError('EBADF', call, path);
    }
    return {
      inode: file.inode,
      size() {
        check('fstat', false);
        return file.length;
      },
      read(into, position) {
        check('read', false);
        faults.refuseRead('read', path);
        return readContent(file, into, position);
      },
      append(bytes) {
        check('write', true);
        append(file, path, bytes);
      },
      truncate(length) {
        check('ftruncate', true);
        faults.refuseWrite('ftruncate', path);
        tree.settle(file);
        truncateContent(file, length, now());
      },
      sync() {
        check('fsync', false);
        sync(file, path);
      },
      close() {
        check('close', false);
        isOpen = false;
      },
    };
  }

  function makeDirectory(path: string, mode: number): void {
    const parts = path.split('/').filter((part) => part !== '');
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const here = `/${parts.slice(0, depth).join('/')}`;
      const place = tree.find(here);
      if (place.node?.kind === 'directory') continue;
      const code = depth === parts.length ? 'EEXIST' : 'ENOTDIR';
      if (place.node !== undefined) throw diskError(code, 'mkdir', path);
      refuseEntry('mkdir', here);
      tree.makeDirectory(place, mode);
    }
  }

  function rename(from: string, to: string): void {
    const source = present('rename', from);
    const target = tree.find(to);
    faults.refuseWrite('rename', from);
    if (target.node === source.node) return;
    if (target.node?.kind === 'directory') throw diskError('EISDIR', 'rename', to);
    tree.move(source, target);
  }

  function absentIsNull(path: string): Place | null {
    try {
      return tree.find(path);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  return {
    open(path, how, mode) {
      return handle(openNode(path, how, mode), path, how);
    },
    readFile(path) {
      const told = kernelFiles.get(path);
      if (told !== undefined) return Buffer.from(told);
      let { node } = tree.find(path);
      if (node?.kind === 'link') node = tree.find(node.target).node;
      if (node === undefined) throw diskError('ENOENT', 'open', path);
      if (node.kind !== 'file') throw diskError('EISDIR', 'read', path);
      faults.refuseRead('read', path);
      return contentOf(node);
    },
    stat(path) {
      const node = absentIsNull(path)?.node;
      if (node === undefined) return null;
      return {
        bytes: node.kind === 'file' ? node.length : 0,
        mode: node.mode,
        ownerId: faults.isOn('foreign', path) ? ownerId + 1 : ownerId,
        isDirectory: node.kind === 'directory',
        inode: node.inode,
      };
    },
    list(path) {
      const { node } = present('scandir', path);
      if (node.kind !== 'directory') throw diskError('ENOTDIR', 'scandir', path);
      return [...node.entries.keys()];
    },
    makeDirectory,
    setMode(path, mode) {
      const { node } = present('chmod', path);
      faults.refuseWrite('chmod', path);
      if (node.kind === 'file') {
        tree.settle(node);
        node.modeBefore ??= node.mode;
        node.modeAtMs = now();
      }
      node.mode = mode;
    },
    rename,
    remove(path) {
      const place = absentIsNull(path);
      if (place === null || place.node === undefined) return;
      faults.refuseWrite('unlink', path);
      if (place.node.kind === 'directory') throw diskError('ERR_FS_EISDIR', 'rm', path);
      tree.drop(place);
    },
    syncDirectory(path) {
      const { node } = present('open', path);
      if (node.kind !== 'directory') throw diskError('ENOTDIR', 'open', path);
      if (faults.takeFailSync(path)) throw diskError('EIO', 'fsync', path);
      if (tree.hasPending(node)) faults.refuseWrite('fsync', path);
      tree.sync(node);
    },
  };
}
