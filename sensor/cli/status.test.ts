import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

function status() {
  const ran = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'service-sensor.ts'), 'status', '-o', 'json'],
    { encoding: 'utf8', env: { ...process.env, SERVICE_SENSOR_STATE_DIR: folder } },
  );
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
});
