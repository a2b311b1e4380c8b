// `service-console setup` by example, against a Console that was told nothing: what is asked for, what stops it before
// anything is sent, and what is written. decision: D42
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { loadConfig } from '../../config/config.ts';
import { EXIT } from '../plumbing/exit.ts';
import { runProgram } from '../plumbing/program.ts';
import { openSetup, type RunningSetup } from '../start/serve-setup.ts';

const ADMIN = { email: 'ada@example.org', password: 'a long walk along the quiet shore' };
let folder: string;
let setup: RunningSetup;
const codes: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-setup-'));
  const env = {
    SERVICE_CONSOLE_DATA_DIR: folder,
    SERVICE_CONSOLE_PORT: '0',
    SERVICE_CONSOLE_BIND: '127.0.0.1',
  };
  const loaded = loadConfig({ env, isRoot: false });
  if (!loaded.ok) throw new Error(loaded.mistakes.join());
  setup = await openSetup({
    ...{ config: loaded.config, env, version: '0.1.0', logger: silentLogger },
    tellCode: (code) => void codes.push(code),
  });
});
afterAll(async () => {
  await setup.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Given = {
  readonly code?: string;
  readonly fingerprint?: string;
  readonly answers?: readonly string[];
};

async function run(more: readonly string[], { code, fingerprint, answers }: Given = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const typed = [...(answers ?? [])];
  const trust = fingerprint === undefined ? [] : ['--ca-fingerprint', fingerprint];
  const url = `https://localhost:${setup.port}`;
  const exitCode = await runProgram(['setup', '--url', url, '--no-wait', ...trust, ...more], {
    env: { HOME: folder, ...(code === undefined ? {} : { SERVICE_SETUP_CODE: code }) },
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: answers !== undefined,
      colors: pc.createColors(false),
    },
    now: Date.now,
    signal: new AbortController().signal,
    ask: async () => typed.shift() ?? '',
  });
  return { code: exitCode, err: err.join('\n') };
}

function answersIn(name: string, value: unknown): readonly string[] {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return ['--from', path];
}
const configuration = () => join(folder, 'console.yaml');

describe('setting a Console up from the command line', () => {
  it('should stop before anything is sent when something is missing', async () => {
    const { caFingerprint: fingerprint } = setup;
    const from = answersIn('good.json', { admin: ADMIN });
    expect((await run([], { fingerprint })).err).toContain('--from FILE');
    const nobody = await run(from, { code: codes.at(-1) ?? '' });
    expect(nobody.code).toBe(EXIT.unreachable);
    expect(nobody.err).toContain(fingerprint);
    const other = await run(from, { fingerprint: 'AB'.repeat(32), code: codes.at(-1) ?? '' });
    expect(other.code).toBe(EXIT.unreachable);
    const doubtful = await run(from, { answers: ['no'], code: codes.at(-1) ?? '' });
    expect([doubtful.code, doubtful.err]).toEqual([
      EXIT.usage,
      expect.stringContaining('nothing was sent'),
    ]);
    const noCode = await run(from, { fingerprint });
    expect(noCode).toMatchObject({ code: EXIT.usage });
    expect(noCode.err).toContain('SERVICE_SETUP_CODE');
    const wrong = await run(from, { fingerprint, code: 'AAAA-AAAA-AAAA' });
    expect(wrong).toMatchObject({ code: EXIT.notAuthenticated });
    expect(codes).toHaveLength(1);
  });

  it('should name every mistake of the answers', async () => {
    const { caFingerprint: fingerprint } = setup;
    const bad = answersIn('bad.json', { platform: 'tv', admin: { mail: 'x', password: 'y' } });
    const { code, err } = await run(bad, { fingerprint, code: codes.at(-1) ?? '' });
    expect(code).toBe(EXIT.usage);
    for (const text of ['platform: must be', 'admin.mail: there is no such field', 'email']) {
      expect(err).toContain(text);
    }
    expect((await run(['--from', join(folder, 'absent')], { fingerprint })).code).toBe(EXIT.usage);
    const weak = answersIn('weak.json', { admin: { ...ADMIN, password: 'password' } });
    const refused = await run(weak, { fingerprint, code: codes.at(-1) ?? '' });
    expect(refused).toMatchObject({ code: EXIT.usage });
    const away = answersIn('away.json', { admin: ADMIN, redis: 'redis://127.0.0.1:1' });
    const unreachable = await run(away, { fingerprint, code: codes.at(-1) ?? '' });
    expect(unreachable.err).toContain('ECONNREFUSED');
    expect(existsSync(configuration())).toBe(false);
  });

  it('should write the configuration, and the password nowhere', async () => {
    const { caFingerprint: fingerprint } = setup;
    const from = answersIn('good.json', { platform: 'telecom', admin: ADMIN });
    const { code, err } = await run(from, { fingerprint, code: codes.at(-1) ?? '' });
    expect([code, err]).toEqual([EXIT.ok, expect.stringContaining('configuration is written')]);
    await setup.written;
    expect(parse(readFileSync(configuration(), 'utf8'))).toMatchObject({ platform: 'telecom' });
    expect(statSync(configuration()).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'setup.json'), 'utf8')).not.toContain(ADMIN.password);
  });
});
