import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pinOf, placeBundle } from './bundle.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(path.join(tmpdir(), 'bundle-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const NAME = 'tetragon-v1.7.0-amd64';
const PROGRAM = 'usr/local/bin/tetragon';
const OBJECT = 'usr/local/lib/tetragon/bpf/bpf_execve_event.o';
const MAP_READER = 'usr/local/lib/tetragon/bpftool';

function makeDirectory(files: readonly string[] = [PROGRAM, OBJECT, MAP_READER, 'install.sh']) {
  const directory = path.join(scratch, NAME);
  for (const name of files) {
    mkdirSync(path.join(directory, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(directory, name), `this is ${name}`);
  }
  return directory;
}

/** A tar entry made by hand, so that it can hold what `tar` would not write. */
function entry(name: string, body: string, type = '0'): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write('0000644\0', 100);
  header.write(`${Buffer.byteLength(body).toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write('ustar\0', 257);
  sumHeader(header);
  const padded = Buffer.alloc(Math.ceil(Buffer.byteLength(body) / 512) * 512);
  padded.write(body);
  return Buffer.concat([header, padded]);
}

function makeTarball(entries: readonly Buffer[], isWhole = true): string {
  const file = path.join(scratch, 'bundle.tar.gz');
  const end = isWhole ? [Buffer.alloc(1_024)] : [];
  writeFileSync(file, gzipSync(Buffer.concat([...entries, ...end])));
  return file;
}

const good = [entry(PROGRAM, 'program'), entry(OBJECT, 'object')];
const place = async (bundle: string, pin?: string) =>
  await placeBundle({
    bundle,
    pin: pin ?? (await pinOf(bundle)),
    directory: path.join(scratch, 'placed'),
  });
const placed = () => {
  const directory = path.join(scratch, 'placed');
  return existsSync(directory) ? readdirSync(directory) : [];
};

describe('a Tetragon bundle', () => {
  it.each(['directory', 'tarball', 'plain tar'])(
    'should be placed from a %s, and only what is needed of it',
    async (form) => {
      const directory = makeDirectory();
      const tar = path.join(scratch, 'bundle.tar');
      const words = form === 'tarball' ? '-czf' : '-cf';
      execFileSync('tar', ['-C', scratch, words, tar, NAME]);
      const result = await place(form === 'directory' ? directory : tar);
      if (!result.ok) throw new Error(result.reason);
      const { program, bpfLib, mapReader } = result.bundle;
      expect(readFileSync(program, 'utf8')).toBe(`this is ${PROGRAM}`);
      expect(statSync(program).mode & 0o777).toBe(0o700);
      expect(readdirSync(bpfLib)).toEqual(['bpf_execve_event.o']);
      expect(statSync(path.join(bpfLib, 'bpf_execve_event.o')).mode & 0o777).toBe(0o600);
      expect(mapReader).toBe(path.join(path.dirname(program), 'bpftool'));
      expect(readdirSync(path.dirname(path.dirname(program))).sort()).toEqual([
        'bin',
        'bpf',
        'manifest.json',
      ]);
    },
  );

  it('should have the pin that anybody can compute', async () => {
    const directory = makeDirectory();
    const command =
      'find * -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-64';
    const said = execFileSync('sh', ['-c', command], { cwd: directory }).toString().trim();
    expect(await pinOf(directory)).toBe(said);
    const tarball = makeTarball(good);
    const sum = execFileSync('sh', ['-c', `sha256sum '${tarball}'`])
      .toString()
      .slice(0, 64);
    expect(await pinOf(tarball)).toBe(sum);
  });

  it('should be refused when it is not the pinned one, and leave nothing', async () => {
    const directory = makeDirectory();
    const pin = await pinOf(directory);
    writeFileSync(path.join(directory, 'install.sh'), 'another');
    const result = await place(directory, pin);
    expect(result).toEqual({ ok: false, reason: expect.stringContaining('another one is pinned') });
    expect(placed()).toEqual([]);
    expect(await place(directory, 'abc')).toMatchObject({ ok: false });
  });

  it('should be placed once, mended when it was changed, and replaced by another one', async () => {
    const first = await place(makeTarball(good));
    if (!first.ok) throw new Error(first.reason);
    const made = statSync(first.bundle.program).ino;
    await place(makeTarball(good));
    expect(statSync(first.bundle.program).ino).toBe(made);
    writeFileSync(first.bundle.program, 'tampered');
    await place(makeTarball(good));
    expect(readFileSync(first.bundle.program, 'utf8')).toBe('program');
    const second = await place(makeTarball([...good, entry('README', 'newer')]));
    expect(second.ok && second.bundle.program).not.toBe(first.bundle.program);
    expect(placed()).toHaveLength(1);
  });

  it.each([
    ['climbs out', [entry('../../etc/lib/tetragon/x.o', 'x')], /leaves it/],
    ['climbs out in the middle', [entry('usr/../../../bin/tetragon', 'x')], /leaves it/],
    ['is absolute', [entry('/usr/local/bin/tetragon', 'x')], /leaves it/],
    ['is a symbolic link', [entry(PROGRAM, '', '2')], /no plain file/],
    ['is a hard link', [entry(OBJECT, '', '1')], /no plain file/],
    ['is a device', [entry(OBJECT, '', '3')], /no plain file/],
    ['comes twice', [entry(PROGRAM, 'x')], /twice/],
    ['is cut off', [entry('README', 'x'.repeat(600)).subarray(0, 700)], /too early/],
    ['has a broken header', [Buffer.alloc(512, 'x')], /no tar archive/],
    ['claims to be huge', [hugeEntry()], /too large/],
  ])('should be refused whole when an entry of it %s', async (_, hostile, reason) => {
    const result = await place(makeTarball([...good, ...hostile], false));
    expect(result).toEqual({ ok: false, reason: expect.stringMatching(reason) });
    expect(readdirSync(scratch).sort()).toEqual(['bundle.tar.gz', 'placed']);
    expect(placed()).toEqual([]);
  });

  it('should take long names, as GNU tar and pax write them', async () => {
    const long = `${'d/'.repeat(80)}${OBJECT}`;
    const pax = `${String(long.length + 10)} path=${long}\n`;
    for (const named of [
      [entry('././@LongLink', `${long}\0`, 'L'), entry('short', 'object')],
      [entry('PaxHeader', pax, 'x'), entry('short', 'object')],
    ]) {
      const result = await place(makeTarball([entry(PROGRAM, 'program'), ...named]));
      expect(result).toMatchObject({ ok: true });
    }
  });

  it('should never write outside its place, whatever bytes of an archive are others', async () => {
    const archive = Buffer.concat([...good, entry('README', 'x'.repeat(700)), Buffer.alloc(1_024)]);
    const file = path.join(scratch, 'any.tar');
    const change = fc.record({
      at: fc.nat(archive.byteLength - 1),
      bytes: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 16 }),
        fc.constantFrom('../', '/etc/', '\0', '2', '77777777777').map((text) => Buffer.from(text)),
      ),
      isSummed: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(archive);
        for (const { at, bytes: others, isSummed } of changes) {
          bytes.set(others.subarray(0, bytes.byteLength - at), at);
          if (isSummed) sumHeader(bytes.subarray(at - (at % 512), at - (at % 512) + 512));
        }
        writeFileSync(file, bytes);
        const result = await place(file);
        expect(readdirSync(scratch).sort()).toEqual(['any.tar', 'placed']);
        expect(placed().length).toBe(result.ok ? 1 : 0);
        rmSync(path.join(scratch, 'placed'), { recursive: true });
      }),
      { numRuns: 100 },
    );
  });

  it('should be refused when something of it is missing or a link stands for it', async () => {
    expect(await place(makeTarball([entry(PROGRAM, 'x')]))).toMatchObject({ ok: false });
    expect(await place(makeTarball([entry(OBJECT, 'x')]))).toMatchObject({ ok: false });
    const directory = makeDirectory([OBJECT]);
    mkdirSync(path.join(directory, 'usr/local/bin'), { recursive: true });
    symlinkSync('/bin/sh', path.join(directory, PROGRAM));
    expect(await place(directory)).toEqual({
      ok: false,
      reason: expect.stringContaining('no plain file'),
    });
    expect(await place(path.join(scratch, 'none'), 'a'.repeat(64))).toMatchObject({ ok: false });
  });
});

function hugeEntry(): Buffer {
  const header = entry('README', '');
  header.write('77777777777\0', 124);
  sumHeader(header);
  return header;
}

function sumHeader(header: Buffer): void {
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
}
