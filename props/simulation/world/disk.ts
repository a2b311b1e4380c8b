// The disk of a simulated host. It outlives the processes of its host; at a power loss it forgets what was not synced,
// in every way POSIX allows: an unsynced rename has happened or not, an unsynced append is kept, lost, torn at any byte
// or zeros, and different files and names fare differently.
import path from 'node:path';
import type { ExportFiles } from '../../../sensor/engine/export-files.ts';
import type { Files, OpenFile } from '../../../sensor/state-directory/file-port.ts';
import { createDiskCalls, type DiskCalls, type OpenHandle } from './disk-calls.ts';
import { contentOf } from './disk-content.ts';
import { exportFilesOf } from './disk-export.ts';
import { createDiskFaults, type DiskFaults } from './disk-faults.ts';
import { createDiskTree } from './disk-tree.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export type LossListener = { before(): void; after(): void };
export type SimulatedDisk = {
  filesFor(life: Life): Files;
  exportFilesFor(life: Life): ExportFiles;
  readonly faults: DiskFaults;
  /**
   * The end of everything that ran on the host. `killed` leaves what processes had written, `power_lost` what survives.
   * End the lives first.
   */
  end(how: 'killed' | 'power_lost', random: Random): void;
  /** Hears of a power loss or a wipe, before and after it took its toll. */
  onLoss(listener: LossListener): void;
  /** For operators and checkers: no faults, no waiting, and what is written is on the disk for good. */
  read(path: string): Buffer | null;
  write(path: string, bytes: Uint8Array | string, mode?: number): void;
  remove(path: string): void;
  link(path: string, target: string): void;
  /** Empties the disk, as that of a host which is made anew; whatever ran on it ends. */
  wipe(): void;
  /** What the kernel tells under /proc; it is no part of the disk. Null takes it away. */
  setKernelFile(path: string, text: string | null): void;
  /** The file of an inode, as long as some name leads to it. */
  readInode(inode: number): Buffer | null;
  reuseNextInode(): void;
  /** For other processes of the host, which have no life of the Sensor's: at once, with the faults. */
  readonly calls: DiskCalls;
};

/** What a kernel does on its own: unsynced data is written after so long. */
const WRITEBACK_MS = 30_000;

/** Makes an empty disk. Nothing of it depends on who runs the simulation but the owner's id. */
export function createSimulatedDisk(
  world: World,
  host: string,
  options: { readonly writebackMs?: number } = {},
): SimulatedDisk {
  const random = world.random.fork(`disk/${host}`);
  const now = world.scheduler.now;
  const faults = createDiskFaults(random.fork('delays'));
  const tree = createDiskTree({ now, writebackMs: options.writebackMs ?? WRITEBACK_MS });
  const kernelFiles = new Map<string, string>();
  const listeners: LossListener[] = [];
  const ground = { tree, now, kernelFiles, ownerId: process.getuid?.() ?? 0 };
  const calls = createDiskCalls({ ...ground, faults, random });
  const direct = createDiskCalls({ ...ground, faults: createDiskFaults(random), random });

  function lose(take: () => void): void {
    for (const listener of listeners) listener.before();
    take();
    for (const listener of listeners) listener.after();
  }

  function syncAbove(file: string): void {
    for (let at = path.dirname(file); ; at = path.dirname(at)) {
      if (direct.stat(at) !== null) direct.syncDirectory(at);
      if (at === '/') return;
    }
  }

  return {
    calls,
    faults,
    filesFor: (life) => filesOf(calls, faults, life),
    exportFilesFor: (life) => exportFilesOf(calls, faults, life),
    end(how, fate) {
      if (how === 'killed') return;
      lose(() => tree.survive(fate));
    },
    onLoss: (listener) => void listeners.push(listener),
    read(file) {
      const facts = direct.stat(file);
      return facts === null || facts.isDirectory ? null : direct.readFile(file);
    },
    write(file, bytes, mode = 0o600) {
      direct.makeDirectory(path.dirname(file), 0o755);
      const handle = direct.open(file, 'replace', mode);
      handle.append(Buffer.from(bytes));
      handle.sync();
      handle.close();
      syncAbove(file);
    },
    remove(file) {
      direct.remove(file);
      syncAbove(file);
    },
    link(file, target) {
      tree.makeLink(tree.find(file), target);
      syncAbove(file);
    },
    wipe: () => lose(tree.wipe),
    setKernelFile(file, text) {
      if (text === null) kernelFiles.delete(file);
      else kernelFiles.set(file, text);
    },
    readInode(inode) {
      const file = tree.fileOf(inode);
      return file === undefined ? null : contentOf(file);
    },
    reuseNextInode: () => tree.reuseNextInode(),
  };
}

function filesOf(calls: DiskCalls, faults: DiskFaults, life: Life): Files {
  const ask = <T>(name: string, where: string, effect: () => T): Promise<T> =>
    life.call(`disk.${name}`, effect, faults.delayMs(where));

  function openFile(where: string, handle: OpenHandle): OpenFile {
    return {
      read: (into, position) => ask('read', where, () => handle.read(into, position)),
      append: (bytes) => ask('append', where, () => handle.append(bytes)),
      truncate: (length) => ask('truncate', where, () => handle.truncate(length)),
      sync: () => ask('sync', where, () => handle.sync()),
      close: () => ask('close', where, () => handle.close()),
    };
  }

  return {
    open: (file, how, mode) => ask('open', file, () => openFile(file, calls.open(file, how, mode))),
    readFile: (file) => ask('readFile', file, () => calls.readFile(file)),
    stat: (file) => ask('stat', file, () => calls.stat(file)),
    list: (file) => ask('list', file, () => calls.list(file)),
    makeDirectory: (file, mode) =>
      ask('makeDirectory', file, () => calls.makeDirectory(file, mode)),
    setMode: (file, mode) => ask('setMode', file, () => calls.setMode(file, mode)),
    rename: (from, to) => ask('rename', from, () => calls.rename(from, to)),
    remove: (file) => ask('remove', file, () => calls.remove(file)),
    syncDirectory: (file) => ask('syncDirectory', file, () => calls.syncDirectory(file)),
  };
}
