// The one TLS port. A client certificate is asked for and not demanded: browsers have none, sensors are told apart per
// route. Without a CA file uWebSockets.js asks nobody and says nothing, so a missing one refuses to start.
// A swap of certificates happens in process: a new app binds the same port before the old one lets go of it, and the
// old app keeps its connections until they end. decision: D2
// The port is bound with SO_REUSEPORT, which a swap needs; uWebSockets.js' exclusive mode leaves out SO_REUSEADDR, so a
// restart would fail on connections in TIME_WAIT. A probe without SO_REUSEPORT therefore proves first that it is free.

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { DRAINING_LISTENERS_MAX } from '../../machines/limits.ts';
import { type Routed, routedWithDoors } from './let-go.ts';
import { localPortOf, type Uws } from './unsafe-uws.ts';

/** Of TLS 1.2 only what is authenticated encryption with forward secrecy; TLS 1.3 has nothing else. */
const TLS12_CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/;

export type ListenerTls = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
};
export type ListenerOptions = {
  readonly uws: Uws;
  readonly tls: ListenerTls;
  /** Puts the routes on an app; called for the first and for every swapped one. */
  readonly attach: (app: Routed) => void;
};
export type ListenResult =
  | { readonly ok: true; readonly port: number }
  | { readonly ok: false; readonly reason: string };

export type Listener = {
  /** Binds the port; a port in use is a refusal, never shared. `port` 0 takes a free one. */
  listen(host: string, port: number): Promise<ListenResult>;
  /** New connections get the new certificate, old ones live on; when it fails the old listener stays. */
  swap(tls: ListenerTls): ListenResult;
  /** Takes no new connection and leaves the open ones. */
  stopAccepting(): void;
  /** Ends everything, open connections too. */
  close(): void;
};
export type CreateListenerResult =
  | { readonly ok: true; readonly listener: Listener }
  | { readonly ok: false; readonly reason: string };

/** `close` ends every connection too, and lets go of what its routes lead to. */
type Built = { readonly app: TemplatedApp; close(): void };
type Place = { readonly host: string; readonly port: number };

/** Builds the listener without binding it; refuses TLS material that would leave it open or dead. invariant: I14 */
export function createListener(options: ListenerOptions): CreateListenerResult {
  const first = buildApp(options, options.tls);
  if (!first.ok) return first;
  let app = first.built;
  let place: Place | undefined;
  let socket: us_listen_socket | undefined;
  const draining: Built[] = [];

  const bind = ({ app: on }: Built, at: Place): us_listen_socket | undefined => {
    let bound: us_listen_socket | undefined;
    on.listen(at.host, at.port, (opened) => {
      if (opened) bound = opened;
    });
    return bound;
  };
  const release = (): void => {
    if (socket) options.uws.us_listen_socket_close(socket);
    socket = undefined;
  };

  const listener: Listener = {
    async listen(host, port) {
      if (place) throw new Error('the listener is bound already');
      const free = await probePort(host, port);
      if (!free.ok) return free;
      socket = bind(app, { host, port: free.port });
      if (!socket) return refused(`port ${free.port} on ${host} cannot be bound`);
      place = { host, port: localPortOf(options.uws, socket) };
      return { ok: true, port: place.port };
    },
    swap(tls) {
      if (!socket || !place) throw new Error('only a bound listener can be swapped');
      const next = buildApp(options, tls);
      if (!next.ok) return next;
      const taken = bind(next.built, place);
      if (!taken) {
        next.built.close();
        return refused(`port ${place.port} could not be taken over`);
      }
      release();
      socket = taken;
      draining.push(app);
      app = next.built;
      if (draining.length > DRAINING_LISTENERS_MAX) draining.shift()?.close();
      return { ok: true, port: place.port };
    },
    stopAccepting: release,
    close() {
      release();
      for (const old of draining.splice(0)) old.close();
      app.close();
    },
  };
  return { ok: true, listener };
}

/** Binds and frees the port without SO_REUSEPORT: fails when anybody listens on it. Port 0 finds a free one. */
export function probePort(host: string, port: number): Promise<ListenResult> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) =>
      resolve(refused(`port ${port} on ${host} cannot be bound: ${error.message}`)),
    );
    probe.listen({ host, port, exclusive: true }, () => {
      const address = probe.address();
      const found = typeof address === 'object' && address ? address.port : port;
      probe.close(() => resolve({ ok: true, port: found }));
    });
  });
}

function buildApp(
  options: ListenerOptions,
  tls: ListenerTls,
): { readonly ok: true; readonly built: Built } | { readonly ok: false; readonly reason: string } {
  try {
    const [block] = CERTIFICATE.exec(readFileSync(tls.clientCaFile, 'utf8')) ?? [];
    if (!block) return refused(`${tls.clientCaFile} holds no certificate; nobody would be asked`);
    if (!new X509Certificate(block).ca) return refused(`${tls.clientCaFile} does not hold a CA`);
    const app = options.uws.SSLApp({
      cert_file_name: tls.certFile,
      key_file_name: tls.keyFile,
      ca_file_name: tls.clientCaFile,
      ssl_ciphers: TLS12_CIPHERS,
    });
    const { routed, letGo } = routedWithDoors(app);
    options.attach(routed);
    const close = (): void => {
      app.close();
      letGo();
    };
    return { ok: true, built: { app, close } };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused(`the listener cannot be built from ${tls.certFile}: ${why}`);
  }
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
