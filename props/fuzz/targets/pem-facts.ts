// The PEM files of the Sensor's state directory and the certificates the Console sends: what is read from them is
// whole and finite, because it is written down and shown as it stands.
import { UNREADABLE } from '../../../machines/sensor/identity-files.rules.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { certificateFacts, keyDigest } from '../../../sensor/state-directory/pem-facts.ts';
import { certificatesIn } from '../../../sensor/transport/pinned-ca.ts';
import { fitsSchema } from '../fits-schema.ts';
import { fixture } from '../fixtures.ts';
import { mutatePem } from '../mutate-pem.ts';
import { demand, type FuzzTarget } from '../target.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const CERTIFICATES_MAX = 16;

const target: FuzzTarget = {
  name: 'pem-facts',
  modules: ['sensor/state-directory/pem-facts.ts', 'sensor/transport/pinned-ca.ts'],
  form: 'text',
  dictionary: [
    '-----BEGIN CERTIFICATE-----',
    '-----END CERTIFICATE-----',
    'URI:urn:service:sensor:',
  ],
  seeds: () => [
    ...['sensor.cert.pem', 'elliptic.cert.pem', 'public-key.pem', 'rsa-sha256.csr.pem'].map(
      (name) => Buffer.from(fixture(name)),
    ),
    Buffer.from(fixture('sensor.cert.pem').repeat(20)),
    Buffer.from(
      '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n',
    ),
  ],
  mutate: mutatePem,
  run(bytes, note) {
    const text = bytes.toString();
    const digest = keyDigest(text);
    demand(digest === null || DIGEST.test(digest), 'a digest of a key is none');
    demand(digest !== UNREADABLE, 'a digest looks like none');
    note(digest === null ? 'no key' : 'a key');
    demand(certificatesIn(text).length <= CERTIFICATES_MAX, 'there are too many certificates');
    const facts = certificateFacts(text);
    if (facts === null) return note('no certificate');
    note(facts.sensorId === null ? 'a certificate' : 'a sensor');
    demand(DIGEST.test(facts.keyDigest), 'a digest of a certificate is none');
    demand(Number.isFinite(facts.notBeforeMs), 'a certificate begins at no instant');
    demand(Number.isFinite(facts.notAfterMs), 'a certificate ends at no instant');
    // The instant is written to sensor-state.json as text.
    demand(!Number.isNaN(Date.parse(new Date(facts.notAfterMs).toISOString())), 'no text of it');
    demand(
      facts.sensorId === null || fitsSchema(facts.sensorId, Uuid),
      'a certificate names no sensor by its identifier',
    );
  },
};
export default target;
