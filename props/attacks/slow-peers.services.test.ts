// Peers that take their time: a connection without a handshake, half a handshake, an idle session, headers that drip.
// Each is closed by the listener, and a well-behaved sensor is answered all the while. It takes real time, because the
// listener's idle time-out is its own. invariant: I10
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heartbeatBody, makeKeys } from './sensor-plane.client.ts';
import {
  removeSharedKeys,
  type SensorPlaneUnderTest,
  startSensorPlane,
} from './sensor-plane.fixture.ts';

const CLOSED_WITHIN_MS = 60_000;
const DRIP_EVERY_MS = 400;
const HALF_OPEN = 500;
let plane: SensorPlaneUnderTest;

beforeAll(async () => {
  plane = await startSensorPlane();
});
afterAll(async () => {
  await plane.stop();
  await removeSharedKeys();
});

describe('slow peers', () => {
  it('should be closed, while others are answered', async () => {
    const [pair] = await makeKeys(1);
    if (pair === undefined) throw new Error('no key');
    const identity = await plane.enroll('node-a', pair);
    const peers = [
      ...Array.from({ length: HALF_OPEN }, () => halfOpen(Buffer.alloc(0))),
      halfOpen(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])),
      idleSession(),
      drippingHeaders(),
    ];
    const isOver = Promise.all(peers.map(closed)).then(() => true);
    let answered = 0;
    while (!(await Promise.race([isOver, answer(identity)]))) answered += 1;
    expect(answered).toBeGreaterThan(0);
  });
});

async function answer(identity: Parameters<SensorPlaneUnderTest['ask']>[0]): Promise<false> {
  const { status } = await plane.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []));
  expect(status).toBe(200);
  return false;
}

function halfOpen(bytes: Buffer): Socket {
  const socket = connectTcp(plane.port, '127.0.0.1', () => socket.write(bytes));
  return socket;
}

function idleSession(): Socket {
  return connectTls({ host: '127.0.0.1', port: plane.port, rejectUnauthorized: false });
}

function drippingHeaders(): Socket {
  const socket = connectTls(
    { host: '127.0.0.1', port: plane.port, rejectUnauthorized: false },
    () => {
      socket.write('GET /sensors/stream HTTP/1.1\r\nhost: x\r\nx-slow: ');
      const drip = setInterval(() => socket.write('a'), DRIP_EVERY_MS);
      socket.once('close', () => clearInterval(drip));
    },
  );
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('a slow peer is still connected')),
      CLOSED_WITHIN_MS,
    );
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.resume();
  });
}
