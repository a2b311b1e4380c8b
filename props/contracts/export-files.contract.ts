// The promises of the export's files, as its reader relies on them while the engine rotates, cuts and prunes.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExportFiles, OpenExport } from '../../sensor/engine/export-files.ts';

export type ExportFilesHarness = {
  files(): ExportFiles;
  directory(): string;
  /** What an engine does. */
  append(path: string, text: string): void;
  truncate(path: string, length: number): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
};

export function exportFilesContract(harness: ExportFilesHarness): void {
  const { files, directory, append, truncate, rename, remove } = harness;
  const at = (name: string): string => join(directory(), name);
  const live = (): string => at('events.log');
  const backup = (n: number): string => at(`events-2026-01-01T00-00-00.00${n}.log`);
  async function textOf(file: OpenExport | undefined, position = 0): Promise<string> {
    const into = Buffer.alloc(64);
    const filled = await file?.read(into, position);
    return into.toString('utf8', 0, filled);
  }
  async function opened(path: string): Promise<OpenExport> {
    const file = await files().open(path);
    if (file === undefined) throw new Error(`${path} is not there`);
    return file;
  }

  describe('export files', () => {
    it('should find nothing where nothing is', async () => {
      expect(await files().list(live())).toEqual([]);
      expect(await files().list(join(directory(), 'none', 'events.log'))).toEqual([]);
      expect(await files().inodeOf(live())).toBe(undefined);
      expect(await files().open(live())).toBe(undefined);
    });

    it('should list rotated files oldest first, then the live one, and no other', async () => {
      append(backup(2), 'b');
      append(live(), 'c');
      append(backup(1), 'a');
      for (const other of ['events-x.log', 'other.log', 'events.log.gz']) append(at(other), 'x');
      const found = await files().list(live());
      expect(found.map((one) => one.file)).toEqual([backup(1), backup(2), live()]);
      for (const { file, inode } of found) expect(await files().inodeOf(file)).toBe(inode);
      expect(new Set(found.map((one) => one.inode)).size).toBe(3);
    });

    it('should list the rotated files while there is no live one', async () => {
      append(backup(1), 'a');
      expect((await files().list(live())).map((one) => one.file)).toEqual([backup(1)]);
    });

    it('should keep the inode through a rename and give a new file another', async () => {
      append(live(), 'one');
      const before = await files().inodeOf(live());
      rename(live(), backup(1));
      append(live(), 'two');
      expect(await files().inodeOf(backup(1))).toBe(before);
      expect(await files().inodeOf(live())).not.toBe(before);
    });

    it('should read on in an opened file that is written to and rotated meanwhile', async () => {
      append(live(), 'one ');
      const file = await opened(live());
      expect(file.inode).toBe(await files().inodeOf(live()));
      expect(await textOf(file)).toBe('one ');
      append(live(), 'two ');
      rename(live(), backup(1));
      append(backup(1), 'late');
      append(live(), 'new');
      expect(await file.size()).toBe(12);
      expect(await textOf(file, 4)).toBe('two late');
      expect(await textOf(file, 12)).toBe('');
      expect(file.inode).toBe(await files().inodeOf(backup(1)));
      await file.close();
    });

    it('should show a truncation in the opened file', async () => {
      append(live(), 'a long line');
      const file = await opened(live());
      truncate(live(), 0);
      expect(await file.size()).toBe(0);
      append(live(), 'b');
      expect([await file.size(), await textOf(file)]).toEqual([1, 'b']);
      await file.close();
    });

    it('should still read an opened file that was removed, and open it no more', async () => {
      append(live(), 'text');
      const file = await opened(live());
      remove(live());
      expect(await textOf(file)).toBe('text');
      await file.close();
      expect(await files().open(live())).toBe(undefined);
      expect(await files().list(live())).toEqual([]);
    });
  });
}
