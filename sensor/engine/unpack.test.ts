import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readKernel } from './kernel.ts';
import {
  engineDirectory,
  engineFiles,
  PROCFS_ENGINE_FILE,
  settleEngine,
  unpackEngine,
} from './unpack.ts';

let stateDir = '';
beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'unpack-'));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

describe('unpack engine', () => {
  it('should write the files and a manifest once, and nothing the second time', async () => {
    const files = await engineFiles();
    const first = await unpackEngine({ stateDir, files });
    expect(first).toEqual({
      ok: true,
      directory: path.join(stateDir, 'engine', 'v1.7.0'),
      written: [...files.map(({ name }) => name), 'manifest.json'],
    });
    expect(await unpackEngine({ stateDir, files })).toMatchObject({ ok: true, written: [] });
  });

  it('should put back a file that was changed, readable by its owner only', async () => {
    const files = await engineFiles();
    await unpackEngine({ stateDir, files });
    const place = path.join(stateDir, 'engine', 'v1.7.0', PROCFS_ENGINE_FILE);
    writeFileSync(place, 'tampered');
    expect(await unpackEngine({ stateDir, files })).toMatchObject({
      written: [PROCFS_ENGINE_FILE],
    });
    const entry = files.find(({ name }) => name === PROCFS_ENGINE_FILE);
    expect(readFileSync(place)).toEqual(entry?.content);
    expect(statSync(place).mode & 0o777).toBe(0o600);
  });

  it('should bring all an engine imports, and nothing else', async () => {
    const files = await engineFiles();
    const names = files.map(({ name }) => name);
    const imported = files.flatMap(({ content }) =>
      [
        ...Buffer.from(content)
          .toString()
          .matchAll(/from '([^']+)'/g),
      ].map(([, from]) => from ?? ''),
    );
    const own = imported.filter((from) => !from.startsWith('node:'));
    expect([...new Set(own)].sort()).toEqual(
      names.filter((name) => name !== PROCFS_ENGINE_FILE).map((name) => `./${name}`),
    );
  });

  it('should lay a newer build out beside and move it into place, over files that are in use', async () => {
    const before = [{ name: 'one', content: Buffer.from('before') }];
    const after = [{ name: 'one', content: Buffer.from('after') }];
    const first = await unpackEngine({ stateDir, files: before });
    const place = path.join(first.ok ? first.directory : '', 'one');
    const inode = statSync(place).ino;
    await unpackEngine({ stateDir, files: after, place: 'beside' });
    expect(readFileSync(place, 'utf8')).toBe('before');
    await settleEngine(stateDir, ['one']);
    expect(readFileSync(place, 'utf8')).toBe('after');
    expect(statSync(place).ino).not.toBe(inode);
    expect(existsSync(engineDirectory(stateDir, 'beside'))).toBe(false);
  });

  it('should answer with a reason when the directory cannot be made', async () => {
    writeFileSync(path.join(stateDir, 'engine'), 'in the way');
    expect(await unpackEngine({ stateDir, files: [] })).toMatchObject({ ok: false });
  });
});

describe('read kernel', () => {
  it('should describe the running kernel, and an unreadable one as ordinary', async () => {
    expect((await readKernel()).release).not.toBe('unknown');
    expect(await readKernel(path.join(stateDir, 'none'))).toEqual({
      preemptRt: false,
      release: 'unknown',
    });
  });
});
