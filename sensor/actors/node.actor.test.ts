import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { formatSecret } from '../../machines/trust/secret.rules.ts';
import { type ConsolePeer, SENSOR_ID, startConsolePeer } from '../../props/peers/console-peer.ts';
import { keepKey } from '../../props/peers/kept-key.ts';
import { CAPABILITIES } from '../capabilities.ts';
import { loadConfig } from '../config/config.ts';
import { joinPorts } from '../main.ts';
import { STATE_FILES } from '../state-directory/identity.ts';
import { type NodeRun, runNode } from './node.actor.ts';
import type { NodePorts } from './node-ports.ts';

// The library's own build for development says on the console what was sent to an actor that had stopped.
vi.mock('xstate', () => {
  const build = '../../node_modules/xstate/dist/xstate.development.cjs.mjs';
  return import(new URL(build, import.meta.url).href);
});
const warnings: string[] = [];
vi.spyOn(console, 'warn').mockImplementation((text) => void warnings.push(String(text)));

let peer: ConsolePeer;
let stateDir: string;
let runs: NodeRun[] = [];
const clock = createWheelClock();
const TOKEN = formatSecret('enrollment', randomBytes(32));
const SHORT = {
  HEARTBEAT_INTERVAL_MS: 300,
  HEARTBEAT_TIMEOUT_MS: 300,
  STREAM_TICK_MS: 50,
  RECONNECT_BACKOFF_MIN_MS: 50,
  RECONNECT_BACKOFF_MAX_MS: 200,
  ENROLLMENT_RETRY_MIN_MS: 50,
  ENROLLMENT_RETRY_MAX_MS: 100,
  RENEWAL_RETRY_MIN_MS: 50,
  RENEWAL_RETRY_MAX_MS: 200,
};

beforeEach(async () => {
  peer = await startConsolePeer();
  stateDir = await mkdtemp(join(tmpdir(), 'sensor-node-'));
  await keepKey(stateDir);
});
afterEach(async () => {
  for (const run of runs) run.stop();
  await Promise.all(runs.map(({ done }) => done));
  runs = [];
  await peer.close();
  // A last look at the status may still be on its way to the disk.
  await rm(stateDir, { recursive: true, force: true, maxRetries: 10 });
  expect(warnings.splice(0)).toEqual([]);
});

async function start(
  token: string | null = TOKEN,
  ports: NodePorts = joinPorts(stateDir),
): Promise<NodeRun> {
  const loaded = await loadConfig(
    { SERVICE_SENSOR_STATE_DIR: stateDir, SERVICE_SENSOR_CONSOLE_URL: peer.url },
    { ca_fingerprint: peer.caFingerprint, node_name: 'node-1', intervals: SHORT },
  );
  if (!loaded.ok) throw new Error(loaded.mistakes.join('; '));
  const run = runNode({
    config: loaded.config,
    logger: silentLogger,
    clock,
    now: Date.now,
    monotonicNow: () => performance.now(),
    random: randomBytes,
    version: '0.0.0',
    bootId: 'boot',
    system: { os_name: 'x', os_version: '1', architecture: 'x', kernel_version: '1' },
    ports,
    capabilities: CAPABILITIES,
    readToken: async () => token,
  });
  runs.push(run);
  return run;
}

const beats = (): number =>
  peer.requests.filter(({ path }) => path === '/sensors/heartbeat').length;
const isOnceEach = (): boolean => {
  const seen = new Map<string, string>();
  return peer.batches.every(({ channel, sequence, ids }) => {
    const key = `${channel}/${sequence}`;
    const before = seen.get(key) ?? ids.join();
    seen.set(key, ids.join());
    return before === ids.join();
  });
};
async function addLines(from: number, count: number): Promise<void> {
  await mkdir(join(stateDir, 'engine', 'export'), { recursive: true });
  const lines = Array.from({ length: count }, (_, at) => {
    const time = new Date(Date.UTC(2026, 0, 1) + from + at).toISOString();
    const pid = from + at;
    const process = { exec_id: `x${pid}`, pid, binary: '/bin/test', start_time: time };
    return `${JSON.stringify({ process_exec: { process }, node_name: 'n', time })}\n`;
  });
  await appendFile(join(stateDir, 'engine', 'export', 'events.log'), lines.join(''));
}

