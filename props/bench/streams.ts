// Many sensors that only hold their stream open: WebSockets over mutual TLS that say hello and answer pings. Its own
// process, so that the memory measured is the gateway's. Prints `open <count>` when all are welcome, then waits.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import { SENSOR_SUBPROTOCOL } from '../../machines/wire/scalars.ts';
import type { DownstreamFrame } from '../../machines/wire/stream.ts';
import type { Pair } from './fleet.ts';

export type StreamsPlan = {
  readonly port: number;
  readonly ca: string;
  readonly sensors: readonly Pair[];
};

const OPENING_AT_ONCE = 50;
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StreamsPlan;
const hex = () => randomBytes(16).toString('hex');

function open(sensor: Pair): Promise<WebSocket> {
  const instanceId = hex();
  const url = `wss://127.0.0.1:${plan.port}${SENSOR_PATHS.stream}`;
  const socket = new WebSocket(url, SENSOR_SUBPROTOCOL, {
    ca: plan.ca,
    cert: sensor.cert,
    key: sensor.key,
    perMessageDeflate: false,
  });
  const say = (frame: unknown) => socket.send(JSON.stringify(frame));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`closed: ${code} ${reason}`)));
    socket.on('open', () =>
      say({
        type: 'hello',
        instance_id: instanceId,
        boot_id: 'bench',
        stream_id: hex(),
        sensor_version: '0.1.0',
        capabilities: [],
      }),
    );
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as DownstreamFrame;
      if (frame.type === 'welcome') resolve(socket);
      if (frame.type === 'ping') say({ type: 'pong', instance_id: instanceId });
    });
  });
}

const sockets: WebSocket[] = [];
for (let at = 0; at < plan.sensors.length; at += OPENING_AT_ONCE) {
  sockets.push(...(await Promise.all(plan.sensors.slice(at, at + OPENING_AT_ONCE).map(open))));
}
process.stdout.write(`open ${sockets.length}\n`);
