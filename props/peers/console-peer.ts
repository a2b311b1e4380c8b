// A peer that speaks the Console's sensor plane over real mutual TLS, for the Sensor's tests. It keeps what it was sent
// and does what a test tells it to: refuse, stay silent, lose an answer.
import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { zstdDecompressSync } from 'node:zlib';
import forge from 'node-forge';
import { type WebSocket, WebSocketServer } from 'ws';
import { forgeSigner, type KeyPair, makeRsaPair } from './rsa-keys.ts';

type Told = { readonly event_id: string; readonly message?: string };
export type Batch = {
  readonly channel: string;
  readonly sequence: number;
  readonly ids: readonly string[];
};
export type PeerRule = (request: {
  path: string;
  json: Record<string, unknown>;
  fingerprint: string | null;
}) => 'serve' | 'lose' | Refusal;
type Refusal = { readonly status: number; readonly code: string; readonly retryAfter?: number };

export type ConsolePeer = {
  readonly url: string;
  readonly caFingerprint: string;
  readonly batches: Batch[];
  /** Of every event that came. */
  readonly messages: string[];
  readonly requests: {
    readonly path: string;
    readonly json: Record<string, unknown>;
    readonly fingerprint: string | null;
  }[];
  /** Fingerprints of the certificates given out, oldest first. */
  readonly issued: string[];
  /** Sections of an inventory that it says it has to see whole. */
  needsFull: (sections: Record<string, { base_hash?: string }>) => readonly string[];
  /** The code by which a batch on the stream is refused; null takes it. */
  refusesBatch: (batch: Batch) => string | null;
  readonly csrs: string[];
  /** Decides what happens to each request. */
  rule: PeerRule;
  takesStreams: boolean;
  intervalSeconds: number;
  /** What it tells of when certificates are due; null says nothing, as older Consoles do. */
  renewalThresholdSeconds: number | null;
  /** Whether it says that it has what a heartbeat names of sockets. */
  keepsSections: boolean;
  acknowledges: boolean;
  /** The highest number of the stream's channel that a welcome names. */
  highest: number;
  lifetimeMs: number;
  sockets(): readonly WebSocket[];
  sendAll(frame: object): void;
  until(text: string, holds: () => boolean, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
};

/** Starts a peer on a free port of loopback. */
export async function startConsolePeer(): Promise<ConsolePeer> {
  const [ca, leafKeys] = [await makeAuthority(), await makeRsaPair()];
  const leaf = ca.issue(leafKeys, 'localhost', 86_400_000);
  const server: Server = createServer({
    key: leaf.keyPem,
    cert: leaf.certPem,
    ca: ca.certPem,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const streams = new WebSocketServer({ noServer: true });
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const peer: ConsolePeer = {
    url: '',
    caFingerprint: new X509Certificate(ca.certPem).fingerprint256,
    batches: [],
    messages: [],
    requests: [],
    csrs: [],
    issued: [],
    needsFull: () => [],
    refusesBatch: () => null,
    rule: () => 'serve',
    takesStreams: true,
    intervalSeconds: 15,
    renewalThresholdSeconds: null,
    keepsSections: false,
    acknowledges: true,
    highest: 0,
    lifetimeMs: 720 * 3_600_000,
    sockets: () => [...streams.clients],
    sendAll(frame) {
      for (const socket of streams.clients) socket.send(JSON.stringify(frame));
    },
    until(text, holds, timeoutMs = 90_000) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (!holds()) return;
          listeners.delete(look);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          listeners.delete(look);
          reject(new Error(`never: ${text}`));
        }, timeoutMs);
        listeners.add(look);
        look();
      });
    },
    async close() {
      for (const socket of streams.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function note(channel: string, sequence: number, events: readonly Told[]): void {
    peer.batches.push({ channel, sequence, ids: events.map(({ event_id }) => event_id) });
    peer.messages.push(...events.map(({ message }) => String(message)));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (path === '/ca.pem') return void response.end(ca.certPem);
    if (path === '/version') return void response.end('{}');
    const raw = await buffer(request);
    const plain = request.headers['content-encoding'] === 'zstd' ? zstdDecompressSync(raw) : raw;
    const json = JSON.parse(plain.toString('utf8')) as Record<string, unknown>;
    const certificate = (request.socket as TLSSocket).getPeerX509Certificate();
    const fingerprint = certificate?.fingerprint256 ?? null;
    peer.requests.push({ path, json, fingerprint });
    const verdict = peer.rule({ path, json, fingerprint });
    if (typeof verdict === 'object') {
      response.statusCode = verdict.status;
      if (verdict.retryAfter !== undefined) response.setHeader('retry-after', verdict.retryAfter);
      response.end(JSON.stringify({ code: verdict.code, detail: 'told by the test' }));
    } else {
      const body = answerTo(path, json);
      if (verdict === 'lose') request.socket.destroy();
      else {
        response.statusCode = path === '/sensors/enroll' ? 201 : 200;
        response.end(JSON.stringify(body));
      }
    }
    changed();
  }

  function answerTo(path: string, json: Record<string, unknown>): object {
    const server_time = new Date().toISOString();
    const events = (json['events'] ?? []) as Told[];
    const sequence = Number(json['sequence']);
    if (path === '/sensors/enroll' || path === '/sensors/renew') {
      peer.csrs.push(String(json['csr_pem']));
      const answer = certificateAnswer(ca, String(json['csr_pem']), peer.lifetimeMs);
      peer.issued.push(new X509Certificate(answer.control_plane_certificate_pem).fingerprint256);
      return answer;
    }
    if (path === '/sensors/inventory') {
      const sections = json['sections'] as Record<string, { base_hash?: string }>;
      const need_full = peer.needsFull(sections);
      const stored = Object.keys(sections).filter((name) => !need_full.includes(name));
      return { unchanged: [], stored, need_full };
    }
    if (path === '/sensors/events') {
      note(String(json['channel']), sequence, events);
      return { acknowledged_sequence: sequence };
    }
    if (events.length > 0) note('heartbeat', sequence, events);
    return {
      acknowledged_sequence: sequence,
      server_time,
      trust_health: 'healthy',
      certificate: { renewal_state: 'trusted', renew_now: false, expires_at: server_time },
      is_contained: false,
      settings: {
        heartbeat_interval_seconds: peer.intervalSeconds,
        ...(peer.renewalThresholdSeconds === null
          ? {}
          : { renewal_threshold_seconds: peer.renewalThresholdSeconds }),
      },
      ...(peer.keepsSections ? { stored_sections: json['section_hashes'] } : {}),
    };
  }

  server.on('request', (request, response) => void serve(request, response));
  server.on('upgrade', (request, socket, head) => {
    const isKnown = (socket as TLSSocket).authorized;
    if (!isKnown || !peer.takesStreams) return void socket.destroy();
    streams.handleUpgrade(request, socket, head, (ws) => {
      ws.on('message', (data) => {
        const frame = JSON.parse(String(data)) as Record<string, unknown>;
        if (frame['type'] === 'hello') {
          const settings = { heartbeat_interval_seconds: 15 };
          const server_time = new Date().toISOString();
          ws.send(
            JSON.stringify({ type: 'welcome', acknowledged: peer.highest, server_time, settings }),
          );
        } else if (frame['type'] === 'events') {
          note('stream', Number(frame['sequence']), frame['events'] as Told[]);
          const code = peer.refusesBatch(peer.batches.at(-1) as Batch);
          const { sequence } = frame;
          if (code !== null) {
            ws.send(
              JSON.stringify({ type: 'refused', sequence, code, detail: 'told by the test' }),
            );
          } else if (peer.acknowledges) ws.send(JSON.stringify({ type: 'ack', sequence }));
        }
        changed();
      });
      ws.on('close', changed);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(peer, { url: `https://localhost:${port}` });
}

function certificateAnswer(ca: Authority, csrPem: string, lifetimeMs: number) {
  const csr = forge.pki.certificationRequestFromPem(csrPem);
  if (csr.publicKey === null || !csr.verify()) throw new Error('the CSR is not signed by its key');
  const name = String(csr.subject.getField('CN').value);
  return {
    control_plane_certificate_pem: ca.sign(
      csr.publicKey as forge.pki.rsa.PublicKey,
      name,
      lifetimeMs,
    ),
    control_plane_ca_certificate_pem: ca.certPem,
    policy_signing_public_key_pem: '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n',
    certificate_expires_at: new Date(Date.now() + lifetimeMs).toISOString(),
    certificate_reference: 'reference',
    sensor_id: SENSOR_ID,
    trust_state: 'trusted',
    heartbeat_interval_seconds: 15,
    stream_path: '/sensors/stream',
  };
}

export const SENSOR_ID = '0195f1d0-0000-7000-8000-000000000001';
type Authority = Awaited<ReturnType<typeof makeAuthority>>;
const forgeKeyOf = ({ publicKey }: KeyPair): forge.pki.rsa.PublicKey =>
  forge.pki.publicKeyFromPem(publicKey.export({ format: 'pem', type: 'spki' }).toString());
async function makeAuthority() {
  const keys = await makeRsaPair();
  const issuer = [{ name: 'commonName', value: `peer ${randomUUID()}` }];
  const make = (publicKey: forge.pki.rsa.PublicKey, name: string, ttlMs: number, isCa: boolean) => {
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = publicKey;
    certificate.serialNumber = `01${createHash('sha256').update(randomUUID()).digest('hex').slice(0, 16)}`;
    certificate.validity.notBefore = new Date(Date.now() - 300_000);
    certificate.validity.notAfter = new Date(Date.now() + ttlMs);
    certificate.setSubject(isCa ? issuer : [{ name: 'commonName', value: name }]);
    certificate.setIssuer(issuer);
    const names = [
      { type: 2, value: name },
      { type: 6, value: `urn:service:sensor:${SENSOR_ID}` },
    ];
    certificate.setExtensions(
      isCa
        ? [{ name: 'basicConstraints', cA: true }]
        : [{ name: 'subjectAltName', altNames: names }],
    );
    certificate.sign(forgeSigner(keys.privateKey), forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  };
  const certPem = make(forgeKeyOf(keys), '', 10 * 86_400_000, true);
  const sign = (publicKey: forge.pki.rsa.PublicKey, name: string, ttlMs: number): string =>
    make(publicKey, name, ttlMs, false);
  return {
    certPem,
    sign,
    issue: (pair: KeyPair, name: string, ttlMs: number) => ({
      keyPem: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      certPem: sign(forgeKeyOf(pair), name, ttlMs),
    }),
  };
}
