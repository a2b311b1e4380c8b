// The load: many sensors on raw TLS sockets, each sends a heartbeat, waits for the answer, sends the next. Raw sockets and
// bodies made of text keep the load generator cheaper than what it measures. Its own process, one JSON line of results.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import { build } from 'hdr-histogram-js';
import { heartbeatText } from './heartbeat-text.ts';

export type LoadPlan = {
  readonly port: number;
  readonly ca: string;
  readonly sensors: readonly { readonly cert: string; readonly key: string }[];
  readonly seconds: number;
  readonly warmupSeconds: number;
  /** After an answer a sensor waits a random time up to this. */
  readonly pauseMaxMs: number;
  readonly eventsPerHeartbeat: number;
};
export type LoadResult = {
  readonly done: number;
  readonly refused: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LoadPlan;
const histogram = build();
let done = 0;
let refused = 0;
let isCounting = false;
let isOver = false;

const now = () => performance.now();
const hex = (bytes: number) => randomBytes(bytes).toString('hex');

function eventsText(count: number): string {
  const run = hex(12);
  const at = new Date().toISOString();
  return Array.from({ length: count }, (_, index) => {
    const id = run + index.toString(16).padStart(8, '0');
    return `{"event_id":"${id}","schema_version":1,"observed_at":"${at}","event_kind":"process_exec","severity":"info","message":"/usr/bin/id -u started by /usr/bin/bash","process":{"exec_id":"bm9kZTo${id}","pid":${4000 + index},"uid":0,"binary":"/usr/bin/id","arguments":"-u","cwd":"/root","start_time":"${at}"},"parent":{"exec_id":"bm9kZTo${run}","pid":3999,"uid":0,"binary":"/usr/bin/bash","arguments":"","cwd":"/root"},"network_namespace":"4026531840","raw_kind":"process_exec"}`;
  }).join(',');
}

function startSensor(sensor: LoadPlan['sensors'][number]): Promise<TLSSocket> {
  const streamId = hex(16);
  const instance = hex(16);
  let sequence = 0;
  let sentAt = 0;
  let pending = '';
  const socket = connect({
    host: '127.0.0.1',
    port: plan.port,
    ca: plan.ca,
    cert: sensor.cert,
    key: sensor.key,
    servername: 'localhost',
  });
  const send = () => {
    if (isOver) return;
    sequence += 1;
    const body = heartbeatText({ streamId, sequence, events: eventsText(plan.eventsPerHeartbeat) });
    sentAt = now();
    socket.write(
      `POST /sensors/heartbeat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-service-instance: ${instance}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  };
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    pending += text;
    const head = pending.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0);
    if (pending.length < head + 4 + length) return;
    const isGood = pending.startsWith('HTTP/1.1 200') && !pending.includes('retry_after_ms');
    pending = '';
    if (isCounting) {
      if (isGood) done += 1;
      else refused += 1;
      histogram.recordValue(Math.max(1, Math.round((now() - sentAt) * 1_000)));
    }
    if (!isOver) setTimeout(send, Math.random() * plan.pauseMaxMs);
  });
  socket.on('error', () => {
    refused += 1;
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket);
      send();
    });
  });
}

const sockets: TLSSocket[] = [];
for (let at = 0; at < plan.sensors.length; at += 50) {
  sockets.push(...(await Promise.all(plan.sensors.slice(at, at + 50).map(startSensor))));
}
process.stdout.write('connected\n');
await wait(plan.warmupSeconds);
isCounting = true;
process.stdout.write('begin\n');
const began = now();
await wait(plan.seconds);
isCounting = false;
isOver = true;
const result: LoadResult = {
  done,
  refused,
  perSecond: done / ((now() - began) / 1_000),
  p50Ms: histogram.getValueAtPercentile(50) / 1_000,
  p99Ms: histogram.getValueAtPercentile(99) / 1_000,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
for (const socket of sockets) socket.destroy();

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
