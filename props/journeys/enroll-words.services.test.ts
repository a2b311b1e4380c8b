// What `service-sensor enroll` says when it cannot: one line each, with what to do next, and no word of the runtime. Real
// programs; a network that is not there is a namespace without one.
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from './api.ts';
import { createToken } from './fleet.ts';
import {
  freePort,
  type Home,
  makeHome,
  type Program,
  removeHome,
  startCommand,
  startProgram,
} from './programs.ts';

const START_MS = 120_000;
const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const SENSOR = join(ROOT, 'sensor', 'cli', 'service-sensor.js');
const isRoot = process.getuid?.() === 0;

let home: Home;
let running: Program;
let fingerprint = '';
let noTls: Server;

beforeAll(async () => {
  home = await makeHome();
  running = startProgram('gateway/cli/service-console.js', ['quickstart', '--no-sensor'], {
    env: home.env,
  });
  await running.prints(/Ctrl-C stops everything/, START_MS);
  fingerprint = /CA SHA-256 +([0-9a-f]{64})/.exec(running.output())?.[1] ?? '';
  noTls = createServer((socket) => socket.end('220 mail ready\r\n')).listen(0, '127.0.0.1');
}, START_MS);
afterAll(async () => {
  noTls.close();
  running.kill('SIGINT');
  await running.exited;
  await removeHome(home);
}, START_MS);

async function enroll(
  token: string,
  more: { readonly url?: string; readonly ca?: string; readonly before?: readonly string[] } = {},
) {
  const { url = `https://localhost:${home.port}`, ca = fingerprint, before = [] } = more;
  const words = [...before, NODE, SENSOR, 'enroll', '--url', url, '--ca-fingerprint', ca];
  const [command = NODE, ...args] = [...words, '--timeout', '3', '--token-file', '-'];
  const program = startCommand(command, args, { env: home.env });
  program.child.stdin?.end(`${token}\n`);
  const code = await program.exited;
  const lines = program.output().trimEnd().split('\n');
  expect(program.output()).not.toMatch(/node\.js|--use-|ERR_|^\{/im);
  expect(program.output()).not.toContain(token);
  return { code, lines };
}

describe('an enrollment that cannot be', () => {
  it('should show both fingerprints when the CA is another', async () => {
    const { code, lines } = await enroll(await createToken(home), { ca: 'ab'.repeat(32) });
    expect([code, lines.length]).toEqual([6, 1]);
    expect(lines[0]).toContain(fingerprint);
    expect(lines[0]).toContain('ab'.repeat(32));
  });

  it('should say what an address lacks that is no Console', async () => {
    const free = await freePort();
    const nobody = await enroll(await createToken(home), { url: `https://localhost:${free}` });
    expect(nobody.code).toBe(124);
    expect(nobody.lines).toEqual([
      `service-sensor: nothing listens at localhost:${free}: check the address in --url, and that the Console runs; trying again`,
      `service-sensor: not enrolled within 3 s: nothing listens at localhost:${free}: check the address in --url, and that the Console runs`,
    ]);
    const address = noTls.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const mail = await enroll(await createToken(home), { url: `https://127.0.0.1:${port}` });
    expect(mail.lines.at(-1)).toMatch(/does not speak TLS: check the port in --url$/);
  });

  it.runIf(isRoot)('should say that there is no network', async () => {
    const { code, lines } = await enroll(await createToken(home), {
      url: 'https://192.0.2.1:15483',
      before: ['unshare', '-n'],
    });
    expect(code).toBe(124);
    expect(lines.at(-1)).toMatch(/no way to 192\.0\.2\.1:15483: check the network of this node$/);
  });

  it('should name the next command for a token that is used, revoked or unknown', async () => {
    const unknown = (await createToken(home)).replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const bad = await enroll(unknown);
    expect([bad.code, bad.lines]).toEqual([
      2,
      ['service-sensor: this is not an enrollment token: check that it was copied whole'],
    ]);
    const made = await api(home, 'POST', '/api/v2/enrollment-tokens', {});
    const { token_id, secret } = made.body as { token_id: string; secret: string };
    await api(home, 'DELETE', `/api/v2/enrollment-tokens/${token_id}`);
    const revoked = await enroll(secret);
    expect([revoked.code, revoked.lines.length]).toEqual([6, 1]);
    expect(revoked.lines[0]).toMatch(/service-console tokens create$/);
  });

  it('should name the next command for a token that expired', async () => {
    const secret = await createToken(home, 1);
    const page = async () =>
      JSON.stringify((await api(home, 'GET', '/api/v2/enrollment-tokens')).body);
    await expect.poll(page, { timeout: 60_000 }).toContain('"expired"');
    const { code, lines } = await enroll(secret);
    expect([code, lines.length]).toEqual([6, 1]);
    expect(lines[0]).toMatch(/^service-sensor: token_expired: .*service-console tokens create$/);
  });
});
