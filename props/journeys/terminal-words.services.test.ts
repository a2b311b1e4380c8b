// What cannot be, told in a terminal of 80 columns by the real programs, with colours and without: the same words, one
// sentence with the next command, and nothing that moves a terminal. A license that allows no further node, clocks that
// disagree, a port that is taken, too little memory.
import { createHash, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer as createTlsServer, type Server } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certify, LOOPBACK } from '../../sensor/telemetry/certify.fixture.ts';
import { createToken } from './fleet.ts';
import { type Home, makeHome, type Program, ROOT, removeHome, startProgram } from './programs.ts';
import { inTerminal, type Shown } from './terminal.ts';

const START_MS = 240_000;
const TEST_MS = 240_000;
const GRACE_MS = 20_000;
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const CONSOLE = `${NODE} ${ROOT}/gateway/cli/service-console.js`;
const SENSOR = `${NODE} ${ROOT}/sensor/cli/service-sensor.js`;
const LICENSE = `${NODE} ${ROOT}/gateway/cli/service-license.js`;
const WISHES = ['colours', 'no colours'] as const;
const isRoot = process.getuid?.() === 0;

let home: Home;
let running: Program;
let fingerprint = '';

beforeAll(async () => {
  home = await makeHome();
  const keys = await inTerminal(`${LICENSE} keygen --dir ${keysDir()}`, inHome());
  expect(keys.code, keys.raw).toBe(0);
  running = startProgram('gateway/cli/service-console.js', ['quickstart', '--no-sensor'], {
    env: { ...home.env, SERVICE_LICENSE_TRUST_ANCHOR: publicKeyFile() },
  });
  await running.prints(/Ctrl-C stops everything/, START_MS);
  fingerprint = /CA SHA-256 +([0-9a-f]{64})/.exec(running.output())?.[1] ?? '';
}, START_MS);
afterAll(async () => {
  running.kill('SIGINT');
  await running.exited;
  await removeHome(home);
}, START_MS);

const inHome = () => home.env;
const keysDir = () => join(home.folder, 'keys');
const publicKeyFile = () => join(keysDir(), 'license-public-key.pem');

