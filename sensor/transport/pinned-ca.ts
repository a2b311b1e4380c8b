// First contact. A person carries the fingerprint of the Console's CA over; the CA itself comes over a connection that
// nothing else is sent on, and counts only when its fingerprint fits and the presented certificate descends from it.
import { X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { REQUEST_TIMEOUT_MS } from '../../machines/limits.ts';
import { createTlsAgent } from './agent.ts';
import { exchange } from './console-client.ts';
import { troubleSentence } from './trouble-sentence.ts';

export type PinnedCa =
  | { readonly ok: true; readonly caPem: string }
  | { readonly ok: false; readonly isReachable: boolean; readonly reason: string };

/** 64 hex digits, or null when the text is no SHA-256 fingerprint; colons, case and a `sha256:` prefix do not matter. */
export function parseFingerprint(text: string): string | null {
  const hex = text
    .replace(/^sha-?256[:=]/i, '')
    .replaceAll(/[:\s]/g, '')
    .toLowerCase();
  return /^[0-9a-f]{64}$/.test(hex) ? hex : null;
}

/** Fetches the CA with this fingerprint. Never rejects; sends no secret. */
export async function fetchPinnedCa(
  baseUrl: URL,
  fingerprint: string,
  proxyUrl: URL | null,
): Promise<PinnedCa> {
  const agent = createTlsAgent(
    { keyPem: null, certPem: null, caPem: null },
    { proxyUrl, isVerified: false },
  );
  let leaf: X509Certificate | undefined;
  agent.on('free', (socket: TLSSocket) => {
    leaf ??= socket.getPeerX509Certificate();
  });
  try {
    const answer = await exchange({
      url: new URL('/ca.pem', baseUrl),
      method: 'GET',
      body: null,
      agent,
      headers: {},
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
    if (!answer.ok) {
      const isReachable = answer.kind === 'refused';
      const reason = isReachable
        ? `what answers at ${baseUrl.host} is no Console (${answer.code}): check --url`
        : troubleSentence(answer.trouble, baseUrl, Date.now());
      return { ok: false, isReachable, reason };
    }
    leaf ??= proxyUrl === null ? await lookAtLeaf(baseUrl) : undefined;
    const shown = certificatesIn(answer.text ?? '');
    const ca = shown.find((one) => parseFingerprint(one.fingerprint256) === fingerprint);
    if (ca === undefined) {
      return {
        ok: false,
        isReachable: true,
        reason: otherCa(baseUrl, fingerprint, shown),
      };
    }
    if (leaf === undefined || !leaf.checkIssued(ca) || !leaf.verify(ca.publicKey)) {
      return {
        ok: false,
        isReachable: true,
        reason: "the Console's certificate was not issued by the pinned CA",
      };
    }
    return { ok: true, caPem: ca.toString() };
  } finally {
    agent.destroy();
  }
}

function otherCa(url: URL, named: string, shown: readonly X509Certificate[]): string {
  if (shown.length === 0) return `what answers at ${url.host} shows no CA: check --url`;
  const values = shown.map((one) => parseFingerprint(one.fingerprint256)).join(', ');
  return `the CA of ${url.host} is ${values}, and --ca-fingerprint names ${named}: compare with the Console itself`;
}

/** The certificates of a PEM text; what cannot be read is left out. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.slice(0, 16).flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

function lookAtLeaf(baseUrl: URL): Promise<X509Certificate | undefined> {
  return new Promise((resolve) => {
    const port = baseUrl.port === '' ? 443 : Number(baseUrl.port);
    const socket = connect({ host: baseUrl.hostname, port, rejectUnauthorized: false });
    socket.setTimeout(REQUEST_TIMEOUT_MS, () => socket.destroy());
    socket.on('secureConnect', () => {
      resolve(socket.getPeerX509Certificate());
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined)).on('close', () => resolve(undefined));
  });
}
