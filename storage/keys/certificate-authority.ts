// The Console's own certificate authority: one RSA root made at first start, which signs the server certificate and
// every sensor's certificate. decision: D11
// The key is written first, then the certificate. A key without a certificate is a crash between the two: the
// certificate is made again for that key. Any other disorder refuses to start; a key is never overwritten, since every
// enrolled sensor hangs on it. invariant: I7, I13
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  type X509Certificate,
} from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CERTIFICATE_BACKDATE_MS,
  ROOT_CERTIFICATE_TTL_MS,
  RSA_PUBLIC_EXPONENT,
  RSA_ROOT_KEY_BITS,
  SERVER_CERTIFICATE_TTL_MS,
} from '../../machines/limits.ts';
import { type AlternativeName, buildCertificate } from './certificate-builder.ts';
import { ensurePrivateFolder, keepPrivate, readIfPresent, writeFileDurably } from './key-files.ts';
import { fingerprintOf, isInsideValidity, readCertificates } from './pem.ts';

const ORGANIZATION = 'Service Console';
const SENSOR_ORGANIZATION = 'Service Sensor';
const SERIAL_BYTES = 16;
const makeKeyPair = promisify(generateKeyPair);

export type IssuedCertificate = {
  readonly pem: string;
  readonly serial: string;
  readonly fingerprint: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};
export type SensorCertificateRequest = {
  readonly publicKeySpki: Buffer;
  readonly nodeName: string;
  readonly sensorId: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly serial: string;
};
export type ServerCertificate = IssuedCertificate & { readonly keyPem: string };

export type CertificateAuthority = {
  /** Every root that sensors' certificates may hang on, the signing one first. */
  readonly rootsPem: string;
  readonly rootFingerprint: string;
  /** The same roots as a file, for the listener. */
  readonly rootsFile: string;
  /** Signs a new P-256 server key for the given host names and addresses. */
  issueServerCertificate(names: readonly string[], nowMs: number): Promise<ServerCertificate>;
  /** Signs a sensor's key; every field but the key is chosen here. */
  issueSensorCertificate(request: SensorCertificateRequest): Promise<IssuedCertificate>;
};
export type OpenAuthorityResult =
  | { readonly ok: true; readonly authority: CertificateAuthority; readonly created: boolean }
  | { readonly ok: false; readonly reason: string };

/** A fresh random serial: positive and never shorter than 16 bytes. */
export function newSerial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) % 0x70) + 0x10;
  return bytes.toString('hex');
}

/** Opens the authority kept in a folder, and makes it at first start. */
export async function openCertificateAuthority(options: {
  readonly folder: string;
  readonly nowMs: number;
}): Promise<OpenAuthorityResult> {
  const keyFile = join(options.folder, 'console-ca.key.pem');
  const rootsFile = join(options.folder, 'console-ca.cert.pem');
  try {
    await ensurePrivateFolder(options.folder);
    const storedRoots = await readIfPresent(rootsFile);
    const storedKey = await readIfPresent(keyFile);
    if (storedKey === undefined && storedRoots !== undefined)
      return refused(`${keyFile} is missing while ${rootsFile} exists; restore it from a backup`);
    const keyPem = storedKey ?? (await makeRootKey(keyFile));
    await keepPrivate(keyFile);
    const key = readKey(keyPem);
    if (!key) return refused(`${keyFile} does not hold a usable RSA private key`);
    const rootsPem =
      storedRoots ?? (await makeRoot({ file: rootsFile, key, nowMs: options.nowMs }));
    const roots = readCertificates(rootsPem);
    const root = roots.find((candidate) => candidate.checkPrivateKey(key));
    if (!root?.ca) return refused(`${rootsFile} holds no root certificate of ${keyFile}`);
    if (!isInsideValidity(root, options.nowMs))
      return refused(`the root certificate in ${rootsFile} is not valid now`);
    const ordered = [root, ...roots.filter((other) => other !== root)];
    const authority = createAuthority({ key, roots: ordered, root, rootsFile });
    return { ok: true, authority, created: storedKey === undefined };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused(`the certificate authority in ${options.folder} cannot be opened: ${why}`);
  }
}

function createAuthority(parts: {
  key: KeyObject;
  root: X509Certificate;
  roots: readonly X509Certificate[];
  rootsFile: string;
}): CertificateAuthority {
  const issuer = { privateKey: parts.key, certificate: parts.root };
  return {
    rootsPem: parts.roots.map((root) => root.toString()).join(''),
    rootFingerprint: fingerprintOf(parts.root),
    rootsFile: parts.rootsFile,
    async issueServerCertificate(names, nowMs) {
      const pair = await makeKeyPair('ec', { namedCurve: 'P-256' });
      const certificate = await buildCertificate(
        {
          purpose: 'server',
          serial: newSerial(),
          commonName: 'Service Console',
          organization: ORGANIZATION,
          publicKeySpki: pair.publicKey.export({ format: 'der', type: 'spki' }),
          alternativeNames: names.map((value): AlternativeName => ({ kind: 'host', value })),
          notBeforeMs: nowMs - CERTIFICATE_BACKDATE_MS,
          notAfterMs: nowMs + SERVER_CERTIFICATE_TTL_MS,
        },
        issuer,
      );
      const keyPem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      return { ...describe(certificate), keyPem };
    },
    async issueSensorCertificate(request) {
      const certificate = await buildCertificate(
        {
          purpose: 'client',
          serial: request.serial,
          commonName: request.nodeName,
          organization: SENSOR_ORGANIZATION,
          publicKeySpki: request.publicKeySpki,
          alternativeNames: [{ kind: 'uri', value: `urn:service:sensor:${request.sensorId}` }],
          notBeforeMs: request.notBeforeMs,
          notAfterMs: request.notAfterMs,
        },
        issuer,
      );
      return describe(certificate);
    },
  };
}

/** Makes the key of a root and keeps it; its PEM. */
export async function makeRootKey(file: string): Promise<string> {
  const pair = await makeKeyPair('rsa', {
    modulusLength: RSA_ROOT_KEY_BITS,
    publicExponent: RSA_PUBLIC_EXPONENT,
  });
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await writeFileDurably(file, pem);
  return pem;
}

async function makeRoot(made: { file: string; key: KeyObject; nowMs: number }): Promise<string> {
  const root = await makeRootCertificate({ ...made, commonName: 'Service Console Root' });
  await writeFileDurably(made.file, root.toString(), 'public');
  return root.toString();
}

/** The certificate of a root, signed by itself. */
export function makeRootCertificate(made: {
  readonly key: KeyObject;
  readonly nowMs: number;
  readonly commonName: string;
}): Promise<X509Certificate> {
  return buildCertificate(
    {
      purpose: 'authority',
      serial: newSerial(),
      commonName: made.commonName,
      organization: ORGANIZATION,
      publicKeySpki: createPublicKey(made.key).export({ format: 'der', type: 'spki' }),
      alternativeNames: [],
      notBeforeMs: made.nowMs - CERTIFICATE_BACKDATE_MS,
      notAfterMs: made.nowMs + ROOT_CERTIFICATE_TTL_MS,
    },
    { privateKey: made.key },
  );
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}

function describe(certificate: X509Certificate): IssuedCertificate {
  return {
    pem: certificate.toString(),
    serial: certificate.serialNumber.toLowerCase(),
    fingerprint: fingerprintOf(certificate),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
  };
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
