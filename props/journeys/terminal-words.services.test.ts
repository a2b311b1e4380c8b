// What the programs say in a terminal of 80 columns when something keeps them from starting or enrolling: the same words
// with and without colours, one sentence with what to do, no log and no word of the runtime. What a program cannot know is
// made around it: a namespace without a network, a file system without room, a server whose certificate is of tomorrow.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import forge from 'node-forge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signLicense } from '../../actors/license/envelope-signature.ts';
import { payloadOfDraft } from '../../machines/trust/license.rules.ts';
import { LICENSE_FILES, openLicenseKey } from '../../storage/keys/license-key.ts';
import { api } from './api.ts';
import { createToken, enroll as enrollNode } from './fleet.ts';
import {
  freePort,
  type Home,
  makeHome,
  type Program,
  ROOT,
  removeHome,
  startProgram,
} from './programs.ts';
import { inherited, openTerminal, rowsOf } from './terminal.ts';

const START_MS = 180_000;
const DAY_MS = 86_400_000;
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const CONSOLE = `"${NODE}" "${join(ROOT, 'gateway', 'cli', 'service-console.js')}"`;
const SENSOR = `"${NODE}" "${join(ROOT, 'sensor', 'cli', 'service-sensor.js')}"`;
const isRoot = process.getuid?.() === 0;
const RUNTIME = /node\.js|--use-|ERR_|^ +at |^\{/im;

type Said = { readonly code: number; readonly rows: readonly string[] };

/** Runs a line twice, with colours and without; answers what both said. */
async function saidBy(
  home: Home,
  line: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const env = { ...inherited(), ...home.env, ...more };
  const coloured = openTerminal(line, { at: home.folder, env });
  const code = await coloured.exited;
  const plain = openTerminal(line, { at: home.folder, env: { ...env, NO_COLOR: '1' } });
  expect(await plain.exited, `${coloured.raw()}\n${plain.raw()}`).toBe(code);
  expect(plain.raw()).not.toContain('\x1b[3');
  const rows = rowsOf(plain.raw());
  // Two runs tell two instants.
  const untimed = (one: string) => one.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'then');
  expect(rowsOf(coloured.raw()).map(untimed)).toEqual(rows.map(untimed));
  expect(rows.join('\n')).not.toMatch(RUNTIME);
  return { code, rows };
}

describe.runIf(isRoot)('a start that cannot be, in a terminal', () => {
  let home: Home;
  beforeAll(async () => {
    home = await makeHome();
  });
  afterAll(() => removeHome(home));

  /** Each start has a mount namespace of its own, prepared first. */
  const start = (prepare = ':', env: Readonly<Record<string, string>> = {}) =>
    saidBy(home, `unshare -m sh -c '${prepare} && exec ${CONSOLE} quickstart --no-sensor'`, env);

  it.each([
    [
      'no room',
      'mount -t tmpfs -o size=25m none "$SERVICE_CONSOLE_DATA_DIR"',
      /has \d+ MiB left, and the databases need 256 MiB; free some, or set/,
    ],
    [
      'a folder that cannot be written',
      'mount -t tmpfs -o ro none "$SERVICE_CONSOLE_DATA_DIR"',
      /is on a read-only file system; make it writable, or set SERVICE_CONSOLE_DATA_DIR/,
    ],
    [
      'no memory',
      'sed "s/^MemAvailable.*/MemAvailable: 65536 kB/" /proc/meminfo > "$HOME/meminfo" && mount --bind "$HOME/meminfo" /proc/meminfo',
      /there is not enough memory: 64 MiB are free, and it needs \d+ MiB; free about 1 GiB and start again/,
    ],
  ])('should be one sentence: %s', { timeout: START_MS }, async (_name, prepare, sentence) => {
    const { code, rows } = await start(prepare);
    expect(code).toBe(1);
    expect(rows.at(-1)).toMatch(sentence);
    expect(rows.filter((row) => row.startsWith('error: '))).toHaveLength(1);
  });

  it('should name the folder whose data another database made', {
    timeout: 2 * START_MS,
  }, async () => {
    const first = startProgram('gateway/cli/service-console.js', ['quickstart', '--no-sensor'], {
      env: home.env,
    });
    await first.prints(/Ctrl-C stops everything/, START_MS);
    first.kill('SIGINT');
    expect(await first.exited).toBe(0);
    writeFileSync(join(home.consoleDir, 'postgres', 'data', 'PG_VERSION'), '9.6\n');
    const { code, rows } = await start();
    expect(code).toBe(1);
    expect(rows.at(-1)).toMatch(
      /console was made by another version of the database; start the version that made it, or move the folder away/,
    );
  });

  it('should name the setting of a port that is taken', { timeout: START_MS }, async () => {
    const other = createServer().listen(home.port, '127.0.0.1');
    try {
      const { code, rows } = await start();
      expect(code).toBe(1);
      expect(rows.at(-1)).toMatch(
        /is taken by another program; stop that one, or set SERVICE_CONSOLE_PORT/,
      );
    } finally {
      other.close();
    }
  });

  it('should say what a read-only home needs', { timeout: START_MS }, async () => {
    const folder = join(home.folder, 'ro');
    mkdirSync(folder, { recursive: true });
    const { code, rows } = await start(`mount -t tmpfs -o ro none "${folder}"`, {
      XDG_CONFIG_HOME: folder,
    });
    expect(code).toBe(1);
    expect(rows.at(-1)).toMatch(/read-only file system; set XDG_CONFIG_HOME to a folder/);
  });
});

