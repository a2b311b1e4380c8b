// The keys that a publisher signs with by itself, drawn from the seed.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { policyKeyOf } from '../../../actors/runtime/policy-keys.ts';
import type { Signer } from '../../crash/node-policies.fixture.ts';
import type { Random } from './random.ts';

const PKCS8_HEAD = '302e020100300506032b657004220420';
const SEED_BYTES = 32;

/** An Ed25519 key of these bytes. */
export function drawSigner(random: Random): Signer {
  const der = Buffer.concat([Buffer.from(PKCS8_HEAD, 'hex'), random.bytes(SEED_BYTES)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const pem = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString();
  return { privateKey, pem, id: policyKeyOf(pem)?.id ?? '' };
}
