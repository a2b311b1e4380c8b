// The certificate signing request: a few DER structures written by hand, signed by node:crypto off the event loop.
// The subject is ASCII by the node name's pattern, so no text encoding can go wrong. decision: D11
import { createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { RSA_PUBLIC_EXPONENT, SENSOR_KEY_BITS } from '../../machines/limits.ts';
import { NODE_NAME_PATTERN } from '../../machines/wire/scalars.ts';

const ORGANIZATION = 'Service Sensor';
const OID_COMMON_NAME = Buffer.from('550403', 'hex');
const OID_ORGANIZATION = Buffer.from('55040a', 'hex');
const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');
const [SEQUENCE, SET, INTEGER, OID, UTF8, BIT_STRING, ATTRIBUTES] = [0x30, 0x31, 2, 6, 12, 3, 0xa0];
const makeKeyPair = promisify(generateKeyPair);

/** A new RSA key as PKCS #8 PEM. */
export async function generateKeyPem(): Promise<string> {
  const { privateKey } = await makeKeyPair('rsa', {
    modulusLength: SENSOR_KEY_BITS,
    publicExponent: RSA_PUBLIC_EXPONENT,
  });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A CSR for a key: CN = node name, O = Service Sensor. Rejects on a node name that does not fit its pattern. */
export async function buildSigningRequest(nodeName: string, key: KeyObject): Promise<string> {
  if (!new RegExp(NODE_NAME_PATTERN).test(nodeName)) throw new Error('the node name does not fit');
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const information = der(
    SEQUENCE,
    der(INTEGER, Buffer.from([0])),
    der(SEQUENCE, name(OID_COMMON_NAME, nodeName), name(OID_ORGANIZATION, ORGANIZATION)),
    publicKey,
    der(ATTRIBUTES),
  );
  const signature = await new Promise<Buffer>((resolve, reject) => {
    sign('sha256', information, key, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
  const request = der(
    SEQUENCE,
    information,
    SHA256_WITH_RSA,
    der(BIT_STRING, Buffer.from([0]), signature),
  );
  const lines = request.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}

function name(oid: Buffer, value: string): Buffer {
  return der(SET, der(SEQUENCE, der(OID, oid), der(UTF8, Buffer.from(value, 'ascii'))));
}

function der(tag: number | undefined, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag ?? 0, ...head]), content]);
}
