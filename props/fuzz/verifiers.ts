// Every place of the product that judges an Ed25519 signature, called as the product calls it. What is signed has a form of
// its own in each, so a run hands over some bytes and each wraps them; `signatures.test.ts` proves that no other does.
// decision: D66
import { gzipSync } from 'node:zlib';
import { checkpointBytes, isSignedCheckpoint } from '../../actors/audit/audit-hash.ts';
import { verifyArchive } from '../../actors/hunting/investigation-archive.ts';
import { canonicalBytes, openEnvelope } from '../../actors/license/envelope-signature.ts';
import { isGenuineEd25519 } from '../../actors/runtime/ed25519.ts';
import { policyKeyOf, verifyRotation } from '../../actors/runtime/policy-keys.ts';
import { BROWSER_CRYPTO } from '../../gateway/web/audit/chain-crypto.ts';
import {
  ARCHIVE_FORMAT,
  MANIFEST,
  PUBLIC_KEY,
  SIGNATURE,
} from '../../machines/console/hunting/archive.rules.ts';
import { tarOf } from '../../machines/console/hunting/tar.ts';
import { rotationMessage } from '../../machines/policy/signing-keys.rules.ts';
import type { AuditCheckpoint } from '../../machines/trust/audit-trail.rules.ts';
import { policyMessage } from '../../machines/trust/policy-signature.rules.ts';
import { whyNotGenuine } from '../../sensor/engine/policy/signature.ts';

export type Verifier = {
  readonly name: string;
  /** Not by one of the others. */
  readonly judgesItself?: true;
  /** The bytes a signature by this key over this content is made over. */
  signedBytes(content: Buffer, key: Buffer): Buffer;
  takes(signature: Buffer, content: Buffer, key: Buffer): boolean | Promise<boolean>;
};

const NEW_KEY = pemOf(Buffer.alloc(32, 7));
const NAME = 'shells';

export const VERIFIERS: readonly Verifier[] = [
  {
    name: 'the one judge',
    judgesItself: true,
    signedBytes: (content) => content,
    takes: isGenuineEd25519,
  },
  {
    name: 'a checkpoint in the Console and the command line',
    signedBytes: (content) => checkpointBytes(checkpointOf(content)),
    takes: (signature, content, key) =>
      isSignedCheckpoint(signedCheckpoint(signature, content, key)),
  },
  {
    name: 'a checkpoint in a browser',
    judgesItself: true,
    signedBytes: (content) => checkpointBytes(checkpointOf(content)),
    takes: (signature, content, key) =>
      BROWSER_CRYPTO.isSigned(signedCheckpoint(signature, content, key)),
  },
  {
    name: 'the archive of an investigation',
    signedBytes: manifestOf,
    takes: async (signature, content, key) =>
      (await verifyArchive(archiveOf(signature, content, key))).ok,
  },
  {
    name: 'a license',
    signedBytes: (content) => Buffer.from(canonicalBytes(payloadOf(content)) ?? []),
    takes: (signature, content, key) =>
      openEnvelope(
        {
          ...{ schema_version: 1, signature_algorithm: 'ED25519', payload: payloadOf(content) },
          signature: signature.toString('base64'),
        },
        key,
      ).ok,
  },
  {
    name: 'the sidecar of a policy',
    signedBytes: (content) => Buffer.from(policyMessage(NAME, content)),
    takes: async (signature, content, key) =>
      (await whyNotGenuine({
        ...{ name: NAME, yaml: content, keyPem: pemOf(key) },
        sidecar: signature.toString('base64'),
      })) === undefined,
  },
  {
    name: 'the rotation of a key',
    signedBytes: (content, key) => Buffer.from(rotationMessage(statementOf('', content, key))),
    takes(signature, content, key) {
      const trusted = policyKeyOf(pemOf(key));
      const keys = trusted === null ? [] : [trusted];
      const statement = statementOf(signature.toString('base64'), content, key);
      return verifyRotation({ sequence: 0, keys, retired: [] }, statement).ok;
    },
  },
];

/** A key in PEM, whatever its bytes are. */
function pemOf(key: Buffer): string {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key]);
  return `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`;
}

function checkpointOf(content: Buffer) {
  return { sequence: 1, hash: content.toString('hex'), atMs: 0 };
}

function signedCheckpoint(signature: Buffer, content: Buffer, key: Buffer): AuditCheckpoint {
  const text = signature.toString('base64');
  return { ...checkpointOf(content), publicKeyPem: pemOf(key), signature: text };
}

function manifestOf(content: Buffer): Buffer {
  const texts = { investigation_id: '1', exported_at: '', exported_by: '' };
  const name = content.toString('hex');
  return Buffer.from(JSON.stringify({ format: ARCHIVE_FORMAT, name, ...texts, files: [] }));
}

function archiveOf(signature: Buffer, content: Buffer, key: Buffer): Buffer {
  const files = [
    { name: MANIFEST, content: manifestOf(content) },
    { name: SIGNATURE, content: signature },
    { name: PUBLIC_KEY, content: Buffer.from(pemOf(key)) },
  ];
  return gzipSync(tarOf('investigation-1', files, 0), { level: 1 });
}

function payloadOf(content: Buffer) {
  return {
    ...{
      customer_id: `c${content.toString('hex')}`,
      workspace_id: 'w',
      license_id: 'l',
      plan: 'p',
    },
    ...{ max_protected_nodes: 1, issued_at: '2026-01-01T00:00:00Z' },
    ...{ valid_from: '2026-01-01T00:00:00Z', valid_until: '2027-01-01T00:00:00Z' },
    grace_until: '2027-02-01T00:00:00Z',
  };
}

function statementOf(signature: string, content: Buffer, key: Buffer) {
  return {
    ...{ sequence: 1, new_key_pem: NEW_KEY, retired_key_ids: [content.toString('hex')] },
    ...{ by_key_id: policyKeyOf(pemOf(key))?.id ?? '', signature },
  };
}
