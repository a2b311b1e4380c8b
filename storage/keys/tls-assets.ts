// The listener's TLS material: files an operator supplies, or a server certificate of the Console's own authority.
// Two trust anchors must not be mixed up. `clientCaFile` is always the Console's own roots, since they sign sensors;
// `serverCaPem` is what sensors and browsers verify the server with, and that is the operator's CA when there is one.
import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVER_CERTIFICATE_TTL_MS } from '../../machines/limits.ts';
import type { CertificateAuthority } from './certificate-authority.ts';
import { ensurePrivateFolder, readIfPresent, writeFileDurably } from './key-files.ts';
import { fingerprintOf, isInsideValidity, isIssuedBy, keyPinOf, readCertificates } from './pem.ts';

const OID_SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CHAIN_LENGTH_MAX = 8;
const RENEW_BELOW_RATIO = 1 / 3;

export type TlsAssets = {
  readonly source: 'generated' | 'operator';
  readonly certFile: string;
  readonly keyFile: string;
  /** The roots of sensors' certificates, for the listener. */
  readonly clientCaFile: string;
  /** What verifies the server certificate; handed to sensors as their trust anchor. */
  readonly serverCaPem: string;
  readonly serverCaFingerprintSha256: string;
  /** Base64 of the SHA-256 of the server certificate's public key. */
  readonly serverKeyPin: string;
  readonly notAfterMs: number;
};
export type OperatorTls = {
  readonly certPath: string;
  readonly keyPath: string;
  readonly caPath: string;
};
export type TlsAssetsResult =
  | { readonly ok: true; readonly assets: TlsAssets; readonly renewed: boolean }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** Checks operator-supplied files (all mistakes at once), or keeps a generated certificate for the names fresh. */
export async function prepareTlsAssets(options: {
  readonly folder: string;
  readonly authority: CertificateAuthority;
  readonly names: readonly string[];
  readonly nowMs: number;
  readonly operator?: OperatorTls;
}): Promise<TlsAssetsResult> {
  if (options.operator) return checkOperatorAssets(options.operator, options);
  const certFile = join(options.folder, 'server.cert.pem');
  const keyFile = join(options.folder, 'server.key.pem');
  try {
    await ensurePrivateFolder(options.folder);
    const stored = await readStored(certFile, keyFile, options);
    let notAfterMs = stored?.validToDate.getTime();
    let leaf = stored;
    if (notAfterMs === undefined) {
      const made = await options.authority.issueServerCertificate(options.names, options.nowMs);
      await writeFileDurably(keyFile, made.keyPem);
      await writeFileDurably(certFile, made.pem, 'public');
      notAfterMs = made.notAfterMs;
      leaf = readCertificates(made.pem)[0];
    }
    if (leaf === undefined) throw new Error('the new server certificate cannot be read');
    const assets: TlsAssets = {
      source: 'generated',
      certFile,
      keyFile,
      clientCaFile: options.authority.rootsFile,
      serverCaPem: options.authority.rootsPem,
      serverCaFingerprintSha256: options.authority.rootFingerprint,
      serverKeyPin: keyPinOf(leaf),
      notAfterMs,
    };
    return { ok: true, assets, renewed: stored === undefined };
  } catch (error) {
    return { ok: false, mistakes: [`the server certificate cannot be prepared: ${why(error)}`] };
  }
}

/** Whether a generated server certificate has less than a third of its life left. */
export function isServerRenewalDue(assets: TlsAssets, nowMs: number): boolean {
  if (assets.source === 'operator') return false;
  return assets.notAfterMs - nowMs < SERVER_CERTIFICATE_TTL_MS * RENEW_BELOW_RATIO;
}

