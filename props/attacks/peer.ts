// What the attackers use: keys, odd certificate requests, requests, raw bytes and streams over mutual TLS.
import { generateKeyPair } from 'node:crypto';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { type ConnectionOptions, connect } from 'node:tls';
import { promisify } from 'node:util';
import forge from 'node-forge';
import { WebSocket } from 'ws';
import { forgeSigner, type KeyPair, makeRsaPair } from '../peers/rsa-keys.ts';

const makeKeyPair = promisify(generateKeyPair);

export type { KeyPair };
export type Identity = { readonly sensorId: string; readonly cert: string; readonly key: string };
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
  readonly isResumed: boolean;
};

/** Makes RSA keys, several at a time. */
export function makeKeys(
  count: number,
  { bits = 2_048, exponent = 65_537 } = {},
): Promise<readonly KeyPair[]> {
  const one = (): Promise<KeyPair> =>
    exponent === 65_537
      ? makeRsaPair(bits)
      : makeKeyPair('rsa', { modulusLength: bits, publicExponent: exponent });
  return Promise.all(Array.from({ length: count }, one));
}

/** For what happens soon, and later on a machine that is busy. */
export const PATIENT = { timeout: 20_000 } as const;

/** One of several keys. */
export function nth(keys: readonly KeyPair[], at: number): KeyPair {
  const found = keys[at];
  if (found === undefined) throw new Error('no such key');
  return found;
}

export const pemOf = (pair: KeyPair): string =>
  pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** Status and code of an answer, which is all a refusal has to say. */
export const codeOf = ({ status, body }: Answer): readonly unknown[] => [status, body['code']];

/**
 * Sends bytes over TLS as they are and gives all that comes back until the Console closes, `until` is heard, or `enough`
 * is settled.
 */
export function talk(
  to: { readonly port: number; readonly ca: string },
  bytes: string | Buffer,
  options: ConnectionOptions & {
    readonly until?: RegExp;
    readonly enough?: (sent: Promise<void>) => Promise<unknown>;
  } = {},
): Promise<string> {
  const { until, enough, ...rest } = options;
  return new Promise((resolve) => {
    let heard = '';
    const sent = Promise.withResolvers<void>();
    const socket = connect({ host: '127.0.0.1', ...to, ...rest }, () => {
      socket.write(bytes, () => sent.resolve());
    });
    void enough?.(sent.promise).finally(() => socket.destroy());
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
      if (until?.test(heard)) socket.destroy();
    });
    // A reset is an answer too; `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
  });
}

/** A certificate request of node-forge; `attributes` and `subject` may be as odd as a test needs. */
export function makeCsr(
  keys: KeyPair,
  nodeName: string,
  odd: {
    readonly subject?: readonly { readonly name: string; readonly value: string }[];
    readonly extensions?: readonly Record<string, unknown>[];
    readonly signWith?: KeyPair;
  } = {},
): string {
  const csr = forge.pki.createCertificationRequest();
  csr.publicKey = forge.pki.publicKeyFromPem(
    keys.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  );
  csr.setSubject([
    ...(odd.subject ?? [
      { name: 'commonName', value: nodeName },
      { name: 'organizationName', value: 'Service Sensor' },
    ]),
  ]);
  if (odd.extensions !== undefined) {
    csr.setAttributes([{ name: 'extensionRequest', extensions: [...odd.extensions] }]);
  }
  csr.sign(forgeSigner((odd.signWith ?? keys).privateKey), forge.md.sha256.create());
  return forge.pki.certificationRequestToPem(csr);
}

