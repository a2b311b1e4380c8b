// The promises of the Sensor's way to its disk, as identity, state and spool rely on them.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, type Files } from '../../sensor/state-directory/file-port.ts';

export type FilesHarness = {
  files(): Files;
  /** An empty directory of its own for each test. */
  directory(): string;
  /** Makes a symbolic link. */
  link(path: string, target: string): void;
};

const MODE = 0o600;

export function filesContract({ files, directory, link }: FilesHarness): void {
  const at = (...names: string[]): string => join(directory(), ...names);
  const refusal = (call: Promise<unknown>): Promise<string> => call.then(() => 'none', errorCode);
  async function write(path: string, text: string): Promise<void> {
    const file = await files().open(path, 'replace', MODE);
    await file.append(Buffer.from(text));
    await file.close();
  }
  const textOf = async (path: string): Promise<string> => (await files().readFile(path)).toString();

  describe('open', () => {
    it('should read an existing file only', async () => {
      expect(await refusal(files().open(at('a'), 'read', MODE))).toBe('ENOENT');
      expect(await files().stat(at('a'))).toBe(null);
      await write(at('a'), 'text');
      const file = await files().open(at('a'), 'read', MODE);
      expect(await refusal(file.append(Buffer.from('more')))).toBe('EBADF');
      await file.close();
      expect(await textOf(at('a'))).toBe('text');
    });

    it('should append to a file, made if absent', async () => {
      for (const word of ['one ', 'two ', 'three']) {
        const file = await files().open(at('a'), 'append', MODE);
        await file.append(Buffer.from(word));
        await file.close();
      }
      expect(await textOf(at('a'))).toBe('one two three');
    });

    it('should replace the content, also when the new one is shorter', async () => {
      await write(at('a'), 'a long text');
      await write(at('a'), 'short');
      expect(await textOf(at('a'))).toBe('short');
    });

    it('should refuse exclusively what exists, and leave it as it is', async () => {
      await write(at('a'), 'first');
      expect(await refusal(files().open(at('a'), 'exclusive', MODE))).toBe('EEXIST');
      expect(await textOf(at('a'))).toBe('first');
      const file = await files().open(at('b'), 'exclusive', MODE);
      await file.append(Buffer.from('second'));
      await file.close();
      expect(await textOf(at('b'))).toBe('second');
    });

    it('should give a new file the mode that was asked for and leave that of an old one', async () => {
      await (await files().open(at('a'), 'append', 0o600)).close();
      await (await files().open(at('a'), 'replace', 0o640)).close();
      expect((await files().stat(at('a')))?.mode).toBe(0o600);
    });

    it('should follow no link', async () => {
      await write(at('a'), 'text');
      link(at('link'), at('a'));
      for (const how of ['read', 'append', 'replace'] as const) {
        expect(await refusal(files().open(at('link'), how, MODE))).toBe('ELOOP');
      }
      expect(await refusal(files().open(at('link'), 'exclusive', MODE))).toBe('EEXIST');
      expect(await textOf(at('a'))).toBe('text');
    });

    it('should refuse what lies in no directory', async () => {
      expect(await refusal(files().open(at('no', 'a'), 'append', MODE))).toBe('ENOENT');
      await write(at('a'), '');
      expect(await refusal(files().open(at('a', 'b'), 'append', MODE))).toBe('ENOTDIR');
    });
  });

  describe('an open file', () => {
    it('should read from a position, less only at the end', async () => {
      await write(at('a'), '0123456789');
      const file = await files().open(at('a'), 'read', MODE);
      const into = Buffer.alloc(4, '.');
      expect([await file.read(into, 3), into.toString()]).toEqual([4, '3456']);
      expect([await file.read(into, 8), into.toString()]).toEqual([2, '8956']);
      expect(await file.read(into, 10)).toBe(0);
      expect(await file.read(into, 99)).toBe(0);
      await file.close();
    });

    it('should append at the end, wherever it read or was cut before', async () => {
      for (const how of ['append', 'replace', 'exclusive'] as const) {
        const file = await files().open(at(how), how, MODE);
        await file.append(Buffer.from('0123456789'));
        await file.read(Buffer.alloc(2), 1);
        await file.append(Buffer.from('ab'));
        expect(await textOf(at(how))).toBe('0123456789ab');
        await file.truncate(3);
        await file.append(Buffer.from('cd'));
        expect(await textOf(at(how))).toBe('012cd');
        await file.close();
      }
    });

    it('should interleave whole appends of two handles', async () => {
      const handles = [
        await files().open(at('a'), 'append', MODE),
        await files().open(at('a'), 'append', MODE),
      ];
      for (let round = 0; round < 3; round += 1) {
        for (const [n, file] of handles.entries()) await file.append(Buffer.from(`${round}${n} `));
      }
      for (const file of handles) await file.close();
      expect(await textOf(at('a'))).toBe('00 01 10 11 20 21 ');
    });

    it('should copy the bytes it was given', async () => {
      const bytes = Buffer.from('before');
      const file = await files().open(at('a'), 'append', MODE);
      await file.append(bytes);
      bytes.fill('x');
      await file.sync();
      await file.close();
      expect(await textOf(at('a'))).toBe('before');
    });

    it('should fill with zeros what a truncation adds', async () => {
      await write(at('a'), 'ab');
      const file = await files().open(at('a'), 'append', MODE);
      await file.truncate(4);
      await file.append(Buffer.from('c'));
      await file.close();
      expect(await textOf(at('a'))).toBe('ab\0\0c');
    });

    it('should stay what was opened when its name goes to another file', async () => {
      await write(at('a'), 'old');
      const file = await files().open(at('a'), 'append', MODE);
      await write(at('b'), 'new');
      await files().rename(at('b'), at('a'));
      await file.append(Buffer.from('er'));
      const into = Buffer.alloc(5);
      expect([await file.read(into, 0), into.toString()]).toEqual([5, 'older']);
      await file.close();
      expect(await textOf(at('a'))).toBe('new');
    });

    it('should answer nothing once it is closed', async () => {
      const file = await files().open(at('a'), 'append', MODE);
      await file.close();
      expect(await refusal(file.append(Buffer.from('x')))).not.toBe('none');
      expect(await textOf(at('a'))).toBe('');
    });
  });

  describe('names', () => {
    it('should tell the facts of files, directories and links, null when absent', async () => {
      expect(await files().stat(at('none'))).toBe(null);
      expect(await files().stat(at('none', 'below'))).toBe(null);
      await write(at('a'), 'four');
      const owner = (await files().stat(at('a')))?.ownerId;
      expect(owner).toBe(process.getuid?.());
      const facts = { bytes: 4, mode: MODE, isDirectory: false };
      expect(await files().stat(at('a'))).toMatchObject(facts);
      await files().makeDirectory(at('d'), 0o700);
      expect(await files().stat(at('d'))).toMatchObject({ mode: 0o700, isDirectory: true });
      link(at('link'), at('d'));
      expect(await files().stat(at('link'))).toMatchObject({ isDirectory: false });
    });

    it('should make a directory with its parents, and leave an existing one', async () => {
      await files().makeDirectory(at('x', 'y', 'z'), 0o700);
      expect((await files().stat(at('x', 'y')))?.isDirectory).toBe(true);
      await files().setMode(at('x'), 0o750);
      await files().makeDirectory(at('x'), 0o700);
      expect((await files().stat(at('x')))?.mode).toBe(0o750);
      await write(at('f'), '');
      expect(await refusal(files().makeDirectory(at('f'), 0o700))).toBe('EEXIST');
      expect(await refusal(files().makeDirectory(at('f', 'd'), 0o700))).toBe('ENOTDIR');
    });

    it('should list the names of a directory, links and directories too', async () => {
      expect(await files().list(directory())).toEqual([]);
      await write(at('b'), '');
      await write(at('.a'), '');
      await files().makeDirectory(at('c', 'below'), 0o700);
      link(at('d'), at('nowhere'));
      expect([...(await files().list(directory()))].sort()).toEqual(['.a', 'b', 'c', 'd']);
      expect(await refusal(files().list(at('none')))).toBe('ENOENT');
      expect(await refusal(files().list(at('b')))).toBe('ENOTDIR');
    });

    it('should set a mode', async () => {
      await write(at('a'), '');
      await files().setMode(at('a'), 0o640);
      expect((await files().stat(at('a')))?.mode).toBe(0o640);
      expect(await refusal(files().setMode(at('none'), MODE))).toBe('ENOENT');
    });

    it('should rename in one step and replace the target', async () => {
      await write(at('a'), 'new');
      await write(at('b'), 'old');
      await files().rename(at('a'), at('b'));
      expect(await textOf(at('b'))).toBe('new');
      expect(await files().list(directory())).toEqual(['b']);
      expect(await refusal(files().rename(at('a'), at('b')))).toBe('ENOENT');
      expect(await refusal(files().rename(at('b'), at('none', 'b')))).toBe('ENOENT');
      expect(await textOf(at('b'))).toBe('new');
      await files().rename(at('b'), at('b'));
      expect(await textOf(at('b'))).toBe('new');
    });

    it('should move a file to another directory', async () => {
      await files().makeDirectory(at('d'), 0o700);
      await write(at('a'), 'text');
      await files().rename(at('a'), at('d', 'b'));
      expect(await textOf(at('d', 'b'))).toBe('text');
      expect(await files().list(directory())).toEqual(['d']);
    });

    it('should remove a file, and take an absent one for done', async () => {
      await write(at('a'), 'text');
      await files().remove(at('a'));
      expect(await files().stat(at('a'))).toBe(null);
      await files().remove(at('a'));
      await files().remove(at('none', 'a'));
      await files().makeDirectory(at('d'), 0o700);
      expect(await refusal(files().remove(at('d')))).not.toBe('none');
    });

    it('should remove a link, not what it leads to', async () => {
      await write(at('a'), 'text');
      link(at('link'), at('a'));
      await files().remove(at('link'));
      expect(await files().list(directory())).toEqual(['a']);
    });

    it('should read a whole file, refuse an absent one and a directory', async () => {
      await write(at('a'), 'text');
      expect(await textOf(at('a'))).toBe('text');
      expect(await refusal(files().readFile(at('none')))).toBe('ENOENT');
      expect(await refusal(files().readFile(directory()))).toBe('EISDIR');
    });

    it('should sync a directory, and refuse what is none', async () => {
      await write(at('a'), 'text');
      await files().syncDirectory(directory());
      expect(await refusal(files().syncDirectory(at('a')))).toBe('ENOTDIR');
      expect(await refusal(files().syncDirectory(at('none')))).toBe('ENOENT');
    });
  });
}
