// Keys and certificates of the world: texts in PEM armor that hold JSON instead of DER, made in a microsecond where RSA
// takes a hundred milliseconds. What they say is what real ones say; who may present them is judged by the same rules.
// A key is a random name, and knowing its text is possession.
import { createHash, hash } from 'node:crypto';
import type { SensorCertificates } from '../../../actors/trust/certificate-port.ts';
import { SENSOR_KEY_OLD_BITS } from '../../../machines/limits.ts';
import type { KeyWork } from '../../../sensor/state-directory/key-work.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';

export type CertificateText = {
  readonly issuer: string;
  readonly serial: string;
  readonly key: string;
  readonly nodeName: string;
  readonly sensorId: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

export const WORLD_CA = 'world-ca';

function armor(kind: string, value: object): string {
  const text = Buffer.from(JSON.stringify(value)).toString('base64');
  return `-----BEGIN ${kind}-----\n${text}\n-----END ${kind}-----\n`;
}

function unarmor(kind: string, text: string): Readonly<Record<string, unknown>> | null {
  const [head, tail] = [`-----BEGIN ${kind}-----\n`, `\n-----END ${kind}-----`];
  if (!text.startsWith(head)) return null;
  const end = text.indexOf(tail);
  if (end === -1) return null;
  try {
    return JSON.parse(Buffer.from(text.slice(head.length, end), 'base64').toString('utf8'));
  } catch {
    return null;
  }
}

/** The public half of a private key. */
function publicOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

const digestOf = (key: string): string => hash('sha256', `key ${key}`, 'hex');

/** What a certificate of this world says; null for other text. */
export function readCertificate(pem: string): CertificateText | null {
  return unarmor('CERTIFICATE', pem) as CertificateText | null;
}

/** Who made each certificate of a text that may hold several. */
export function issuersIn(pem: string): readonly string[] {
  const blocks = pem.split('-----END CERTIFICATE-----\n').slice(0, -1);
  return blocks.flatMap(
    (one) => readCertificate(`${one}-----END CERTIFICATE-----\n`)?.issuer ?? [],
  );
}

/** The certificates of roots. */
export function rootsPemOf(roots: readonly string[]): string {
  return roots.map((root) => armor('CERTIFICATE', { issuer: root, key: root })).join('');
}

/** The fingerprint the Console's edge computes of a certificate text. */
export function fingerprintOf(pem: string): string {
  const body = pem.split('\n')[1] ?? '';
  return createHash('sha256').update(Buffer.from(body, 'base64')).digest('hex');
}

/** Whether a private key is the one of a certificate. */
export function isPair(keyPem: string, certPem: string): boolean {
  const secret = unarmor('PRIVATE KEY', keyPem)?.['secret'];
  return typeof secret === 'string' && publicOf(secret) === readCertificate(certPem)?.key;
}

/** The Sensor's key work; every key costs the node some time. */
export function worldKeyWork(life: Life, random: Random): KeyWork {
  return {
    generateKeyPem: () =>
      life.call(
        'generate key',
        () => armor('PRIVATE KEY', { secret: random.bytes(16).toString('hex') }),
        random.between(20, 400),
      ),
    signingRequest: (nodeName, keyPem) =>
      life.call('sign request', () => {
        const secret = unarmor('PRIVATE KEY', keyPem)?.['secret'];
        if (typeof secret !== 'string') throw new Error('this is no key');
        return armor('CERTIFICATE REQUEST', { key: publicOf(secret), nodeName });
      }),
    keyDigest(keyPem) {
      const secret = unarmor('PRIVATE KEY', keyPem)?.['secret'];
      return typeof secret === 'string' ? digestOf(publicOf(secret)) : null;
    },
    certificateFacts(certPem) {
      const said = readCertificate(certPem);
      if (said === null) return null;
      return {
        keyDigest: digestOf(said.key),
        ...{ notBeforeMs: said.notBeforeMs, notAfterMs: said.notAfterMs },
        sensorId: said.sensorId,
      };
    },
  };
}

/** The Console's authority, as it was when the Console began: the root that signs comes first. */
export function worldCertificates(
  life: Life,
  random: Random,
  roots: readonly string[] = [WORLD_CA],
): SensorCertificates {
  return {
    rootsPem: rootsPemOf(roots),
    newSerial: () => random.bytes(16).toString('hex'),
    checkCsr({ csrPem, nodeName }) {
      const said = unarmor('CERTIFICATE REQUEST', csrPem);
      const key = said?.['key'];
      if (typeof key !== 'string' || said?.['nodeName'] !== nodeName) {
        return { ok: false, code: 'csr_refused', detail: 'the request does not fit' };
      }
      const publicKeySpki = Buffer.alloc(SENSOR_KEY_OLD_BITS / 8, key);
      keysOf.set(publicKeySpki, key);
      return { ok: true, publicKeySpki, keyDigest: digestOf(key) };
    },
    issueSensorCertificate: (request) =>
      life.call(
        'issue certificate',
        () => {
          const key = keysOf.get(request.publicKeySpki);
          if (key === undefined) throw new Error('a key of another world');
          const { nodeName, sensorId, notBeforeMs, notAfterMs, serial } = request;
          // Real certificates hold whole seconds.
          const dates = {
            notBeforeMs: Math.floor(notBeforeMs / 1_000) * 1_000,
            notAfterMs: Math.floor(notAfterMs / 1_000) * 1_000,
          };
          const pem = armor('CERTIFICATE', {
            issuer: roots[0] ?? WORLD_CA,
            serial,
            key,
            nodeName,
            sensorId,
            ...dates,
          } satisfies CertificateText);
          return { pem, serial, fingerprint: fingerprintOf(pem), ...dates };
        },
        random.between(1, 30),
      ),
  };
}

const keysOf = new WeakMap<Buffer, string>();
