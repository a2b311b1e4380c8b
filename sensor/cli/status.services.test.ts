import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernelText } from './doctor.ts';

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
  return runWith({}, ...words);
}
function runWith(env: Record<string, string>, ...words: string[]) {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'service-sensor.ts'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, SERVICE_SENSOR_STATE_DIR: folder, ...env },
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
/** What a Sensor that runs now would have left. */
function live(engine: Record<string, unknown>, more: Record<string, unknown> = {}): void {
  mkdirSync(join(folder, 'run'), { recursive: true });
  write('run/status.json', JSON.stringify({ pid: process.pid, state: 'running', engine, ...more }));
}
afterEach(() => rmSync(join(folder, 'run'), { recursive: true, force: true }));
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
    const hooks = [
      { hook: 'engine/upgrade', reason: 'ebpf 1.7.0 (abc) did not take over: it ended with 7' },
      { hook: 'engine/tetragon', reason: 'no bundle is named' },
    ];
    live({ disabled_hooks: hooks });
    const { stdout } = run('status');
    expect(stdout).toMatch(
      /^ENGINE UPGRADE +ebpf 1.7.0 \(abc\) did not take over: it ended with 7$/m,
    );
    expect(stdout).toMatch(/^ENGINE PASSED OVER +tetragon: no bundle is named$/m);
    expect(run('doctor').stdout).toMatch(/^✗ upgrade +ebpf 1.7.0 \(abc\) did not take over/m);
  });
});

describe('service-sensor status, of a Sensor that runs', () => {
  const HOOKS = [
    { hook: 'engine/tetragon', reason: 'this kernel has no kprobes' },
    { hook: 'engine/ebpf', reason: 'it failed again and again: it ended with 3' },
    {
      hook: 'process_exec',
      reason: 'no tracefs: short-lived processes are not seen',
      missing: true,
    },
    { hook: 'dns', reason: 'no packet socket' },
  ];

  it('should tell the engine, each one passed over and each disabled hook under the other', () => {
    state();
    live({ kind: 'procfs', mode: 'polling', state: 'running', restarts: 2, disabled_hooks: HOOKS });
    expect(run('status').stdout).toContain(
      [
        'ENGINE              procfs (polling) degraded, 2 restarts',
        'ENGINE PASSED OVER  tetragon: this kernel has no kprobes',
        '                    ebpf: it failed again and again: it ended with 3',
        'DISABLED HOOKS      process_exec: no tracefs: short-lived processes are not seen',
        '                    dns: no packet socket',
        '',
      ].join('\n'),
    );
  });

  it('should say by how much the Console’s clock is off, before that the Console is not reached', () => {
    state();
    write('client.key.pem', 'key');
    write('client.cert.pem', 'certificate');
    const clock_dispute =
      "the Console's clock is off by at least 2 h 13 min: it takes this node's certificate for expired or not yet valid";
    live({}, { clock_dispute, last_heartbeat_problem: 'certificate_expired: why' });
    const { stdout } = run('status');
    expect(stdout).toMatch(/^CLOCK +the Console's clock is off by at least 2 h 13 min: /m);
    expect(stdout).toMatch(/^STATUS +running, the Console refuses the certificate: see CLOCK$/m);
    live({}, { clock_dispute: null });
    expect(run('status').stdout).not.toMatch(/^CLOCK /m);
    expect(status().summary).toBe('running');
  });

  it('should tell what was lost by its place, this hour and since the start', () => {
    state();
    const since_start = { kernel_lost: 40, spool_discarded: 2 };
    live({}, { losses: { this_hour: { kernel_lost: 7 }, since_start } });
    expect(run('status').stdout).toMatch(
      /^LOST +this hour 7: kernel_lost 7\n +since the start 42: kernel_lost 40, spool_discarded 2$/m,
    );
    live({}, { losses: { this_hour: {}, since_start: {} } });
    expect(run('status').stdout).toMatch(/^LOST +nothing this hour, nothing since the start$/m);
  });
});

describe('service-sensor doctor, of the engine', () => {
  const doctor = (engine: string) => runWith({ SERVICE_SENSOR_ENGINE: engine }, 'doctor').stdout;

  it('should tell the chosen one, why no better one, and what the running one lacks', () => {
    const reason = 'the bpf LSM is not active';
    live({ disabled_hooks: [{ hook: 'lsm/file_open', reason }] });
    const stdout = doctor('procfs');
    expect(stdout).toMatch(
      /^✓ engine +procfs\n +not tetragon: procfs is forced\n +not ebpf: procfs is forced$/m,
    );
    expect(stdout).toMatch(/^✓ hooks +1 disabled\n +lsm\/file_open: the bpf LSM is not active$/m);
  });

  it('should fail where the one that was asked for cannot run, and say why', () => {
    expect(doctor('tetragon')).toMatch(/^✗ engine +none\n +not tetragon: no bundle is named/m);
  });

  it('should say of a PREEMPT_RT kernel what is true of the engine', () => {
    const kernel = { preemptRt: true, release: '6.12.0-rt' };
    expect(kernelText(kernel, 'ebpf')).toBe('6.12.0-rt, PREEMPT_RT');
    expect(kernelText(kernel, 'tetragon')).toContain('policies whose kprobes override are refused');
    expect(kernelText({ ...kernel, preemptRt: false }, 'tetragon')).toBe('6.12.0-rt');
  });
});