/** A server of a CA of its own, both valid from tomorrow on: what a node sees whose clock is a day late. */
function tomorrow(): { readonly cert: string; readonly key: string; readonly fingerprint: string } {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs1' }).toString();
  const cert = forge.pki.createCertificate();
  cert.publicKey = forge.pki.publicKeyFromPem(
    pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  );
  cert.serialNumber = '01';
  cert.validity.notBefore = new Date(Date.now() + DAY_MS);
  cert.validity.notAfter = new Date(Date.now() + 2 * DAY_MS);
  const name = [{ name: 'commonName', value: 'localhost' }];
  cert.setSubject(name);
  cert.setIssuer(name);
  cert.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
  ]);
  cert.sign(forge.pki.privateKeyFromPem(pem), forge.md.sha256.create());
  const der = Buffer.from(forge.asn1.toDer(forge.pki.certificateToAsn1(cert)).getBytes(), 'latin1');
  return {
    cert: forge.pki.certificateToPem(cert),
    key: pem,
    fingerprint: createHash('sha256').update(der).digest('hex'),
  };
}

describe('an enrollment that cannot be, in a terminal', () => {
  let home: Home;
  let running: Program;
  let fingerprint = '';
  beforeAll(async () => {
    home = await makeHome();
    running = startProgram('gateway/cli/service-console.js', ['quickstart', '--no-sensor'], {
      env: home.env,
    });
    await running.prints(/Ctrl-C stops everything/, START_MS);
    fingerprint = /CA SHA-256 +([0-9a-f]{64})/.exec(running.output())?.[1] ?? '';
  }, START_MS);
  afterAll(async () => {
    running.kill('SIGINT');
    await running.exited;
    await removeHome(home);
  }, START_MS);

  async function enroll(
    token: string,
    more: { readonly url?: string; readonly ca?: string; readonly before?: string } = {},
  ): Promise<Said> {
    const { url = `https://localhost:${home.port}`, ca = fingerprint, before = '' } = more;
    const file = join(home.folder, 'token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const line = `${before} ${SENSOR} enroll --url ${url} --ca-fingerprint ${ca} --timeout 3 --token-file ${file}`;
    const said = await saidBy(home, line);
    expect(said.rows.join('\n')).not.toContain(token);
    return said;
  }

  it('should show both fingerprints when the CA is another', { timeout: START_MS }, async () => {
    const { code, rows } = await enroll(await createToken(home), { ca: 'ab'.repeat(32) });
    expect([code, rows.length]).toEqual([6, 1]);
    expect(rows[0]).toContain(fingerprint);
    expect(rows[0]).toContain('ab'.repeat(32));
  });

  it('should name the address at which nothing listens', { timeout: START_MS }, async () => {
    const { code, rows } = await enroll(await createToken(home), {
      url: `https://localhost:${await freePort()}`,
    });
    expect(code).toBe(124);
    expect(rows.at(-1)).toMatch(/check the address in --url, and that the Console runs$/);
  });

  it.runIf(isRoot)('should say that there is no network', { timeout: START_MS }, async () => {
    const { code, rows } = await enroll(await createToken(home), {
      url: 'https://192.0.2.1:15483',
      before: 'unshare -n',
    });
    expect(code).toBe(124);
    expect(rows.at(-1)).toMatch(/no way to 192\.0\.2\.1:15483: check the network of this node$/);
  });

  it('should ask for the clock when the Console begins tomorrow', {
    timeout: START_MS,
  }, async () => {
    const { fingerprint: ca, ...identity } = tomorrow();
    // Whoever pins the CA fetches it from there first.
    const server = createHttpsServer(identity, (_, answer) => answer.end(identity.cert));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { rows } = await enroll(await createToken(home), {
      url: `https://localhost:${port}`,
      ca,
    });
    server.close();
    expect(rows.at(-1)).toMatch(/is not valid yet at .*: set the clock of this node$/);
  });

  it('should name the next command for a token that was revoked', {
    timeout: START_MS,
  }, async () => {
    const made = await api(home, 'POST', '/api/v2/enrollment-tokens', {});
    const { token_id, secret } = made.body as { token_id: string; secret: string };
    await api(home, 'DELETE', `/api/v2/enrollment-tokens/${token_id}`);
    const { code, rows } = await enroll(secret);
    expect([code, rows.length]).toEqual([6, 1]);
    expect(rows[0]).toMatch(/service-console tokens create$/);
  });

  it('should name the next command when the license is used up', {
    timeout: START_MS,
  }, async () => {
    const other = join(home.folder, 'other');
    const first = await enrollNode(home, await createToken(home), {
      SERVICE_SENSOR_STATE_DIR: other,
    });
    expect(first.code, first.output).toBe(0);
    const keys = join(home.consoleDir, 'keys', 'license-evaluation', LICENSE_FILES.privateKey);
    const opened = await openLicenseKey(keys);
    if (!opened.ok) throw new Error(opened.reason);
    const nowMs = Date.now();
    const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
    const draft = {
      ...{ customer_id: 'small', workspace_id: 'small', license_id: 'small', plan: 'small' },
      ...{ max_protected_nodes: 1, valid_from: at(-60), valid_until: at(3), grace_until: at(4) },
    };
    const signed = signLicense(payloadOfDraft(draft, nowMs, 7), opened.key.secretKey);
    if (!signed.ok) throw new Error(signed.detail);
    const imported = await api(home, 'POST', '/api/v2/license', signed.envelope);
    expect(imported.status, JSON.stringify(imported.body)).toBeLessThan(300);
    // A license limits once its grace has passed.
    const now = async () => (await api(home, 'GET', '/api/v2/license')).body;
    await expect.poll(now, { timeout: START_MS }).toMatchObject({ phase: 'expired' });
    const { code, rows } = await enroll(await createToken(home));
    expect([code, rows.length]).toEqual([6, 1]);
    expect(rows[0]).toMatch(
      /^service-sensor: license_limit: .*service-console license import FILE$/,
    );
  });
});
