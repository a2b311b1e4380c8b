// The line that enrols a node, pasted as an operator would: real Console, real script, the package, and a Sensor that
// then reports. What is not as it was pinned installs nothing.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { items } from './api.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  removeHome,
  startCommand,
  startProgram,
} from './programs.ts';

const START_MS = 120_000;
const INSTALL_MS = 240_000;

let home: Home;
let running: Program;

beforeAll(async () => {
  home = await makeHome();
  running = startProgram('gateway/cli/service-console.js', ['quickstart', '--no-sensor'], {
    env: home.env,
  });
  await running.prints(/Ctrl-C stops everything/, START_MS);
}, START_MS);
afterAll(async () => {
  running.kill('SIGINT');
  await running.exited;
  await removeHome(home);
}, START_MS);

const prefix = () => join(home.folder, 'opt', 'service-sensor');

async function newToken(): Promise<{ secret: string; enroll_command: string }> {
  const made = startProgram('gateway/cli/service-console.js', ['tokens', 'create', '-o', 'json'], {
    env: home.env,
  });
  expect(await made.exited, made.output()).toBe(0);
  return JSON.parse(made.stdout());
}

function paste(line: string, token: string): Promise<{ code: number; output: string }> {
  const child = spawn('sh', ['-c', `${line} --prefix ${prefix()} --no-start`], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', SERVICE_SENSOR_STATE_DIR: home.sensorDir },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (data: Buffer) => {
    output += data.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.stdin.on('error', () => undefined);
  child.stdin.end(token);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code: code ?? -1, output }));
  });
}

describe('the line that enrols a node', () => {
  it('should be the same in the banner as in the answer, but for how it is broken', async () => {
    const { enroll_command: line } = await newToken();
    expect(running.stdout().replaceAll(' \\\n', ' ')).toContain(line);
    for (const row of running.stdout().split('\n')) {
      if (/^(sh|https|--|[0-9a-f]{64})/.test(row)) expect(row.length).toBeLessThanOrEqual(80);
    }
    expect(line).not.toMatch(/localhost|svce_/);
  });

  it('should run nothing of a Console whose key is not the pinned one', async () => {
    const { secret, enroll_command: line } = await newToken();
    const other = line.replace(/sha256\/\/[^ ]+/, `sha256//${'A'.repeat(43)}=`);
    const { output } = await paste(other, secret);
    expect(output).toMatch(/pinned/);
    expect(existsSync(prefix())).toBe(false);
  });

  it('should install nothing under another CA, and show both fingerprints', async () => {
    const { secret, enroll_command: line } = await newToken();
    const named = /--ca-fingerprint ([0-9a-f]{64})/.exec(line)?.[1] ?? '';
    const { code, output } = await paste(line.replace(named, 'ab'.repeat(32)), secret);
    expect(code).toBe(1);
    expect(output).toContain('ab'.repeat(32));
    expect(output).toContain(named);
    expect(existsSync(prefix())).toBe(false);
  });

  it(
    'should leave an enrolled Sensor that runs and reports',
    async () => {
      const { secret, enroll_command: line } = await newToken();
      const { code, output } = await paste(line, secret);
      expect(code, output).toBe(0);
      expect(output).toMatch(/Start the Sensor with: \S+ run/);
      expect(output).not.toContain(secret);
      expect(readdirSync(join(prefix(), '..'))).toEqual(['service-sensor']);
      const sensor = startCommand(join(prefix(), 'bin', 'service-sensor'), ['run'], {
        env: { ...home.env, PATH: '/usr/bin:/bin' },
      });
      try {
        await eventually(
          'a healthy sensor',
          async () => {
            const [only] = await items<{ trust_health: string }>(home, '/api/v2/sensors');
            return only?.trust_health === 'healthy' ? only : null;
          },
          START_MS,
        );
      } finally {
        sensor.kill('SIGTERM');
        await sensor.exited;
      }
    },
    INSTALL_MS,
  );

  it(
    'should keep the identity when it is pasted again, without a token',
    async () => {
      const { enroll_command: line } = await newToken();
      const { code, output } = await paste(line, '');
      expect(code, output).toBe(0);
      expect(await items(home, '/api/v2/sensors')).toHaveLength(1);
    },
    INSTALL_MS,
  );
});
