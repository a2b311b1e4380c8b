// The files of a rotating export on a simulated disk, as the reader of the export asks for them.
import path from 'node:path';
import type { ExportFile, ExportFiles, OpenExport } from '../../../sensor/engine/export-files.ts';
import type { DiskCalls, OpenHandle } from './disk-calls.ts';
import type { DiskFaults } from './disk-faults.ts';
import type { Life } from './life.ts';

const ROTATED = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}$/;

/** The export's files as one process sees them. */
export function exportFilesOf(calls: DiskCalls, faults: DiskFaults, life: Life): ExportFiles {
  function inodeOf(file: string): string | undefined {
    try {
      const inode = calls.stat(file)?.inode;
      return inode === undefined ? undefined : String(inode);
    } catch {
      return undefined;
    }
  }

  function list(live: string): readonly ExportFile[] {
    const found: ExportFile[] = [];
    for (const file of [...backupsOf(calls, live), live]) {
      const inode = inodeOf(file);
      if (inode !== undefined) found.push({ file, inode });
    }
    return found;
  }

  function opened(file: string, handle: OpenHandle): OpenExport {
    const ask = <T>(name: string, effect: () => T): Promise<T> =>
      life.call(`export.${name}`, effect, faults.delayMs(file));
    return {
      inode: String(handle.inode),
      size: () => ask('size', () => handle.size()),
      read: (into, position) => ask('read', () => handle.read(into, position)),
      close: () => ask('close', () => handle.close()),
    };
  }

  return {
    list: (live) => life.call('export.list', () => list(live), faults.delayMs(live)),
    inodeOf: (file) => life.call('export.inodeOf', () => inodeOf(file), faults.delayMs(file)),
    open(file) {
      const effect = (): OpenExport | undefined => {
        try {
          return opened(file, calls.open(file, 'read', 0));
        } catch {
          return undefined;
        }
      };
      return life.call('export.open', effect, faults.delayMs(file));
    },
  };
}

/** Paths of the rotated files, oldest first. */
export function backupsOf(calls: DiskCalls, live: string): readonly string[] {
  const { dir, name, ext } = path.parse(live);
  let names: readonly string[] = [];
  try {
    names = calls.list(dir);
  } catch {
    return [];
  }
  return names
    .filter((one) => one.startsWith(`${name}-`) && one.endsWith(ext))
    .filter((one) => ROTATED.test(one.slice(name.length + 1, one.length - ext.length)))
    .sort()
    .map((one) => path.join(dir, one));
}
