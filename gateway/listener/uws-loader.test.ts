import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cureGlibc } from './elf-glibc-cure.ts';
import { describeHost, type Host, loadUws, planBinary } from './uws-loader.ts';

const folder = dirname(createRequire(import.meta.url).resolve('uWebSockets.js'));
const readBinary = (arch: string, abi: string) =>
  readFileSync(join(folder, `uws_linux_${arch}_${abi}.node`));
const oldHost: Host = { platform: 'linux', arch: 'x64', abi: '137', glibc: '2.36' };

describe('cureGlibc', () => {
  it('should rename exactly the three symbols and leave the input alone', () => {
    const image = readBinary('x64', '137');
    const before = Buffer.from(image);
    const cure = cureGlibc(image);
    expect(cure.ok && [...cure.symbols].sort()).toEqual([
      '__isoc23_sscanf',
      '__isoc23_strtol',
      '__isoc23_strtoul',
    ]);
    expect(image.equals(before)).toBe(true);
    expect(cure.ok && cure.image.length).toBe(before.length);
  });

  it('should refuse a symbol that has no plain counterpart', () => {
    const image = readBinary('x64', '137');
    const at = image.indexOf('\0__isoc23_strtol\0');
    image.write('__isoc99', at + 1, 'latin1');
    const cure = cureGlibc(image);
    expect(cure.ok).toBe(false);
    expect(!cure.ok && cure.reason).toContain('no plain counterpart');
  });

  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['text', Buffer.from('not a binary, only some text that is long enough to be read')],
    ['a truncated binary', readBinary('x64', '137').subarray(0, 4_096)],
    ['another machine', readBinary('arm64', '137')],
  ])('should refuse %s', (_name, image) => {
    expect(cureGlibc(image).ok).toBe(false);
  });
});

describe('planBinary', () => {
  it.each(['115', '127', '137', '141'])(
    'should cure the x64 binary of ABI %s to its pinned sum',
    (abi) => {
      const plan = planBinary(readBinary('x64', abi), { ...oldHost, abi });
      expect(plan).toMatchObject({ ok: true, kind: 'cured' });
    },
  );

  it.each(['x64', 'arm64'])('should take the published %s binary on a new glibc', (arch) => {
    for (const glibc of ['2.38', '2.41', '3.0']) {
      const plan = planBinary(readBinary(arch, '137'), { ...oldHost, arch, glibc });
      expect(plan).toEqual({ ok: true, kind: 'published' });
    }
  });

  it('should refuse an unknown binary on old and on new glibc', () => {
    const image = readBinary('x64', '137');
    image.writeUInt8(image.readUInt8(image.length - 1) ^ 1, image.length - 1);
    for (const glibc of ['2.36', '2.41']) {
      const plan = planBinary(image, { ...oldHost, glibc });
      expect(!plan.ok && plan.reason).toContain('is unknown');
    }
  });

  it('should refuse arm64 on an old glibc, musl, and hosts without a pinned binary', () => {
    const arm = planBinary(readBinary('arm64', '137'), { ...oldHost, arch: 'arm64' });
    expect(!arm.ok && arm.reason).toContain('2.38 or newer');
    const musl = planBinary(readBinary('x64', '137'), { ...oldHost, glibc: undefined });
    expect(!musl.ok && musl.reason).toContain('musl');
    const other = planBinary(readBinary('x64', '137'), { ...oldHost, abi: '999' });
    expect(!other.ok && other.reason).toContain('no pinned');
  });
});

describe('loadUws', () => {
  let cacheDir = '';
  beforeEach(() => {
    cacheDir = mkdtempSync(join(tmpdir(), 'uws-cache-'));
  });
  afterEach(() => rmSync(cacheDir, { recursive: true, force: true }));

  it('should give a working module and repair a damaged cached copy', (context) => {
    if (process.platform !== 'linux') return context.skip('the pinned binaries are for Linux');
    const first = loadUws({ cacheDir });
    expect(first.ok && typeof first.uws.SSLApp).toBe('function');
    if (!first.ok || !first.cured)
      return context.skip(`glibc ${describeHost().glibc} needs no cure`);
    const [name = ''] = readdirSync(cacheDir);
    const sound = readFileSync(join(cacheDir, name));
    rmSync(join(cacheDir, name));
    writeFileSync(join(cacheDir, name), 'damaged');
    chmodSync(join(cacheDir, name), 0o700);
    expect(loadUws({ cacheDir }).ok).toBe(true);
    expect(readFileSync(join(cacheDir, name)).equals(sound)).toBe(true);
    expect(readdirSync(cacheDir)).toEqual([name]);
  });
});
