import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'status-'));
const write = (name: string, text: string) =>
  writeFileSync(join(folder, name), text, { mode: 0o600 });
const state = (more: Record<string, unknown> = {}) =>
  write(
    'sensor-state.json',
    JSON.stringify({
      sensor_id: '01a1fcd6-4620-7391-87c0-4280264eacc7',
      trust_state: 'trusted',
      certificate_expires_at: '2999-01-01T00:00:00.000Z',
      renewal_status: 'ok',
      ...more,
    }),
  );

function run(...words: string[]) {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'service-sensor.ts'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, SERVICE_SENSOR_STATE_DIR: folder },
  });
}
function status() {
  const ran = run('status', '-o', 'json');
  return { code: ran.status, summary: JSON.parse(ran.stdout).summary as string };
}

beforeEach(() => {
  for (const name of ['client.key.pem', 'client.cert.pem', 'sensor-state.json']) {
    rmSync(join(folder, name), { force: true });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('service-sensor status, offline', () => {
  it('should say when there is no identity, and end with 5', () => {
    expect(status()).toEqual({ code: 5, summary: 'not enrolled: run `service-sensor enroll`' });
  });

  it('should name the half that is missing, as run would', () => {
    state();
    write('client.key.pem', 'key');
    expect(status().summary).toBe('the key has no certificate: re-enroll');
    write('client.cert.pem', 'certificate');
    expect(status()).toEqual({ code: 0, summary: 'enrolled, not running' });
  });

  it('should say revoked and expired before anything else', () => {
    state({ trust_state: 'trust_revoked' });
    expect(status().summary).toBe('revoked by the Console');
    write('client.key.pem', 'key');
    write('client.cert.pem', 'certificate');
    state({ certificate_expires_at: '2001-01-01T00:00:00.000Z' });
    expect(status().summary).toBe('certificate expired: re-enroll');
  });

  it('should tell the newer engine that did not take over beside those that were passed over', () => {
    state();
    mkdirSync(join(folder, 'run'), { recursive: true });
    const hooks = [
      { hook: 'engine/upgrade', reason: 'ebpf 1.7.0 (abc) did not take over: it ended with 7' },
      { hook: 'engine/tetragon', reason: 'no bundle is named' },
    ];
    const live = { pid: process.pid, state: 'running', engine: { disabled_hooks: hooks } };
    write('run/status.json', JSON.stringify(live));
    const { stdout } = run('status');
    expect(stdout).toMatch(
      /^ENGINE UPGRADE +ebpf 1.7.0 \(abc\) did not take over: it ended with 7$/m,
    );
    expect(stdout).toMatch(/^ENGINE PASSED OVER +tetragon: no bundle is named$/m);
    expect(run('doctor').stdout).toMatch(/^✗ upgrade +ebpf 1.7.0 \(abc\) did not take over/m);
    rmSync(join(folder, 'run'), { recursive: true });
  });
});