describe('node', () => {
  it('should enroll under a pinned CA, open its stream and send events once each', async () => {
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    await addLines(0, 30);
    await peer.until('events', () => peer.batches.flatMap(({ ids }) => ids).length >= 30);
    expect(peer.requests[0]?.path).toBe('/sensors/enroll');
    expect(isOnceEach()).toBe(true);
    expect(SENSOR_ID).toHaveLength(36);
  });

  it('should have its engine unpacked before it asks to be enrolled', async () => {
    const laidOut: boolean[] = [];
    peer.rule = ({ path }) => {
      if (path === '/sensors/enroll') {
        laidOut.push(existsSync(join(stateDir, 'engine/v1.7.0/manifest.json')));
      }
      return 'serve';
    };
    await start();
    await peer.until('an enrollment with its engine', () => laidOut[0] === true);
  });

  it('should call its certificate due by the threshold that the Console tells, and remember it', async () => {
    const told = () =>
      peer.requests.flatMap(({ path, json }) =>
        path === '/sensors/heartbeat' ? [(json['trust'] as { state: string }).state] : [],
      );
    peer.lifetimeMs = 71 * 3_600_000;
    peer.rule = ({ path }) =>
      path === '/sensors/renew' ? { status: 503, code: 'store_unavailable' } : 'serve';
    peer.intervalSeconds = 5;
    const first = await start();
    await peer.until('the state by default', () => told().includes('renewal_recommended'));
    expect(told()).not.toContain('renewal_due');
    peer.renewalThresholdSeconds = 71.5 * 3_600;
    await peer.until('the state by the threshold', () => told().includes('renewal_due'));
    first.stop();
    await first.done;
    peer.renewalThresholdSeconds = null;
    const before = told().length;
    await start(null);
    await peer.until('a heartbeat of the next life', () => told().length > before);
    expect(told()[before]).toBe('renewal_due');
  });

  it('should keep events while nothing is taken, and send a batch again under its number', async () => {
    peer.acknowledges = false;
    await start();
    await addLines(0, 30);
    await peer.until('a batch', () => peer.batches.some(({ channel }) => channel === 'stream'));
    const first = peer.batches.find(({ channel }) => channel === 'stream');
    peer.acknowledges = true;
    for (const socket of peer.sockets()) socket.terminate();
    await peer.until(
      'the batch again',
      () =>
        peer.batches.filter(
          ({ sequence, channel }) => channel === first?.channel && sequence === first.sequence,
        ).length > 1,
    );
    expect(isOnceEach()).toBe(true);
  });

  it('should stop forwarding when the Console says that it is revoked', async () => {
    await start();
    await peer.until('a stream', () => peer.sockets().length > 0 && beats() > 0);
    peer.rule = ({ path }) =>
      path === '/sensors/heartbeat' ? { status: 403, code: 'sensor_revoked' } : 'serve';
    await peer.until('the stream to close', () => peer.sockets().length === 0);
    const before = peer.requests.length;
    await new Promise((resolve) => clock.setTimeout(() => resolve(null), 1_000));
    // An inventory may have been on its way; behind it nothing may follow.
    const later = peer.requests.slice(before).map(({ path }) => path);
    expect(later.filter((path) => path !== '/sensors/inventory')).toEqual([]);
    expect(later.length).toBeLessThanOrEqual(1);
    expect(peer.sockets()).toEqual([]);
  });

  it('should send no inventory that was still being read when it was revoked', async () => {
    const ports = joinPorts(stateDir);
    const reading = Promise.withResolvers<void>();
    const mayGoOn = Promise.withResolvers<void>();
    const processes: NodePorts['telemetry']['processes'] = async () => {
      reading.resolve();
      await mayGoOn.promise;
      return ports.telemetry.processes();
    };
    await start(TOKEN, { ...ports, telemetry: { ...ports.telemetry, processes } });
    await peer.until('a stream', () => peer.sockets().length > 0 && beats() > 0);
    await reading.promise;
    peer.rule = ({ path }) =>
      path === '/sensors/heartbeat' ? { status: 403, code: 'sensor_revoked' } : 'serve';
    await peer.until('the stream to close', () => peer.sockets().length === 0);
    mayGoOn.resolve();
    await new Promise((resolve) => clock.setTimeout(() => resolve(null), 500));
    expect(peer.requests.map(({ path }) => path)).not.toContain('/sensors/inventory');
  });

  it('should leave out lists of sockets that the Console has, until they change or it has them no more', async () => {
    let services: { protocol: string; ip: string; port: number }[] = [];
    const ports = joinPorts(stateDir);
    const sockets = async () => ({ connections: [], listening_services: services });
    peer.intervalSeconds = 0.05;
    await start(TOKEN, { ...ports, telemetry: { ...ports.telemetry, sockets } });
    const lists = () =>
      peer.requests
        .filter(({ path }) => path === '/sensors/heartbeat')
        .map(({ json }) => json['listening_services']);
    const next = async (what: string, isIt: (list: unknown) => boolean) => {
      const from = lists().length;
      await peer.until(what, () => lists().slice(from).some(isIt));
    };
    await next('an empty list', (list) => Array.isArray(list) && list.length === 0);
    // It names nothing as stored: what a Console of before does.
    await next('the list again', (list) => Array.isArray(list));
    peer.keepsSections = true;
    await next('no list', (list) => list === undefined);
    services = [{ protocol: 'tcp', ip: '::', port: 1 }];
    const isNew = (list: unknown) => JSON.stringify(list)?.includes('"port":1') === true;
    await next('the new list', isNew);
    await next('no list', (list) => list === undefined);
    peer.keepsSections = false;
    await next('the whole list', isNew);
  });

  it('should tell nobody of a stream whose opening ends after the stop', async () => {
    const ports = joinPorts(stateDir);
    const opening = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const openStream: NodePorts['transport']['openStream'] = async (
      client,
      hello,
      on,
      timeoutMs,
    ) => {
      const onClosed: typeof on.onClosed = (...told) => {
        on.onClosed(...told);
        setImmediate(() => ended.resolve());
      };
      const opened = await ports.transport.openStream(
        client,
        hello,
        { ...on, onClosed },
        timeoutMs,
      );
      opening.resolve();
      await mayEnd.promise;
      return opened;
    };
    const run = await start(TOKEN, { ...ports, transport: { ...ports.transport, openStream } });
    await opening.promise;
    run.stop();
    await run.done;
    mayEnd.resolve();
    await ended.promise;
    expect(warnings).toEqual([]);
  });

  it('should ask again with the same key when the answer to an enrollment is lost', async () => {
    let lost = 0;
    peer.rule = ({ path }) => (path === '/sensors/enroll' && lost++ === 0 ? 'lose' : 'serve');
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    expect(peer.csrs).toHaveLength(2);
    expect(publicKeyOf(peer.csrs[0])).toBe(publicKeyOf(peer.csrs[1]));
  });

  it('should enroll with a new key when its own serves another sensor', async () => {
    let asked = 0;
    peer.rule = ({ path }) =>
      path === '/sensors/enroll' && asked++ === 0 ? { status: 409, code: 'key_in_use' } : 'serve';
    // What an enrollment left whose answer was lost, or what came with a copied directory.
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const kept = privateKey.export({ format: 'pem', type: 'pkcs8' });
    await writeFile(join(stateDir, STATE_FILES.nextKey), kept, { mode: 0o600 });
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    expect(asked).toBe(2);
    expect(await readFile(join(stateDir, STATE_FILES.key), 'utf8')).not.toBe(kept);
  });

  it('should keep its private key to itself, and to its owner alone', async () => {
    await rm(join(stateDir, STATE_FILES.nextKey));
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    await addLines(0, 30);
    await peer.until('events', () => peer.batches.flatMap(({ ids }) => ids).length >= 30);
    const file = join(stateDir, STATE_FILES.key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.length > 40);
    expect(lines.length).toBeGreaterThan(10);
    const sent = JSON.stringify(peer.requests);
    expect(sent).not.toContain('PRIVATE KEY');
    expect(lines.filter((line) => sent.includes(line))).toEqual([]);
  });

  it('should spool while no request is answered and send all of it, in order, when one is', async () => {
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    peer.takesStreams = false;
    peer.rule = () => ({ status: 503, code: 'store_unavailable', retryAfter: 0 });
    for (const socket of peer.sockets()) socket.terminate();
    await addLines(100, 1_500);
    const failed = beats();
    await peer.until('two failed heartbeats', () => beats() > failed + 1);
    peer.batches.length = 0;
    peer.rule = () => 'serve';
    const seen = (): Set<string> => new Set(peer.batches.flatMap(({ ids }) => ids));
    await peer.until('the backlog', () => seen().size >= 1_500);
    expect(isOnceEach()).toBe(true);
    const drained = peer.batches.filter(({ channel }) => channel === 'batch');
    expect(drained.length).toBeGreaterThan(0);
    const numbers = drained.map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it('should wait for a re-enrollment when its certificate expired, keep events, and go on with a token', async () => {
    peer.lifetimeMs = 1_500;
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    peer.rule = ({ path }) =>
      path === '/sensors/enroll' ? 'serve' : { status: 401, code: 'certificate_expired' };
    await peer.until('the stream to close', () => peer.sockets().length === 0);
    peer.lifetimeMs = 720 * 3_600_000;
    peer.rule = () => 'serve';
    const before = beats();
    await addLines(0, 10);
    await mkdir(join(stateDir, 'run'), { recursive: true });
    const token = formatSecret('reenrollment', randomBytes(32));
    await writeFile(join(stateDir, 'run', 'token'), token, { mode: 0o600 });
    await peer.until('a heartbeat again', () => beats() > before);
    await peer.until('the events', () => peer.batches.flatMap(({ ids }) => ids).length >= 10);
  });

  it('should run with the identity it installed when the disk cannot be read a moment later', async () => {
    const ports = joinPorts(stateDir);
    const certificate = join(stateDir, STATE_FILES.certificate);
    let reads = Number.NEGATIVE_INFINITY;
    const run = await start(TOKEN, {
      ...ports,
      files: {
        ...ports.files,
        async rename(from, to) {
          await ports.files.rename(from, to);
          if (to === certificate) reads = 0;
        },
        async readFile(path) {
          if (path === certificate) reads += 1;
          if (reads > 1) throw Object.assign(new Error('EIO'), { code: 'EIO' });
          return ports.files.readFile(path);
        },
      },
    });
    await Promise.race([peer.until('a heartbeat', () => beats() > 0), run.done]);
    expect([beats() > 0, reads]).toEqual([true, 1]);
  });

  it('should obey Retry-After when enrolling', async () => {
    const at: number[] = [];
    peer.rule = ({ path }) => {
      if (path !== '/sensors/enroll') return 'serve';
      at.push(performance.now());
      return at.length === 1 ? { status: 429, code: 'rate_limited', retryAfter: 1 } : 'serve';
    };
    await start();
    await peer.until('a heartbeat', () => beats() > 0);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('should renew when asked and go on under the new certificate', async () => {
    await start();
    await peer.until('a stream', () => peer.sockets().length > 0 && beats() > 0);
    peer.sendAll({ type: 'refresh', what: ['certificate'] });
    await peer.until('a renewal', () => peer.csrs.length === 2);
    const before = beats();
    await peer.until('a heartbeat after it', () => beats() > before + 1);
    expect(publicKeyOf(peer.csrs[0])).not.toBe(publicKeyOf(peer.csrs[1]));
  });

  it('should end with exit code 6 when the token is refused', async () => {
    peer.rule = () => ({ status: 401, code: 'token_invalid' });
    const run = await start();
    expect(await run.done).toMatchObject({ exitCode: 6 });
  });
});

function publicKeyOf(csr = ''): string {
  return Buffer.from(csr.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
    .toString('hex')
    .slice(160, 600);
}
