// `service-console audit` by example, against the real listener: list, export, and a verification that believes nobody.
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointBytes, hashOfRow } from '../../../actors/audit/audit-hash.ts';
import { createMemoryAudit } from '../../../storage/memory/audit/audit-log.ts';
import {
  type Listening,
  listenWithFixture,
} from '../../operator-plane/plumbing/listening.fixture.ts';
import { NOW_MS, sealedElsewhere } from '../../operator-plane/plumbing/operator-plane.fixture.ts';
import { saveContext } from '../plumbing/context-file.ts';
import { runProgram } from '../plumbing/program.ts';
import { wordsOf } from '../plumbing/words.fixture.ts';

const SEALED = 1_203;
const TAIL = 4;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));
let live: Listening;
let home: string;
let env: Record<string, string>;
let lines: string[];

beforeAll(async () => {
  const trail = createMemoryAudit();
  live = await listenWithFixture({
    relational: { audit: trail.audit, auditChain: sealedElsewhere(trail.chain) },
  });
  home = mkdtempSync(join(tmpdir(), 'audit-'));
  env = { XDG_CONFIG_HOME: home };
  const { addKey } = live.fixture;
  const token = addKey(['audit:read']);
  saveContext(env, 'local', { url: live.url, token, ca_pem: live.caPem });
  const one = {
    ...{ actor: '=op', action: 'sensor.revoke' as const, target: 's', result: 'ok', detail: {} },
  };
  for (let atMs = NOW_MS; atMs < NOW_MS + SEALED; atMs += 1) trail.record({ ...one, atMs });
  await trail.chain.seal({ limit: SEALED, hashOf: hashOfRow });
  await trail.chain.checkpoint((head) => {
    const signed = { ...head, atMs: NOW_MS };
    const signature = sign(null, checkpointBytes(signed), privateKey).toString('base64');
    return { ...signed, publicKeyPem, signature };
  });
  for (let at = 0; at < TAIL; at += 1) trail.record({ ...one, atMs: at, result: 'no' });
  lines = (await run('audit export')).out;
  writeFileSync(join(home, 'key.pem'), publicKeyPem);
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(wordsOf(line), {
    env,
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => NOW_MS,
    signal: new AbortController().signal,
    ask: async () => '',
  });
  return { code, out, err: err.join('\n') };
}
function fileOf(text: readonly string[]): string {
  const file = join(home, 'trail.jsonl');
  writeFileSync(file, `${text.join('\n')}\n`);
  return file;
}
const verify = (text: readonly string[], more = '') =>
  run(`audit verify '${fileOf(text)}' --key '${join(home, 'key.pem')}'${more}`);
// The first line is the checkpoint; the row with the sequence n is line n.
const row = (sequence: number) => JSON.parse(lines[sequence] ?? '');

describe('audit list and export', () => {
  it('should list and filter', async () => {
    const { out } = await run('audit list --limit 2 --result no');
    expect(out[0]).toMatch(/^TIME +ACTOR +ACTION +TARGET +RESULT +FROM$/);
    expect(out).toHaveLength(3);
    expect(out[1]).toMatch(/=op +sensor\.revoke +s +no +-$/);
    expect((await run('audit list --action nothing')).err).toContain('No entries match.');
  });

  it('should export CSV whose cells are never formulas', async () => {
    const { out } = await run('audit export -o csv --result no');
    expect(out).toHaveLength(1 + TAIL);
    expect(out[1]).toContain(`,'=op,`);
  });
});

describe('audit verify', () => {
  it('should prove an export and the running Console, and name the open tail', async () => {
    expect(lines).toHaveLength(1 + SEALED + TAIL);
    const offline = await verify(lines);
    expect(offline).toMatchObject({ code: 0, err: '' });
    expect(offline.out.slice(0, 2)).toEqual([
      `intact: ${SEALED} sealed rows`,
      `signed up to row ${SEALED}; open tail: ${TAIL} rows`,
    ]);
    const straight = await run('audit verify -o json');
    expect(straight.code).toBe(0);
    expect(JSON.parse(straight.out.join(''))).toMatchObject({ isIntact: true, openTail: TAIL });
    expect((await run('audit verify')).err).toContain('--key');
  });

  it('should locate a changed, removed, inserted or moved row, and end with 1', async () => {
    const changed = lines.with(600, JSON.stringify({ ...row(600), actor: 'me' }));
    const moved = lines
      .with(600, JSON.stringify({ ...row(700), sequence: 600 }))
      .with(700, JSON.stringify({ ...row(600), sequence: 700 }));
    const added = lines.toSpliced(600, 0, JSON.stringify({ ...row(600), audit_id: 9_999 }));
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [changed, /^row 600 \(audit id 600\) was changed/],
      [lines.toSpliced(600, 1), /^a row was removed at 600$/],
      [lines.toSpliced(600, 5), /^the rows 600 to 604 were removed$/],
      [added, /^row 600 \(audit id 9999\) was inserted$/],
      [moved, /^row 600 \(audit id 700\) changed places with another$/],
      [lines.with(600, '{}'), /^line 601 is neither a row nor a checkpoint$/],
      [lines.slice(0, 600), /^the rows 600 to 1203 were removed$/],
    ];
    for (const [text, wanted] of cases) {
      const { code, out, err } = await verify(text);
      expect([code, out.filter((line) => wanted.test(line))]).toEqual([1, [expect.anything()]]);
      expect(out[0]).toMatch(/^damaged: /);
      expect(err).toContain('the audit trail is damaged');
    }
  });

  it('should believe a logged checkpoint more than the file, and only named keys', async () => {
    const { hash } = row(SEALED);
    const cut = lines.slice(1, SEALED);
    expect((await verify(cut)).code).toBe(0);
    expect((await verify(cut, ` --checkpoint ${SEALED}:${hash}`)).code).toBe(1);
    expect((await verify(lines, ` --checkpoint ${SEALED}:${hash}`)).code).toBe(0);
    expect((await verify(lines, ' --checkpoint 5')).code).toBe(2);
    const foreign = generateKeyPairSync('ed25519').publicKey;
    const other = join(home, 'other.pem');
    writeFileSync(other, foreign.export({ format: 'pem', type: 'spki' }));
    const refused = await run(`audit verify '${fileOf(lines)}' --key '${other}'`);
    expect([refused.code, refused.out.join('\n')]).toEqual([
      1,
      expect.stringContaining('not signed by a key that may'),
    ]);
    expect((await run('audit verify /nowhere/trail')).code).toBe(2);
    expect(readFileSync(join(home, 'key.pem'), 'utf8')).toBe(publicKeyPem);
  });
});
