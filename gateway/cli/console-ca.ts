// First contact with a Console that nothing is known of: its CA is taken from the handshake of a connection on which nothing
// else is sent, and counts only when a person carried its fingerprint over.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { COMMAND_TIMEOUT_MS } from '../../machines/limits.ts';
import { CommandFailure, EXIT } from './exit.ts';

const CHAIN_MAX = 8;

export type ConsoleCa = {
  readonly pem: string;
  /** SHA-256, upper-case pairs with colons. */
  readonly fingerprint: string;
};

/** The last certificate of the chain that is shown. Rejects with CommandFailure. */
export async function fetchConsoleCa(url: string): Promise<ConsoleCa> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    ...{ host, port: Number(port || 443), rejectUnauthorized: false },
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS) });
    const { raw } = lastOf(socket.getPeerCertificate(true));
    const certificate = new X509Certificate(raw);
    return { pem: certificate.toString(), fingerprint: certificate.fingerprint256 };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.unreachable, `${url} cannot be reached: ${why}`);
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

/** Whether two fingerprints are the same, however they are written. */
export function isSameFingerprint(one: string, other: string): boolean {
  const bare = (text: string) =>
    text
      .replace(/^sha256:/i, '')
      .replaceAll(':', '')
      .toLowerCase();
  return /^[0-9a-f]{64}$/.test(bare(one)) && bare(one) === bare(other);
}

function lastOf(leaf: DetailedPeerCertificate): DetailedPeerCertificate {
  let last = leaf;
  for (let at = 0; at < CHAIN_MAX; at += 1) {
    const { issuerCertificate: next } = last;
    if (next === undefined || next === last || next.raw === undefined) return last;
    last = next;
  }
  return last;
}
