// The certificate signing request, from whoever holds an enrollment token. What is accepted is read a second time by
// node-forge, which must find the same key, the same name and a signature that holds.
import { createHash, createPublicKey } from 'node:crypto';
import forge from 'node-forge';
import { CSR_MAX_BYTES, RSA_KEY_MAX_BITS, SENSOR_KEY_OLD_BITS } from '../../../machines/limits.ts';
import { checkCsr } from '../../../storage/keys/csr.ts';
import { fixture } from '../fixtures.ts';
import { mutatePem } from '../mutate-pem.ts';
import { demand, type FuzzTarget } from '../target.ts';

const NODE_NAME = 'node-1';
const DETAIL_MAX_CHARS = 200;
const FILES = [
  'rsa-sha256.csr.pem',
  'rsa-sha384.csr.pem',
  'rsa3072-sha512.csr.pem',
  'with-extension.csr.pem',
  'short-key.csr.pem',
  'elliptic.csr.pem',
];

const target: FuzzTarget = {
  name: 'csr',
  modules: ['storage/keys/csr.ts', 'storage/keys/der.ts'],
  form: 'text',
  dictionary: [
    '-----BEGIN CERTIFICATE REQUEST-----',
    '-----END CERTIFICATE REQUEST-----',
    '-----BEGIN NEW CERTIFICATE REQUEST-----',
    '=',
    '\r\n',
  ],
  seeds: () => [
    ...FILES.map((name) => Buffer.from(fixture(name))),
    Buffer.from(`${fixture('rsa-sha256.csr.pem')}${fixture('rsa-sha384.csr.pem')}`),
    Buffer.from(fixture('rsa-sha256.csr.pem').replaceAll('\n', '\r\n')),
    Buffer.from(
      `-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(40_000)}\n-----END CERTIFICATE REQUEST-----`,
    ),
    Buffer.from(`${' '.repeat(16_000)}-`),
  ],
  mutate: mutatePem,
  run(bytes, note) {
    const csrPem = bytes.toString();
    const result = checkCsr({ csrPem, nodeName: NODE_NAME, minBits: SENSOR_KEY_OLD_BITS });
    if (!result.ok) {
      demand(result.detail.length <= DETAIL_MAX_CHARS, 'a refusal is too large');
      return note(result.detail);
    }
    note('accepted');
    demand(Buffer.byteLength(csrPem) <= CSR_MAX_BYTES, 'an accepted request is too large');
    checkKey(result.publicKeySpki, result.keyDigest);
    checkAgain(csrPem, result.publicKeySpki);
  },
};
export default target;

function checkKey(spki: Buffer, digest: string): void {
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  demand(key.asymmetricKeyType === 'rsa', 'an accepted key is no RSA key');
  demand(bits >= SENSOR_KEY_OLD_BITS && bits <= RSA_KEY_MAX_BITS, 'an accepted key has other bits');
  demand(digest === createHash('sha256').update(spki).digest('hex'), 'the digest is another one');
}

function checkAgain(csrPem: string, spki: Buffer): void {
  // It takes an empty line among the text for the end of headers.
  const pem = csrPem.replaceAll(/[\r\n]+/g, '\n');
  const request = forge.pki.certificationRequestFromPem(pem, true);
  demand(request.verify(), 'an accepted signature does not hold');
  const names = request.subject.attributes.map(({ type, value }) => `${type}=${value}`).sort();
  const expected = ['2.5.4.10=Service Sensor', `2.5.4.3=${NODE_NAME}`];
  demand(names.join() === expected.join(), `an accepted subject is another one: ${names.join()}`);
  demand(request.publicKey !== null, 'an accepted request has no key');
  const asn1 = forge.pki.publicKeyToAsn1(request.publicKey as forge.pki.rsa.PublicKey);
  const der = Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'latin1');
  demand(der.equals(spki), 'another reader finds another key');
}