/** The stored certificate if it still serves: a pair, of the present root, for every name, with a third left. */
async function readStored(
  certFile: string,
  keyFile: string,
  wanted: { authority: CertificateAuthority; names: readonly string[]; nowMs: number },
): Promise<X509Certificate | undefined> {
  const [certPem, keyPem] = [await readIfPresent(certFile), await readIfPresent(keyFile)];
  if (certPem === undefined || keyPem === undefined) return undefined;
  try {
    const [certificate] = readCertificates(certPem);
    const [root] = readCertificates(wanted.authority.rootsPem);
    if (!certificate || !root || !certificate.checkPrivateKey(createPrivateKey(keyPem)))
      return undefined;
    const left = certificate.validToDate.getTime() - wanted.nowMs;
    const serves =
      isInsideValidity(certificate, wanted.nowMs) &&
      left >= SERVER_CERTIFICATE_TTL_MS * RENEW_BELOW_RATIO &&
      isIssuedBy(certificate, root) &&
      wanted.names.every((name) => certificate.checkHost(name) ?? certificate.checkIP(name));
    return serves ? certificate : undefined;
  } catch {
    // A generated certificate that cannot be read is made again; nothing hangs on the old one.
    return undefined;
  }
}

async function checkOperatorAssets(
  operator: OperatorTls,
  context: { readonly authority: CertificateAuthority; readonly nowMs: number },
): Promise<TlsAssetsResult> {
  const mistakes: string[] = [];
  const chain = await readChain(operator.certPath, 'server certificate', mistakes);
  const anchors = await readChain(operator.caPath, 'CA certificate', mistakes);
  const [leaf] = chain;
  await checkKey(operator.keyPath, leaf, mistakes);
  if (leaf) {
    if (!leaf.subjectAltName)
      mistakes.push(`${operator.certPath}: the certificate has no subject alternative name`);
    if (leaf.keyUsage !== undefined && !leaf.keyUsage.includes(OID_SERVER_AUTH))
      mistakes.push(`${operator.certPath}: the certificate is not for server authentication`);
    if (!isInsideValidity(leaf, context.nowMs))
      mistakes.push(
        `${operator.certPath}: valid from ${leaf.validFrom} to ${leaf.validTo}, not now`,
      );
  }
  const anchor = leaf && findAnchor(chain, anchors, context.nowMs);
  if (leaf && anchors.length > 0 && !anchor)
    mistakes.push(`${operator.certPath}: the chain does not lead to a CA of ${operator.caPath}`);
  if (mistakes.length > 0 || !leaf || !anchor) return { ok: false, mistakes };
  const assets: TlsAssets = {
    source: 'operator',
    certFile: operator.certPath,
    keyFile: operator.keyPath,
    clientCaFile: context.authority.rootsFile,
    serverCaPem: anchors.map((each) => each.toString()).join(''),
    serverCaFingerprintSha256: fingerprintOf(anchor),
    serverKeyPin: keyPinOf(leaf),
    notAfterMs: leaf.validToDate.getTime(),
  };
  return { ok: true, assets, renewed: false };
}

async function readChain(
  file: string,
  what: string,
  mistakes: string[],
): Promise<readonly X509Certificate[]> {
  try {
    const certificates = readCertificates(await readFile(file, 'utf8'));
    if (certificates.length === 0) mistakes.push(`${file}: no ${what} in it`);
    return certificates;
  } catch (error) {
    mistakes.push(`${file}: the ${what} cannot be read: ${why(error)}`);
    return [];
  }
}

async function checkKey(
  file: string,
  leaf: X509Certificate | undefined,
  mistakes: string[],
): Promise<void> {
  try {
    const key = createPrivateKey(await readFile(file, 'utf8'));
    if (leaf && !leaf.checkPrivateKey(key))
      mistakes.push(`${file}: the key does not belong to the server certificate`);
  } catch (error) {
    mistakes.push(`${file}: the server key cannot be read: ${why(error)}`);
  }
}

/** Climbs from the leaf through the supplied intermediates to an anchor; bounded, every step signed and valid now. */
function findAnchor(
  chain: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  nowMs: number,
): X509Certificate | undefined {
  let [current] = chain;
  for (let depth = 0; current && depth < CHAIN_LENGTH_MAX; depth += 1) {
    const child: X509Certificate = current;
    const parents = (list: readonly X509Certificate[]) =>
      list.find((issuer) => isInsideValidity(issuer, nowMs) && isIssuedBy(child, issuer));
    const anchor = parents(anchors);
    if (anchor) return anchor;
    current = parents(chain.filter((other) => other !== child));
  }
  return undefined;
}

function why(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
