// Dialling: a name is looked up, a connection is made, and both sides judge certificates, each by its own clock. What a
// real handshake can end with, this one can: nobody listens, no answer in time, an alert about a certificate whose dates
// do not hold (which the close behind it may hide), a Console that the Sensor does not trust yet because its own clock is behind.

import type { TlsIdentity } from '../../../sensor/transport/agent.ts';
import type { Trouble } from '../../../sensor/transport/trouble.ts';
import { isPair, issuersIn, readCertificate } from './certificates.ts';
import type { HostClock } from './clocks.ts';
import type { Edge } from './edge.ts';
import type { Life } from './life.ts';
import type { Connection, Network } from './network.ts';
import type { Random } from './random.ts';

export type Listening = {
  readonly console: string;
  readonly edge: Edge;
  readonly life: Life;
  readonly clock: HostClock;
  /** What sensors' certificates may hang on; the first one made the server certificate. */
  readonly roots: readonly string[];
  /** The dates of the server certificate. */
  readonly certificate: { readonly notBeforeMs: number; readonly notAfterMs: number };
};
export type Listeners = {
  /** Consoles behind a host name, in the order a balancer would try them. */
  find(hostName: string): readonly Listening[];
  add(hostName: string, listening: Listening): () => void;
};

/** The name service and balancer of the world. */
export function createListeners(): Listeners {
  const byName = new Map<string, Set<Listening>>();
  return {
    find: (hostName) => [...(byName.get(hostName) ?? [])].filter((one) => one.life.isAlive()),
    add(hostName, listening) {
      const group = byName.get(hostName) ?? new Set();
      byName.set(hostName, group.add(listening));
      return () => void group.delete(listening);
    },
  };
}

export type Dialled =
  | { readonly ok: true; readonly connection: Connection; readonly at: Listening }
  | { readonly ok: false; readonly trouble: Trouble };

export type Dialler = {
  readonly node: string;
  readonly life: Life;
  readonly clock: HostClock;
  readonly network: Network;
  readonly listeners: Listeners;
  readonly random: Random;
};

/** Share of alerts that are lost because the close behind them arrives first. */
const ALERT_HIDDEN = 0.3;

/** For one that does not know the Console yet, and compares what it is shown with what it was told. */
export const ANY_ROOT = 'any root';

/** Makes a connection under an identity. Settles when it is made or refused; whoever asked keeps the deadline. */
export function dial(from: Dialler, url: URL, identity: TlsIdentity): Promise<Dialled> {
  const { network, node, life } = from;
  const name = url.hostname;
  return new Promise((resolve) => {
    const fail = (trouble: Trouble): void => {
      life.hear(() => resolve({ ok: false, trouble }));
    };
    // A name is answered by a service near the node, which a cut does not touch.
    if (from.listeners.find(name).length === 0) {
      life.after(network.travelMs(node), () => {
        fail({ kind: 'connection_refused', detail: 'ECONNREFUSED: nobody listens' });
      });
      return;
    }
    const greet = (): void => {
      const [at] = balance(from, name);
      if (at === undefined) {
        fail({ kind: 'connection_refused', detail: 'ECONNREFUSED: nobody listens' });
        return;
      }
      // The balancer chose one that this node cannot reach: it waits, and whoever asked keeps the deadline.
      // Its kernel takes the connection of a Console that is paused, and nobody greets back until it goes on.
      const shake = (): void => at.life.hear(() => life.hear(() => meet(at)));
      network.whenPassable(node, 'client', shake, at.console);
    };
    const meet = (at: Listening): void => {
      if (!at.life.isAlive()) {
        fail({ kind: 'connection_lost', detail: 'ECONNRESET' });
        return;
      }
      const trouble = judge(from, at, identity);
      if (trouble !== null) fail(trouble);
      else {
        const hearing = { client: life, server: at.life };
        resolve({ ok: true, connection: network.connect(node, at.console, hearing), at });
      }
    };
    // Two ways there and back: TCP, then TLS.
    life.after(4 * network.travelMs(node), () => {
      network.whenPassable(node, 'client', () =>
        network.whenPassable(node, 'server', () => life.after(0, greet)),
      );
    });
  });
}

function balance(from: Dialler, name: string): readonly Listening[] {
  const found = from.listeners.find(name);
  if (found.length < 2) return found;
  const first = from.random.pick(found);
  return [first, ...found.filter((one) => one !== first)];
}

function judge(from: Dialler, at: Listening, identity: TlsIdentity): Trouble | null {
  const nodeNowMs = from.clock.wallNow();
  const [serving = ''] = at.roots;
  const isKnown = identity.caPem === ANY_ROOT || issuersIn(identity.caPem ?? '').includes(serving);
  if (!isKnown) {
    return { kind: 'console_not_trusted', detail: 'SELF_SIGNED_CERT_IN_CHAIN' };
  }
  const { notBeforeMs, notAfterMs } = at.certificate;
  if (nodeNowMs < notBeforeMs || nodeNowMs > notAfterMs) {
    return { kind: 'console_not_trusted', detail: 'CERT_NOT_YET_VALID or CERT_HAS_EXPIRED' };
  }
  if (identity.certPem === null || identity.keyPem === null) return null;
  const shown = readCertificate(identity.certPem);
  const isSigned = shown !== null && at.roots.includes(shown.issuer);
  if (!isSigned || !isPair(identity.keyPem, identity.certPem)) {
    return { kind: 'certificate_refused', detail: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' };
  }
  const consoleNowMs = at.clock.wallNow();
  if (consoleNowMs >= shown.notBeforeMs && consoleNowMs <= shown.notAfterMs) return null;
  if (from.random.chance(ALERT_HIDDEN)) return { kind: 'connection_lost', detail: 'ECONNRESET' };
  // The real listener has one alert for both sides of the dates (`props/peers/expired-certificate.test.ts`).
  return { kind: 'certificate_expired', detail: 'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED' };
}
