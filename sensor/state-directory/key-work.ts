// The work with private keys and certificates. It costs far more than anything else the Sensor does, so it stands behind
// a port: a simulated fleet of thousands brings keys that cost nothing.
import { createPrivateKey } from 'node:crypto';
import { buildSigningRequest, generateKeyPem } from '../transport/signing-request.ts';
import { type CertificateFactsOfPem, certificateFacts, keyDigest } from './pem-facts.ts';

export type KeyWork = {
  /** A new private key as PEM. */
  generateKeyPem(): Promise<string>;
  /** A signing request in the node's name for a key. Rejects on a key or a name that does not fit. */
  signingRequest(nodeName: string, keyPem: string): Promise<string>;
  /** The digest of a private key's public half; null for text that is no key. */
  keyDigest(keyPem: string): string | null;
  /** What a certificate says, without trusting it; null for text that is none. */
  certificateFacts(certPem: string): CertificateFactsOfPem | null;
};
/** What is asked of PEM text that is already there. */
export type PemReading = Pick<KeyWork, 'keyDigest' | 'certificateFacts'>;

/** RSA by node:crypto. */
export const rsaKeyWork: KeyWork = {
  generateKeyPem,
  signingRequest: async (nodeName, keyPem) =>
    buildSigningRequest(nodeName, createPrivateKey(keyPem)),
  keyDigest,
  certificateFacts,
};
