// Peers that take their time: ten thousand connections without a handshake, half a handshake, an idle session, headers
// that drip, a request that never ends. Each is closed by the listener, and a well-behaved sensor is answered all the
// while. It takes real time, because the listener's idle time-out is its own. invariant: I10
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slackOf } from '../yardstick.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { heartbeatBody, type Identity, makeKeys, nth } from './peer.ts';

const ATTACKERS = fileURLToPath(new URL('./half-open-peers.ts', import.meta.url));
const CLOSED_WITHIN_MS = 90_000;
const DRIP_EVERY_MS = 400;
const HALF_OPEN = 10_000;
/** What this process and the other one need besides. */
const SPARE_DESCRIPTORS = 500;
const P99_MAX_MS = 250;
let console: ConsoleUnderTest;
let identity: Identity;

beforeAll(async () => {
  const [started, keys] = await Promise.all([startConsole(), makeKeys(1)]);
  console = started;
  identity = await console.enroll('node', nth(keys, 0));
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

/** As many as the process may hold, ten thousand at most. */
function affordable(): number {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return Math.max(1, Math.min(HALF_OPEN, Number(limit ?? 1_024) - SPARE_DESCRIPTORS));
}

/** Milliseconds of heartbeats, one after the other on one connection, until something is over. */
async function beatUntil(over: Promise<unknown>): Promise<readonly number[]> {
  const agent = console.agent(identity);
  const isOver = over.then(() => true);
  const took: number[] = [];
  const beat = async (): Promise<false> => {
    const atMs = performance.now();
    const body = heartbeatBody(0, []);
    const { status } = await console.ask(identity, '/sensors/heartbeat', body, { agent });
    expect(status).toBe(200);
    took.push(performance.now() - atMs);
    return false;
  };
  while (!(await Promise.race([isOver, beat()])));
  return took.sort((a, b) => a - b);
}
const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

type Told = { kind: string; opened: number; closed: number; refusedBecause: string | null };

/** Starts the attackers and follows what they tell. */
function startAttackers(count: number) {
  const child = fork(ATTACKERS, [String(console.port), String(count)], { execArgv: [] });
  const said = (kind: string) =>
    new Promise<Told>((resolve, reject) => {
      child.on('message', (told: Told) => {
        if (told.kind === kind) resolve(told);
      });
      child.once('exit', (code) => reject(new Error(`the attackers ended with ${code}`)));
    });
  return { opened: said('opened'), closed: said('closed'), end: () => child.kill() };
}

describe('attack 17: ten thousand connections that never finish a handshake', () => {
  it('should be closed by the listener, while a sensor is answered as ever', async () => {
    const count = affordable();
    const slackMs = await slackOf(() =>
      console.ask(identity, '/sensors/heartbeat', heartbeatBody(0, [])),
    );
    const attackers = startAttackers(count);
    attackers.closed.catch(() => undefined);
    try {
      const during = await beatUntil(attackers.opened);
      const { opened, closed, refusedBecause } = await attackers.opened;
      const after = await beatUntil(attackers.closed);
      const took = [...during, ...after].sort((a, b) => a - b);
      const [p50, p99] = [percentile(took, 0.5), percentile(took, 0.99)];
      process.stdout.write(
        `half-open connections: ${opened} of ${HALF_OPEN} (${closed} closed before the last was ` +
          `open); ${took.length} heartbeats meanwhile, p50 ${p50.toFixed(1)} ms, ` +
          `p99 ${p99.toFixed(1)} ms\n`,
      );
      expect(refusedBecause).toBeNull();
      expect(opened).toBe(count);
      expect((await attackers.closed).closed).toBe(count);
      expect(p99).toBeLessThan(P99_MAX_MS + slackMs);
    } finally {
      attackers.end();
    }
  });
});

describe('attack 17: sessions that are held open', () => {
  const open = (first: string, then?: (socket: TLSSocket) => void): TLSSocket => {
    const to = { host: '127.0.0.1', port: console.port, ca: console.ca };
    const { cert, key } = identity;
    const socket = connectTls({ ...to, cert, key }, () => {
      if (first !== '') socket.write(first);
      then?.(socket);
    });
    return socket;
  };
  const drip = (text: string) => (socket: TLSSocket) => {
    const timer = setInterval(() => socket.write(text), DRIP_EVERY_MS);
    socket.once('close', () => clearInterval(timer));
  };
  const closed = (socket: TLSSocket) =>
    new Promise<void>((resolve, reject) => {
      const late = () => reject(new Error('a slow peer is still connected'));
      const timer = setTimeout(late, CLOSED_WITHIN_MS);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.resume();
    });
  const post = 'POST /sensors/events HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

  it('should be closed, whether idle, dripping or without an end', async () => {
    const peers = [
      open(''),
      open('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'),
      open('GET /sensors/stream HTTP/1.1\r\nhost: x\r\nx-slow: ', drip('a')),
      open(`${post}content-length: 4000000\r\n\r\n`, drip(' ')),
      open(`${post}content-length: 99999999999\r\n\r\n`, drip(' ')),
      // Half a request line, and a header that a lone carriage return keeps open (see attack 18).
      open('GET /livez\r\n\r\n'),
      open(`${post}x-a: b\rcontent-length: 2\r\n\r\n{}`),
    ];
    const took = await beatUntil(Promise.all(peers.map(closed)));
    expect(took.length).toBeGreaterThan(0);
  });
});
