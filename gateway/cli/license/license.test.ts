// `service-license` by example, in this process and on real files and sockets: the keys it makes, what it signs and
// verifies, and what its service refuses.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEnvelope } from '../../../actors/license/envelope-signature.ts';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { LICENSE_BODY_MAX_BYTES } from '../../../machines/limits.ts';
import { openLicenseKey, openSharedSecret } from '../../../storage/keys/license-key.ts';
import { readInput } from './input.ts';
import { runLicenseProgram } from './program.ts';
import { SIGN_PATH, type SigningService, startSigningService } from './signing-service.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const DRAFT = {
  customer_id: 'c',
  workspace_id: 'w',
  license_id: 'l',
  plan: 'p',
  max_protected_nodes: 3,
  valid_from: '2026-01-01T00:00:00Z',
  valid_until: '2027-01-01T00:00:00Z',
};
let root: string;
let dir: string;
const file = (name: string) => join(dir, name);

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'license-'));
  dir = join(root, 'keys');
  expect((await run('keygen', '--dir', dir)).code).toBe(0);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function run(...argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runLicenseProgram(argv, {
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => NOW_MS,
    readInput,
    logger: silentLogger,
    stopped: async () => undefined,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function written(name: string, value: unknown): string {
  const path = join(root, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

describe('keygen', () => {
  it('should make secrets that only their owner can read, and replace none', async () => {
    const modes = readdirSync(dir).map((name) => [name, statSync(file(name)).mode & 0o777]);
    expect(Object.fromEntries(modes)).toEqual({
      'license-signing.ed25519': 0o600,
      'license-signing.pub': 0o644 & ~process.umask(),
      'sign-license.secret': 0o600,
    });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const before = readFileSync(file('license-signing.ed25519'), 'utf8');
    expect(await run('keygen', '--dir', dir)).toMatchObject({ code: 6, out: '' });
    expect(readFileSync(file('license-signing.ed25519'), 'utf8')).toBe(before);
  });
});

describe('sign and verify', () => {
  it('should make a license that verifies with the public key alone', async () => {
    const signed = await run('sign', written('draft.json', DRAFT), '--dir', dir);
    expect(signed.code).toBe(0);
    const payload = {
      issued_at: '2026-03-01T12:00:00.000Z',
      grace_until: '2027-01-31T00:00:00.000Z',
    };
    expect(JSON.parse(signed.out)).toEqual({
      schema_version: 1,
      signature_algorithm: 'ED25519',
      payload: { ...DRAFT, ...payload },
      signature: expect.any(String),
    });
    const graced = ['sign', written('draft.json', DRAFT), '--dir', dir, '--grace-days'];
    const short = JSON.parse((await run(...graced, '1')).out);
    expect(short.payload.grace_until).toBe('2027-01-02T00:00:00.000Z');
    expect((await run(...graced, '366')).code).toBe(2);
    const license = written('license.json', signed.out);
    const verified = await run('verify', license, '--public-key', file('license-signing.pub'));
    expect(verified).toMatchObject({ code: 0, err: 'The signature is good.' });
    expect(JSON.parse(verified.out)).toMatchObject({ phase: 'valid', license_id: 'l' });
    const bent = written(
      'bent.json',
      signed.out.replace('"max_protected_nodes": 3', '"max_protected_nodes": 4'),
    );
    const refused = await run('verify', bent, '--public-key', file('license-signing.pub'));
    expect(refused).toMatchObject({ code: 6, out: '' });
    expect(refused.err).toContain('license_refused');
  });

  it('should say what is wrong, and never with a private key', async () => {
    const wrong = written('wrong.json', { ...DRAFT, valid_until: '2025-01-01T00:00:00Z' });
    expect((await run('sign', wrong, '--dir', dir)).err).toContain('/valid_until');
    expect((await run('sign', written('no.json', '{'), '--dir', dir)).code).toBe(6);
    expect((await run('sign', join(root, 'absent.json'), '--dir', dir)).code).toBe(2);
    const big = written('big.json', ' '.repeat(LICENSE_BODY_MAX_BYTES + 1));
    expect((await run('sign', big, '--dir', dir)).err).toContain('bytes');
    const swapped = await run('verify', wrong, '--public-key', file('license-signing.ed25519'));
    expect(swapped.err).toContain('private key');
    expect(swapped.err).not.toContain('BEGIN');
  });

  it('should use no key that others can read', async () => {
    const key = file('license-signing.ed25519');
    chmodSync(key, 0o640);
    const signed = await run('sign', written('draft.json', DRAFT), '--dir', dir);
    chmodSync(key, 0o600);
    expect(signed).toMatchObject({ code: 1, out: '' });
    expect(signed.err).toContain('chmod 600');
  });
});

describe('serve', () => {
  let service: SigningService | null = null;
  afterEach(async () => {
    await service?.close();
    service = null;
  });

  async function start() {
    const key = await openLicenseKey(file('license-signing.ed25519'));
    const shared = await openSharedSecret(file('sign-license.secret'));
    if (!key.ok || !shared.ok) throw new Error('the keys of this test are there');
    service = await startSigningService({
      secretKey: key.key.secretKey,
      sharedSecret: shared.secret,
      host: '127.0.0.1',
      port: 0,
      now: () => NOW_MS,
      logger: silentLogger,
    });
    const url = `http://127.0.0.1:${service.port}`;
    const good = { authorization: `Bearer ${shared.secret}`, 'content-type': 'application/json' };
    const ask = async (
      path: string,
      body: string | null,
      headers: Record<string, string> = good,
      method = 'POST',
    ) => {
      const answer = await fetch(url + path, {
        method,
        headers,
        ...(body === null ? {} : { body }),
      });
      const text = await answer.text();
      return { status: answer.status, body: JSON.parse(text) as Record<string, unknown> };
    };
    return { ask, good, publicKey: key.key.publicKey };
  }

  it('should sign what a caller with the secret sends', async () => {
    const { ask, publicKey } = await start();
    const { status, body } = await ask(SIGN_PATH, JSON.stringify(DRAFT));
    expect(status).toBe(200);
    expect(openEnvelope(body, publicKey)).toMatchObject({ ok: true, facts: { licenseId: 'l' } });
  });

  it('should refuse everybody else, and everything else', async () => {
    const { ask, good } = await start();
    const text = JSON.stringify(DRAFT);
    const { authorization } = good;
    const json = { 'content-type': 'application/json' };
    const tries = [
      [await ask(SIGN_PATH, text, json), 401, 'credential_required'],
      [
        await ask(SIGN_PATH, text, { ...json, authorization: 'Basic eDp5' }),
        401,
        'credential_required',
      ],
      [
        await ask(SIGN_PATH, text, { ...json, authorization: `${authorization}x` }),
        401,
        'credential_invalid',
      ],
      [
        await ask(SIGN_PATH, text, { ...json, authorization: authorization.slice(0, -1) }),
        401,
        'credential_invalid',
      ],
      [
        await ask(SIGN_PATH, text, { ...good, 'content-type': 'text/plain' }),
        415,
        'unsupported_encoding',
      ],
      [await ask('/', text), 404, 'not_found'],
      [await ask(SIGN_PATH, null, good, 'GET'), 405, 'method_not_allowed'],
      [await ask(SIGN_PATH, '{'), 400, 'malformed_body'],
      [await ask(SIGN_PATH, '['.repeat(4_000)), 400, 'malformed_body'],
      [await ask(SIGN_PATH, JSON.stringify({ ...DRAFT, plan: '' })), 422, 'schema_violation'],
      [await ask(SIGN_PATH, JSON.stringify({ ...DRAFT, more: 1 })), 422, 'schema_violation'],
      [await ask(SIGN_PATH, text.padEnd(LICENSE_BODY_MAX_BYTES + 1)), 413, 'body_too_large'],
    ] as const;
    for (const [{ status, body }, wanted, code] of tries) {
      expect([status, body['code']]).toEqual([wanted, code]);
      expect(JSON.stringify(body)).not.toContain(authorization.slice(7));
    }
  });

  it('should leave loopback only with TLS, and end when it is told', async () => {
    expect((await run('serve', '--dir', dir, '--bind', '0.0.0.0')).err).toContain('--tls-cert');
    expect((await run('serve', '--dir', dir, '--port', 'x')).code).toBe(2);
    expect(await run('serve', '--dir', dir, '--port', '0')).toMatchObject({ code: 0, err: '' });
    const weak = join(root, 'weak');
    expect((await run('keygen', '--dir', weak)).code).toBe(0);
    writeFileSync(join(weak, 'sign-license.secret'), 'short');
    expect((await run('serve', '--dir', weak, '--port', '0')).err).toContain('32');
  });
});
