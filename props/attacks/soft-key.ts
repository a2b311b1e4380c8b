// A security key made of software: makes key pairs on P-256, counts, signs what it is asked, and lies where an attack wants
// it to. It and the browser around it are on the side of whoever attacks.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

export type SoftKey = ReturnType<typeof createSoftKey>;
export type Lies = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly counter?: number;
  readonly isAbsent?: boolean;
  /** Asked in a frame of somebody else's page, as browsers tell it. */
  readonly framedBy?: string;
  readonly format?: string;
  readonly statement?: ReadonlyMap<string, unknown>;
};

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

/** Makes a key that answers for one name and origin. */
export function createSoftKey(at: { readonly rpId: string; readonly origin: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let counter = 0;

  function clientData(type: string, challenge: string, lies: Lies): Buffer {
    const told = { type: lies.type ?? type, challenge: lies.challenge ?? challenge };
    const { framedBy: topOrigin } = lies;
    const framed = topOrigin === undefined ? {} : { crossOrigin: true, topOrigin };
    return Buffer.from(JSON.stringify({ ...told, origin: lies.origin ?? at.origin, ...framed }));
  }
  function head(flags: number, lies: Lies): Buffer {
    const count = Buffer.alloc(4);
    counter += 1;
    count.writeUInt32BE(lies.counter ?? counter);
    const present = lies.isAbsent === true ? flags & ~1 : flags;
    return Buffer.concat([sha256(lies.rpId ?? at.rpId), Buffer.from([present]), count]);
  }
  const whole = (response: Record<string, unknown>) => ({
    ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
    response,
  });
  return {
    id,
    /** Answers what a new key is asked. */
    make(challenge: string, lies: Lies = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const cose = Buffer.from(isoCBOR.encode(coseOf(publicKey) as never));
      const authData = Buffer.concat([
        ...[head(0x41, lies), Buffer.alloc(16), length, credentialId, cose],
      ]);
      const attestation = new Map<string, unknown>([
        ['fmt', lies.format ?? 'none'],
        ['attStmt', lies.statement ?? new Map()],
        ['authData', new Uint8Array(authData)],
      ]);
      return whole({
        clientDataJSON: clientData('webauthn.create', challenge, lies).toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
        transports: ['usb', 'a lie'],
      });
    },
    /** Answers what keys are asked. */
    use(challenge: string, lies: Lies = {}) {
      const [data, client] = [head(0x01, lies), clientData('webauthn.get', challenge, lies)];
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return whole({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      });
    },
  };
}

function coseOf(publicKey: KeyObject): Map<number, number | Uint8Array> {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return new Map<number, number | Uint8Array>([
    ...([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ] as const),
  ]);
}