export function enrollBody(token: string, nodeName: string, keys: KeyPair, csrPem?: string) {
  return {
    token,
    csr_pem: csrPem ?? makeCsr(keys, nodeName),
    node_name: nodeName,
    flavor: 'standard',
    system: { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' },
    boot_id: 'boot',
    sensor_version: '0.1.0',
  };
}

const BODILESS = new Set(['GET', 'HEAD', 'DELETE']);
export const STREAM_ID = 'a'.repeat(32);
export const eventOf = (n: number) => ({
  event_id: n.toString(16).padStart(32, '0'),
  schema_version: 1,
  observed_at: '2026-01-01T00:00:00.000Z',
  event_kind: 'process_exec',
  severity: 'info',
  message: `event ${n}`,
});
export const eventsBody = (sequence: number, ids: readonly number[]) => ({
  stream_id: STREAM_ID,
  sequence,
  events: ids.map(eventOf),
});
const COUNTERS = [
  'read',
  'normalized',
  'dropped',
  'aggregated',
  'spooled',
  'spool_depth',
  'discarded',
  'sent_stream',
  'sent_heartbeat',
  'engine_lost',
];
export const heartbeatBody = (sequence: number, ids: readonly number[]) => ({
  ...eventsBody(sequence, ids),
  sent_at: '2026-01-01T00:00:00.000Z',
  boot_id: 'boot',
  sensor: { version: '0.1.0', flavor: 'standard', capabilities: [] },
  engine: {
    kind: 'procfs',
    version: '1.7.0',
    state: 'running',
    restarts: 0,
    disabled_hooks: [],
    loaded_policies: [],
  },
  trust: {
    state: 'trusted',
    certificate_expires_at: '2027-01-01T00:00:00.000Z',
    renewal_status: 'ok',
  },
  connections: [],
  listening_services: [],
  flows: [],
  resources: { cpu_percent: 1, memory_bytes: 1 },
  system: { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' },
  pipeline: Object.fromEntries(COUNTERS.map((name) => [name, 0])),
});

export function send(input: {
  readonly port: number;
  readonly ca: string;
  readonly identity: Pick<Identity, 'cert' | 'key'> | null;
  readonly path: string;
  readonly body: unknown;
  readonly more: RequestOptions;
}): Promise<Answer> {
  const { body, identity, more } = input;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body ?? {}));
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        host: '127.0.0.1',
        port: input.port,
        path: input.path,
        method: 'POST',
        ca: input.ca,
        agent: false,
        ...(identity === null ? {} : { cert: identity.cert, key: identity.key }),
        ...more,
        headers: { 'content-type': 'application/json', ...more.headers },
      },
      (res) => {
        const chunks: Buffer[] = [];
        const socket = res.socket as { isSessionReused?: () => boolean };
        const isResumed = socket.isSessionReused?.() ?? false;
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = String(res.headers['content-type']).includes('json');
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            body: isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : { text },
            isResumed,
          });
        });
      },
    );
    sent.on('error', reject);
    if (more.method !== undefined && BODILESS.has(more.method)) sent.end();
    else sent.end(bytes);
  });
}

export type TestStream = Awaited<ReturnType<typeof openStream>>;

export async function openStream(input: {
  readonly port: number;
  readonly ca: string;
  readonly identity: Identity;
  readonly headers: Record<string, string>;
}) {
  const socket = new WebSocket(
    `wss://127.0.0.1:${input.port}/sensors/stream`,
    'service.stream.v1',
    {
      ca: input.ca,
      cert: input.identity.cert,
      key: input.identity.key,
      headers: input.headers,
    },
  );
  const frames: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  let isAnswering = true;
  let isClosed = false;
  let instanceId = '';
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      isClosed = true;
      resolve({ code, reason: reason.toString() });
      for (const wake of waiting.splice(0)) wake();
    });
  });
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString()) as Record<string, unknown>;
    if (frame['type'] === 'ping') {
      if (isAnswering) socket.send(JSON.stringify({ type: 'pong', instance_id: instanceId }));
      return;
    }
    frames.push(frame);
    for (const wake of waiting.splice(0)) wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
    socket.once('unexpected-response', (_, res) => reject(new Error(`status ${res.statusCode}`)));
  });
  socket.on('error', () => undefined);
  return {
    socket,
    frames,
    closed,
    send: (frame: unknown) => socket.send(JSON.stringify(frame)),
    stopAnswering: () => {
      isAnswering = false;
    },
    hello(instance: string) {
      instanceId = instance;
      const rest = { boot_id: 'boot', stream_id: STREAM_ID, sensor_version: '0', capabilities: [] };
      socket.send(JSON.stringify({ type: 'hello', instance_id: instance, ...rest }));
    },
    /** The next frame of a type; frames before it are dropped. Rejects when the stream ends first. */
    async next(type: string): Promise<Record<string, unknown>> {
      for (;;) {
        const at = frames.findIndex((one) => one['type'] === type);
        if (at !== -1) return frames.splice(0, at + 1).at(-1) ?? {};
        if (isClosed) throw new Error(`no ${type}: ${JSON.stringify(await closed)}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