/** Nothing in it but words, ends of lines, and colours where they are wanted. */
function demandCalm({ raw }: Shown, wish: (typeof WISHES)[number]): void {
  const colours = wish === 'colours' ? /\x1b\[[0-9;]*m/g : /(?!)/g;
  expect(raw.replace(colours, '')).not.toMatch(/[\x00-\x09\x0b\x0c\x0e-\x1f]/);
  expect(raw).not.toMatch(/node:|ERR_|^\{|^ +at /m);
}

async function enroll(
  token: string,
  given: { readonly url?: string; readonly ca?: string; readonly state?: string },
  wish: (typeof WISHES)[number],
): Promise<Shown> {
  const { url = `https://localhost:${home.port}`, ca = fingerprint, state = 'second' } = given;
  const file = join(home.folder, 'token');
  writeFileSync(file, token, { mode: 0o600 });
  const shown = await inTerminal(
    `${SENSOR} enroll --url ${url} --ca-fingerprint ${ca} --token-file ${file} --timeout 5`,
    { ...home.env, SERVICE_SENSOR_STATE_DIR: join(home.folder, state) },
    wish,
  );
  demandCalm(shown, wish);
  expect(shown.raw).not.toContain(token);
  return shown;
}

describe('in a terminal of 80 columns', () => {
  it('should name the next command when the license allows no further node', {
    timeout: TEST_MS,
  }, async () => {
    expect((await enroll(await createToken(home), { state: 'first' }, 'colours')).code).toBe(0);
    const until = new Date(Date.now() + 2_000).toISOString();
    const payload = {
      ...{ customer_id: 'customer', workspace_id: 'workspace', license_id: 'small', plan: 'fleet' },
      ...{ max_protected_nodes: 1, valid_from: '2026-01-01T00:00:00Z', valid_until: until },
      grace_until: new Date(Date.now() + GRACE_MS).toISOString(),
    };
    const [draft, signed] = [join(home.folder, 'draft.json'), join(home.folder, 'license.json')];
    writeFileSync(draft, JSON.stringify(payload));
    const made = await inTerminal(
      `${LICENSE} sign ${draft} --dir ${keysDir()} > ${signed}`,
      inHome(),
    );
    expect(made.code, made.raw).toBe(0);
    const imported = await inTerminal(`${CONSOLE} license import ${signed}`, inHome());
    expect(imported.code, imported.raw).toBe(0);
    const show = async () => (await inTerminal(`${CONSOLE} license show`, inHome())).raw;
    await expect.poll(show, { timeout: TEST_MS, interval: 2_000 }).toMatch(/expired/);
    for (const wish of WISHES) {
      const { code, rows } = await enroll(await createToken(home), {}, wish);
      expect(code).toBe(6);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatch(
        /^service-sensor: license_limit: .*service-console license import FILE$/,
      );
    }
  });

  it.each([
    ['ahead', 1, /is not valid yet at .*: set the clock of this node/],
    ['behind', -1, /has expired at .*: set the clock of this node, or renew the certificate/],
  ])(
    'should say that a clock is wrong when the Console’s is far %s',
    async (_, sign, sentence) => {
      const { server, url, ca } = await consoleOf(sign * 40 * 86_400_000);
      try {
        for (const wish of WISHES) {
          const { code, rows } = await enroll(await createToken(home), { url, ca }, wish);
          expect(code).not.toBe(0);
          expect(rows.at(-1)).toMatch(sentence);
          expect(rows.length).toBeLessThanOrEqual(2);
        }
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
    TEST_MS,
  );

  it(
    'should name the setting of a port that is taken',
    async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as AddressInfo;
      const env = {
        ...home.env,
        SERVICE_CONSOLE_PORT: String(port),
        SERVICE_CONSOLE_DATA_DIR: join(home.folder, 'other'),
      };
      for (const wish of WISHES) {
        const shown = await inTerminal(`${CONSOLE} quickstart --no-sensor`, env, wish);
        demandCalm(shown, wish);
        expect(shown.rows).toEqual([
          `error: the Console could not start: port ${port} is taken by another program; stop that one, or set SERVICE_CONSOLE_PORT (port in console.yaml) to a free one`,
        ]);
      }
      other.close();
    },
    TEST_MS,
  );

  it.runIf(isRoot)(
    'should say how much memory is missing',
    async () => {
      const file = join(home.folder, 'meminfo');
      writeFileSync(file, 'MemTotal: 900000 kB\nMemFree: 20000 kB\nMemAvailable: 204800 kB\n');
      const env = { ...home.env, SERVICE_CONSOLE_DATA_DIR: join(home.folder, 'other') };
      for (const wish of WISHES) {
        const line = `unshare -m sh -c 'mount --bind ${file} /proc/meminfo && exec ${CONSOLE} quickstart'`;
        const shown = await inTerminal(line, env, wish);
        demandCalm(shown, wish);
        expect([shown.code, shown.rows.length]).toEqual([1, 1]);
        expect(shown.rows[0]).toMatch(
          /200 MiB are free, and it needs 512 MiB; free about 1 GiB and start again$/,
        );
      }
    },
    TEST_MS,
  );
});

/** A server with certificates as a Console makes them whose clock is so far off. */
async function consoleOf(aheadMs: number): Promise<{
  readonly server: Server;
  readonly url: string;
  readonly ca: string;
}> {
  const authority = { name: 'console', ...certify('console', null, [], aheadMs) };
  const own = certify('127.0.0.1', authority, LOOPBACK, aheadMs);
  const cert = `${own.certPem}${authority.certPem}`;
  const server = createTlsServer({ key: own.keyPem, cert }, (_, answer) => answer.end());
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const { raw } = new X509Certificate(authority.certPem);
  const ca = createHash('sha256').update(raw).digest('hex');
  return { server, url: `https://127.0.0.1:${port}`, ca };
}
