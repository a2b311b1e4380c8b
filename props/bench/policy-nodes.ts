// A thousand nodes that take policies, in one process of its own: each holds a stream and, told that its policies changed,
// asks by a heartbeat, downloads the pack, and says by a second heartbeat that it enforces it. They verify and load nothing:
// what is measured is the Console. Prints `open`, and for each version that all nodes have `reached <version> [times]`.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { WebSocket } from 'ws';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import type { HeartbeatResponse } from '../../machines/wire/heartbeat.ts';
import type { PolicyReport, SignedPack } from '../../machines/wire/policy.ts';
import { INSTANCE_HEADER, SENSOR_SUBPROTOCOL } from '../../machines/wire/scalars.ts';
import type { DownstreamFrame } from '../../machines/wire/stream.ts';
import type { Pair } from './fleet.ts';
import { heartbeatText } from './heartbeat-text.ts';

export type PolicyNodesPlan = {
  readonly port: number;
  readonly ca: string;
  readonly sensors: readonly Pair[];
  readonly signingKeysSha256: string;
};

const OPENING_AT_ONCE = 50;
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as PolicyNodesPlan;
const hex = () => randomBytes(16).toString('hex');
/** When each node's report of a version was answered, in milliseconds since 1970. */
const reached = new Map<number, number[]>();

type Node = {
  readonly instanceId: string;
  readonly streamId: string;
  readonly agent: Agent;
  sequence: number;
  isAsking: boolean;
  isWanted: boolean;
};

function ask<T>(node: Node, method: string, path: string, body?: string): Promise<T> {
  const headers = {
    [INSTANCE_HEADER]: node.instanceId,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const { agent } = node;
    const where = { host: '127.0.0.1', servername: 'localhost', port: plan.port };
    const call = request({ ...where, path, method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as T);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

function beat(node: Node, policy?: PolicyReport): Promise<HeartbeatResponse> {
  node.sequence += 1;
  const { streamId, sequence } = node;
  const told = policy === undefined ? {} : { policy };
  const text = heartbeatText({ streamId, sequence, events: '', ...told });
  return ask(node, 'POST', SENSOR_PATHS.heartbeat, text);
}

/** Until the Console wants nothing else of it. */
async function take(node: Node): Promise<void> {
  node.isWanted = true;
  if (node.isAsking) return;
  node.isAsking = true;
  while (node.isWanted) {
    node.isWanted = false;
    await takeOnce(node, await beat(node));
  }
  node.isAsking = false;
}

async function takeOnce(node: Node, answer: HeartbeatResponse): Promise<void> {
  const wanted = answer.pack_assignment;
  if (wanted === undefined || 'removed' in wanted) return;
  const { policies } = await ask<SignedPack>(node, 'GET', wanted.path);
  const { assignment_id, pack_id, version, manifest_sha256, mode, namespace_scope } = wanted;
  await beat(node, {
    ...{ assignment_id, pack_id, version, manifest_sha256, mode, namespace_scope },
    ...{ state: 'enforcing', highest_version: version },
    in_force: { pack_id, version, manifest_sha256 },
    enforcement_revision: answer.enforcement_policy?.revision ?? 0,
    custom_revision: answer.custom_policies?.revision ?? 0,
    signing_keys_sha256: plan.signingKeysSha256,
    policies: policies.map(({ name }) => ({ name, state: 'enforcing' })),
  });
  note(version);
}

function note(version: number): void {
  const times = reached.get(version) ?? [];
  times.push(Date.now());
  reached.set(version, times);
  if (times.length < plan.sensors.length) return;
  process.stdout.write(`reached ${version} ${JSON.stringify(times)}\n`);
}

function open(sensor: Pair): Promise<void> {
  const tls = { ca: plan.ca, cert: sensor.cert, key: sensor.key };
  const node: Node = {
    ...{ instanceId: hex(), streamId: hex(), sequence: 0 },
    ...{ isAsking: false, isWanted: false },
    agent: new Agent({ ...tls, keepAlive: true, maxSockets: 1 }),
  };
  const url = `wss://127.0.0.1:${plan.port}${SENSOR_PATHS.stream}`;
  const socket = new WebSocket(url, SENSOR_SUBPROTOCOL, { ...tls, perMessageDeflate: false });
  const say = (frame: unknown) => socket.send(JSON.stringify(frame));
  const fail = (error: unknown) => {
    process.stderr.write(`${error}\n`);
    process.exit(1);
  };
  return new Promise((resolve) => {
    socket.on('error', fail);
    socket.on('close', (code, reason) => fail(`closed: ${code} ${reason}`));
    socket.on('open', () => {
      const { instanceId: instance_id, streamId: stream_id } = node;
      const is = { boot_id: 'bench', sensor_version: '0.1.0', capabilities: [] };
      say({ type: 'hello', instance_id, stream_id, ...is });
    });
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as DownstreamFrame;
      if (frame.type === 'welcome') beat(node).then(() => resolve(), fail);
      if (frame.type === 'ping') say({ type: 'pong', instance_id: node.instanceId });
      if (frame.type === 'refresh' && frame.what.includes('policy')) take(node).catch(fail);
    });
  });
}

for (let at = 0; at < plan.sensors.length; at += OPENING_AT_ONCE) {
  await Promise.all(plan.sensors.slice(at, at + OPENING_AT_ONCE).map(open));
}
process.stdout.write(`open ${plan.sensors.length}\n`);
