// A license near its end, wherever people look: beside the answers of the API, in every command, in `doctor`, in the
// metrics, and in what a starting Console prints. The real program on the real listener.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signLicense } from '../../../actors/license/envelope-signature.ts';
import { licensePayload } from '../../../props/attacks/license-issuer.ts';
import {
  type Listening,
  listenWithFixture,
} from '../../operator-plane/plumbing/listening.fixture.ts';
import { LICENSE_KEY, NOW_MS } from '../../operator-plane/plumbing/operator-plane.fixture.ts';
import { saveContext } from '../plumbing/context-file.ts';
import { EXIT } from '../plumbing/exit.ts';
import { runProgram } from '../plumbing/program.ts';

const DAY_MS = 86_400_000;
const SOON = 'The license ends at';
let live: Listening;
let home: string;
let key: string;

beforeAll(async () => {
  live = await listenWithFixture();
  home = mkdtempSync(join(tmpdir(), 'cli-license-'));
  key = live.fixture.addKey(['admin']);
  const ours = { url: live.url, token: key, ca_pem: live.caPem };
  saveContext({ XDG_CONFIG_HOME: home }, 'local', ours);
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(...argv: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(argv, {
    env: { XDG_CONFIG_HOME: home },
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
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function warningOf(path: string, authorization?: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const headers = authorization === undefined ? {} : { authorization };
    request(`${live.url}${path}`, { ca: live.caPem, headers }, (answer) => {
      answer.resume();
      resolve(answer.headers['warning'] as string | undefined);
    })
      .on('error', reject)
      .end();
  });
}

/** Imports a license that ends after so many days, with the command. */
async function licensed(days: number): Promise<void> {
  const payload = licensePayload(NOW_MS, {
    ...{ license_id: `ends-in-${days}` },
    valid_until: new Date(NOW_MS + days * DAY_MS).toISOString(),
  });
  const signed = signLicense(payload, LICENSE_KEY);
  if (!signed.ok) throw new Error(signed.detail);
  const file = join(home, `${days}.json`);
  writeFileSync(file, JSON.stringify(signed.envelope));
  expect((await run('license', 'import', file)).code).toBe(EXIT.ok);
}

const timesIn = (text: string) => text.split(SOON).length - 1;

describe('a license near its end', () => {
  it('should be no word anywhere while it is far', async () => {
    await licensed(15);
    expect((await run('sensors', 'list')).err).not.toContain(SOON);
    expect(await warningOf('/api/v2/sensors', `Bearer ${key}`)).toBeUndefined();
    expect((await run('doctor')).out).toMatch(/license +valid, until 2\d{3}-/);
  });

  it('should be told once by each command, whatever it was about', async () => {
    await licensed(10);
    for (const command of [
      ['sensors', 'list'],
      ['license', 'show'],
      ['tokens', 'list'],
    ]) {
      const { code, err } = await run(...command);
      expect([code, timesIn(err)]).toEqual([EXIT.ok, 1]);
    }
  });

  it('should be told to callers, and to nobody who is not let in', async () => {
    expect(await warningOf('/api/v2/sensors', `Bearer ${key}`)).toMatch(
      /^299 service-console "The license ends at [^"]+"$/,
    );
    expect(await warningOf('/api/v2/sensors')).toBeUndefined();
    expect(await warningOf('/readyz')).toBeUndefined();
  });

  it('should stand in doctor, in the metrics and in what a starting Console prints', async () => {
    expect((await run('doctor')).out).toMatch(/✓ license .*The license ends at/);
    const { app, context } = live.fixture;
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await app.inject({ method: 'GET', url: '/metrics', headers });
    expect(body).toContain('service_license_phase{phase="valid"} 1');
    expect(body).toContain('service_license_phase{phase="grace"} 0');
    const endsAt = (NOW_MS + 10 * DAY_MS) / 1_000;
    expect(body).toContain(`service_license_end_timestamp_seconds{end="valid"} ${endsAt}`);
    expect(body).toContain('service_license_nodes_max 1');
    const notices = context.contributions().flatMap((one) => one.notices?.() ?? []);
    expect(notices).toEqual([expect.stringContaining(SOON)]);
  });

  it('should fail doctor when it is over, with what to do', async () => {
    const now = live.fixture.state.nowMs;
    live.fixture.state.nowMs = NOW_MS + 61 * DAY_MS;
    const fresh = live.fixture.addKey(['admin']);
    const ours = { url: live.url, token: fresh, ca_pem: live.caPem };
    saveContext({ XDG_CONFIG_HOME: home }, 'local', ours);
    const { code, out } = await run('doctor');
    expect(code).toBe(EXIT.failed);
    expect(out).toMatch(/✗ license .*have ended.*— service-console license import FILE/);
    live.fixture.state.nowMs = now;
  });
});
