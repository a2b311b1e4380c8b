// The archive by itself: it holds what its sums say, needs no newer C library than the oldest supported system has, and
// runs where neither Node nor npm is. decision: D68
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Package, packageVersion } from './archive.ts';
import { packageSensor } from './sensor-package.ts';

/** Debian 11 has 2.31, Ubuntu 20.04 2.31, RHEL 8 2.28. */
const OLDEST_GLIBC = 28;
const ELF = Buffer.from('\x7fELF', 'latin1');
const MAKING_MS = 180_000;

let folder = '';
let made: Package;
const inside = (path: string) => join(folder, 'service-sensor', path);
const run = (args: readonly string[]) =>
  spawnSync(inside('bin/service-sensor'), args, {
    env: { PATH: '/usr/bin:/bin', HOME: folder, SERVICE_SENSOR_STATE_DIR: join(folder, 'state') },
    encoding: 'utf8',
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sensor package '));
  made = await packageSensor(join(folder, 'dist'));
  execFileSync('tar', ['-xzf', made.archive, '-C', folder]);
}, MAKING_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package of the Sensor', () => {
  it('should stand beside its checksum and leave nothing else', () => {
    const name = `service-sensor-${packageVersion()}-linux-x64.tar.gz`;
    expect(readdirSync(join(folder, 'dist')).sort()).toEqual([name, `${name}.sha256`]);
    const check = { cwd: join(folder, 'dist') };
    expect(spawnSync('sha256sum', ['-c', `${name}.sha256`], check).status).toBe(0);
  });

  it('should hold exactly the files its own sums name', () => {
    expect(
      spawnSync('sha256sum', ['-c', 'SHA256SUMS', '--quiet'], { cwd: inside('') }).status,
    ).toBe(0);
    const named = readFileSync(inside('SHA256SUMS'), 'utf8').trim().split('\n').length;
    const held = readdirSync(inside(''), { recursive: true, withFileTypes: true });
    expect(held.filter((entry) => entry.isFile()).length).toBe(named + 1);
    const links = held.filter((entry) => entry.isSymbolicLink());
    expect(links).toEqual([]);
  });

  it('should hold no test, no compiler and no npm, and a licence notice and bill of what it holds', () => {
    const held = readdirSync(inside(''), { recursive: true, encoding: 'utf8' });
    expect(
      held.filter((path) => /\.test\.ts$|(^|\/)(npm|rolldown|vitest|typescript)$/.test(path)),
    ).toEqual([]);
    expect(readFileSync(inside('NOTICE'), 'utf8')).toMatch(/xstate \d[\s\S]*libelf/);
    const bill = JSON.parse(readFileSync(inside('service-sensor.cdx.json'), 'utf8'));
    const names = bill.components.map(({ name }: { name: string }) => name);
    expect(names).toContain('xstate');
    expect(names).not.toContain('rolldown');
  });

  it('should need no symbol of a C library newer than 2.28', () => {
    const programs = readdirSync(inside(''), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => readFileSync(path).subarray(0, 4).equals(ELF));
    expect(programs).toHaveLength(2);
    for (const path of programs) {
      const text = readFileSync(path).toString('latin1');
      const minors = [...text.matchAll(/\bGLIBC_2\.(\d+)\b/g)].map(([, minor]) => Number(minor));
      // The engine is static and asks for none.
      expect(Math.max(0, ...minors), path).toBeLessThanOrEqual(OLDEST_GLIBC);
    }
  });

  it('should run without Node on the path, with the joined modules it brings', () => {
    const version = run(['version', '--licenses']);
    expect(version.stderr).toBe('');
    expect(version.stdout).toContain(packageVersion());
    const status = run(['status', '-o', 'json']);
    expect(status.status, status.stderr).not.toBe(1);
    const doctor = run(['doctor']);
    expect(doctor.stdout).toMatch(/engine +(ebpf|procfs)/);
    const joined = readdirSync(inside('node_modules/.cache/service-sensor'));
    expect(joined.filter((name) => name.startsWith('joined-'))).toHaveLength(1);
    expect(readdirSync(inside('node_modules/typebox')).some((name) => name === 'build')).toBe(
      false,
    );
  });

  it('should remove itself and leave the identity', () => {
    const copy = mkdtempSync(join(folder, 'installed-'));
    execFileSync('cp', ['-r', inside('.'), join(copy, 'service-sensor')]);
    const removed = spawnSync('sh', [join(copy, 'service-sensor', 'uninstall.sh')], {
      env: { PATH: '/usr/bin:/bin', SERVICE_SENSOR_STATE_DIR: join(folder, 'state') },
      encoding: 'utf8',
    });
    expect(removed.status, removed.stderr).toBe(0);
    expect(removed.stdout).toContain('Its identity and spool stay');
    expect(readdirSync(copy)).toEqual([]);
  });
});
