// A peer of the sensor plane that speaks for itself: requests over mutual TLS with chosen keys, on a fresh connection, on
// one that is kept open, or on one that resumes an earlier TLS session.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { buildSigningRequest } from '../../sensor/transport/signing-request.ts';
import { contextOf } from './api.ts';
import type { Home } from './programs.ts';

export type Pair = { readonly key: string; readonly cert: string };
export type PeerAnswer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The connection had carried an earlier request. */
  readonly isReused: boolean;
  /** The TLS session of an earlier connection was taken up. */
  readonly isResumed: boolean;
  /** The newest session ticket of the connection. */
  readonly session: Buffer | null;
};
type Ask = {
  readonly path: string;
  readonly body: unknown;
  readonly pair?: Pair;
  readonly agent?: Agent;
  readonly session?: Buffer;
};

/** An authenticated request that changes nothing. */
export const HARMLESS = {
  path: '/sensors/inventory',
  body: { is_full_snapshot: false, sections: {} },
} as const;

/** The identity files of the Sensor program. */
export function identityOf(home: Home): Pair {
  const read = (name: string) => readFileSync(join(home.sensorDir, name), 'utf8');
  return { key: read('client.key.pem'), cert: read('client.cert.pem') };
}

/** An agent whose one connection stays open between requests. */
export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1, keepAliveMsecs: 1_000 });
}

/** One POST to the sensor plane. Rejects when the connection is refused or ended. */
export function post(home: Home, ask: Ask): Promise<PeerAnswer> {
  const payload = JSON.stringify(ask.body);
  return new Promise((resolve, reject) => {
    let session: Buffer | null = null;
    const keepTicket = (ticket: Buffer): void => {
      session = ticket;
    };
    const outgoing = request(
      {
        host: '127.0.0.1',
        servername: 'localhost',
        port: home.port,
        path: ask.path,
        method: 'POST',
        ca: contextOf(home).ca_pem,
        ...(ask.pair ?? {}),
        agent: ask.agent ?? false,
        ...(ask.session === undefined ? {} : { session: ask.session }),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
          'x-service-instance': 'f'.repeat(32),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        const socket = response.socket as TLSSocket;
        const isResumed = socket.isSessionReused();
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          // A connection that is kept open serves many requests.
          socket.off('session', keepTicket);
          resolve({
            status: response.statusCode ?? 0,
            body: parse(Buffer.concat(chunks).toString()),
            headers: response.headers,
            isReused: outgoing.reusedSocket,
            isResumed,
            session,
          });
        });
      },
    );
    outgoing.on('socket', (socket) => socket.on('session', keepTicket));
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

/** A certificate request for a key in PEM. */
export function csrOf(nodeName: string, keyPem: string): Promise<string> {
  return buildSigningRequest(nodeName, createPrivateKey(keyPem));
}

/** The body of an enrollment. */
export async function enrollBody(token: string, nodeName: string, keyPem: string) {
  return {
    token,
    csr_pem: await csrOf(nodeName, keyPem),
    node_name: nodeName,
    flavor: 'standard',
    system: { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' },
    boot_id: 'boot-1',
    sensor_version: '0.0.1',
  };
}

/** A heartbeat as small as the schema allows. */
export function heartbeatBody(
  streamId: string,
  sequence: number,
  events: readonly unknown[],
  expiresAt: string,
) {
  return {
    stream_id: streamId,
    sequence,
    sent_at: new Date().toISOString(),
    boot_id: 'boot-1',
    sensor: { version: '0.0.1', flavor: 'standard', capabilities: [] },
    engine: {
      kind: 'procfs',
      version: '1.7.0',
      state: 'running',
      restarts: 0,
      disabled_hooks: [],
      loaded_policies: [],
    },
    trust: { state: 'trusted', certificate_expires_at: expiresAt, renewal_status: 'ok' },
    events,
    connections: [],
    listening_services: [],
    flows: [],
    resources: { cpu_percent: 0, memory_bytes: 1 },
    system: { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' },
    pipeline: {
      read: 0,
      normalized: 0,
      dropped: 0,
      aggregated: 0,
      spooled: 0,
      spool_depth: 0,
      discarded: 0,
      sent_stream: 0,
      sent_heartbeat: 0,
      engine_lost: 0,
    },
  };
}

/** An event that a test can count. */
export function madeEvent(number: number) {
  return {
    event_id: number.toString(16).padStart(32, '0'),
    schema_version: 1,
    observed_at: new Date().toISOString(),
    event_kind: 'process_exec',
    severity: 'info',
    message: `made event ${number}`,
  };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
