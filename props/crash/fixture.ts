// Keys, certificates and events for the crash runs. The certificates are self-signed: only their key and SAN matter.
import { generateKeyPairSync } from 'node:crypto';
import type { RuntimeEvent } from '../../machines/wire/event.ts';

type Pair = { readonly keyPem: string; readonly certPem: string };
export type Fixture = {
  readonly sensorId: string;
  readonly caPem: string;
  readonly policyPubPem: string;
  readonly first: Pair;
  readonly second: Pair;
  readonly third: Pair;
};

export const SPOOL_SIZES = { eventsMax: 11, compactionMinBytes: 1_500 };
const SENSOR_ID = '11111111-2222-4333-8444-555555555555';

/** Makes three pairs; forge is loaded here only, because the killed process must start fast. */
export async function makeFixture(): Promise<Fixture> {
  const { default: forge } = await import('node-forge');
  const pair = (): Pair => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const key = forge.pki.privateKeyFromPem(keyPem);
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
    certificate.serialNumber = '01';
    certificate.validity.notAfter = new Date(Date.now() + 3_600_000);
    const subject = [{ name: 'commonName', value: 'node-1' }];
    certificate.setSubject(subject);
    certificate.setIssuer(subject);
    const altNames = [{ type: 6, value: `urn:service:sensor:${SENSOR_ID}` }];
    certificate.setExtensions([{ name: 'subjectAltName', altNames }]);
    certificate.sign(key, forge.md.sha256.create());
    return { keyPem, certPem: forge.pki.certificateToPem(certificate) };
  };
  const [first, second, third] = [pair(), pair(), pair()];
  const beside = { sensorId: SENSOR_ID, caPem: first.certPem, policyPubPem: 'policy key\n' };
  return { ...beside, first, second, third };
}

/** The event a number stands for. */
export function fixtureEvent(id: number): RuntimeEvent {
  return {
    event_id: String(id),
    schema_version: 1,
    observed_at: '2026-01-01T00:00:00Z',
    event_kind: 'process_exec',
    severity: 'info',
    message: 'x'.repeat(40),
  };
}
