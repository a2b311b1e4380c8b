// Which CA a Console is trusted by, when it is spoken to for the first time: the system's roots when they do, else the
// Console's own CA, whose fingerprint somebody compares once with the one the Console shows. decision: D17, D43
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { CommandIo } from './command-run.ts';
import { CommandFailure, EXIT } from './exit.ts';

const CA_MAX_BYTES = 64 * 1_024;

export type FirstTrust = {
  readonly url: string;
  readonly timeoutMs: number;
  /** Known already from an earlier login. */
  readonly known: string | null;
  readonly caFile?: string | undefined;
  readonly caFingerprint?: string | undefined;
};

/** The CA to pin; null: the system's roots. */
export async function trustedCa(io: CommandIo, asked: FirstTrust): Promise<string | null> {
  const { url, caFile, caFingerprint, known } = asked;
  if (caFile !== undefined) return readCa(caFile);
  if (caFingerprint === undefined && known !== null) return known;
  if (caFingerprint === undefined && (await isTrustedBySystem(asked))) return null;
  const pem = await fetchCa(asked);
  const shown = new X509Certificate(pem).fingerprint256;
  if (caFingerprint !== undefined) {
    if (bare(caFingerprint) === bare(shown)) return pem;
    const what = `the CA of ${url} has the fingerprint ${shown}, which is not the one you gave`;
    throw new CommandFailure(EXIT.unreachable, what);
  }
  if (!io.terminal.isInteractive) {
    const next = 'compare it with the one the Console prints, then add --ca-fingerprint';
    throw new CommandFailure(EXIT.unreachable, `nobody vouches for ${url}: ${shown}`, next);
  }
  io.terminal.talk(`${url} has a CA of its own, with the SHA-256 fingerprint`);
  io.terminal.talk(`  ${shown}`);
  const answer = await io.ask('Is it the one that the Console prints at its start? Type yes: ');
  if (answer.trim() === 'yes') return pem;
  throw new CommandFailure(EXIT.usage, 'the Console is not trusted; nothing was sent');
}

function readCa(file: string): string {
  let pem = '';
  try {
    pem = readFileSync(file, 'utf8');
  } catch {
    // What cannot be read is no certificate either.
  }
  if (isCertificate(pem)) return pem;
  throw new CommandFailure(EXIT.usage, `${file} is not a CA certificate in PEM`);
}

/** Whether the roots of this machine vouch for the Console; nothing is sent to find out. */
async function isTrustedBySystem({ url, timeoutMs }: FirstTrust): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    ...{ host, port: Number(port || 443), rejectUnauthorized: false },
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    return socket.authorized;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.unreachable, `${url} cannot be reached (${why})`);
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

/**
 * The CA as the Console tells it, not proven by anything: whoever calls compares its fingerprint before anything else is
 * sent. The handshake shows the server's own certificate only.
 */
function fetchCa({ url, timeoutMs }: FirstTrust): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(new CommandFailure(EXIT.unreachable, `the CA of ${url} cannot be read (${why})`));
    const outgoing = request(
      `${url}/ca.pem`,
      { rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.length > CA_MAX_BYTES) outgoing.destroy(new Error('too big'));
        });
        incoming.on('error', (error) => fail(error.message));
        incoming.on('end', () => (isCertificate(text) ? resolve(text) : fail('no certificate')));
      },
    );
    outgoing.on('error', (error) => fail(error.message));
    outgoing.end();
  });
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

/** A fingerprint without the ways of writing it. */
function bare(fingerprint: string): string {
  return fingerprint.replaceAll(/[:\s]/g, '').toLowerCase();
}
