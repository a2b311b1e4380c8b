// The commands about keys, as somebody at the machine runs them on a data directory of today. decision: D70
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openCertificateAuthority } from '../../../storage/keys/certificate-authority.ts';
import { keysOf } from '../../process/keys.ts';
import { lockDataDir } from './data-dir-lock.ts';

const PROGRAM = join(import.meta.dirname, '..', 'service-console.js');
const dataDir = mkdtempSync(join(tmpdir(), 'keys-'));
const folder = join(dataDir, 'keys');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

function run(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const env = { ...process.env, SERVICE_CONSOLE_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [PROGRAM, 'keys', ...args], { env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

it('should list, change and retire the keys of a directory that no Console runs on', async () => {
  // As a Console of before left it: a key without a name, and no journal.
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'operator-secrets.key'), 'ab'.repeat(32), { mode: 0o600 });
  expect((await openCertificateAuthority({ folder, nowMs: Date.now() })).ok).toBe(true);
  const keys = keysOf({ dataDir });
  const sealed = (await keys.operatorSecrets()).seal('secret', 'a');
  const { publicKeyPem } = await keys.auditCheckpoints();

  const listed = await run('list');
  expect(listed).toMatchObject({ code: 0 });
  expect(listed.said).toMatch(/^ca +0 days old, serves 3650$/m);
  expect(listed.said).toMatch(/^policy-signing +not made yet$/m);

  expect(await run('rotate', 'sealer')).toMatchObject({ code: 0 });
  const sealer = await keys.operatorSecrets();
  expect([sealer.open(sealed, 'a'), sealer.isCurrent(sealed)]).toEqual(['secret', false]);

  expect(await run('rotate', 'audit-checkpoint')).toMatchObject({ code: 0 });
  expect((await keys.auditCheckpoints()).publicKeyPem).not.toBe(publicKeyPem);
  const publics = readdirSync(folder).filter((name) => /^audit-checkpoint.*\.pub\.pem$/.test(name));
  const kept = publics.map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(kept).toHaveLength(2);
  expect(kept).toContain(publicKeyPem);

  expect((await run('rotate', 'ca')).said).toContain('beside the old one');
  const early = await run('rotate', 'ca');
  expect([early.code, early.said]).toEqual([6, expect.stringContaining('not before')]);
  expect((await run('rotate', 'ca', '--force')).said).toContain('The new root signs');
  for (const wrong of ['policy-signing', 'nothing']) {
    expect(await run('rotate', wrong)).toMatchObject({ code: 2 });
  }
  const unlock = lockDataDir(dataDir);
  expect((await run('list')).code).not.toBe(0);
  await unlock();
});
