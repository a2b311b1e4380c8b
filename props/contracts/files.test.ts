// The real disk and the simulated one keep the same promises.
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe } from 'vitest';
import { diskExport } from '../../sensor/engine/export-files.ts';
import { diskFiles } from '../../sensor/state-directory/file-port.ts';
import { createSimulatedDisk } from '../simulation/world/disk.ts';
import { beginLife } from '../simulation/world/life.ts';
import { createWorld } from '../simulation/world/world.ts';
import { exportFilesContract } from './export-files.contract.ts';
import { filesContract } from './files.contract.ts';

describe('the real disk', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'files-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  filesContract({
    files: () => diskFiles,
    directory: () => directory,
    link: (path, target) => symlinkSync(target, path),
  });
  exportFilesContract({
    files: () => diskExport,
    directory: () => directory,
    append: (path, text) => appendFileSync(path, text),
    truncate: truncateSync,
    rename: renameSync,
    remove: (path) => rmSync(path),
  });
});

describe('the simulated disk', () => {
  const world = createWorld('files');
  const life = beginLife(world.scheduler, { host: 'node-1', incarnation: 1 });
  const disk = createSimulatedDisk(world, 'node-1');
  const { calls } = disk;
  const directory = '/var/lib/test';
  beforeEach(() => {
    disk.wipe();
    calls.makeDirectory(directory, 0o700);
  });
  filesContract({
    files: () => disk.filesFor(life),
    directory: () => directory,
    link: disk.link,
  });
  exportFilesContract({
    files: () => disk.exportFilesFor(life),
    directory: () => directory,
    append: (path, text) => calls.open(path, 'append', 0o600).append(Buffer.from(text)),
    truncate: (path, length) => calls.open(path, 'append', 0o600).truncate(length),
    rename: calls.rename,
    remove: calls.remove,
  });
});
