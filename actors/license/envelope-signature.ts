// The signature of a license: Ed25519 over the RFC 8785 canonical JSON of the payload, so that neither the order of
// fields nor white space is part of it. Nothing here trusts a payload before its signature was checked. decision: D32
import { ed25519 } from '@noble/curves/ed25519.js';
import canonicalize from 'canonicalize';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { LICENSE_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { factsOfLicense, type LicenseFacts } from '../../machines/trust/license.rules.ts';
import { LicenseEnvelope, type LicensePayload } from '../../machines/wire/license.ts';
import { parseJson, parserOfValue } from '../../machines/wire/parse.ts';
import { isGenuineEd25519 } from '../runtime/ed25519.ts';

const readEnvelope = parserOfValue(LicenseEnvelope);

export type OpenedLicense = {
  readonly ok: true;
  readonly facts: LicenseFacts;
  readonly envelope: LicenseEnvelope;
};

/** Signs a payload whose dates fit, or says what does not. `secretKey` is the 32-byte seed. */
export function signLicense(
  payload: LicensePayload,
  secretKey: Uint8Array,
): { readonly ok: true; readonly envelope: LicenseEnvelope } | Refusal {
  const read = factsOfLicense(payload);
  if (!read.ok) return read;
  const bytes = canonicalBytes(payload);
  if (bytes === null) return notUnicode();
  const signature = Buffer.from(ed25519.sign(bytes, secretKey)).toString('base64');
  const envelope = { schema_version: 1, signature_algorithm: 'ED25519', payload, signature };
  return { ok: true, envelope: envelope as LicenseEnvelope };
}

/** Opens an envelope that is already parsed JSON: its form, its signature, then its dates. Never throws. */
export function openEnvelope(value: unknown, publicKey: Uint8Array): OpenedLicense | Refusal {
  const parsed = readEnvelope(value);
  if (!parsed.ok) return parsed;
  const { payload, signature } = parsed.value;
  const bytes = canonicalBytes(payload);
  if (bytes === null) return notUnicode();
  if (!isGenuineEd25519(Buffer.from(signature, 'base64'), bytes, publicKey)) {
    return refuse('license_refused', 'The signature is not by the key this Console trusts.');
  }
  const read = factsOfLicense(payload);
  return read.ok ? { ok: true, facts: read.facts, envelope: parsed.value } : read;
}

/** The same for JSON text. */
export function openEnvelopeText(text: string, publicKey: Uint8Array): OpenedLicense | Refusal {
  if (Buffer.byteLength(text) > LICENSE_BODY_MAX_BYTES) {
    return refuse('body_too_large', `A license has at most ${LICENSE_BODY_MAX_BYTES} bytes.`);
  }
  const json = parseJson(text);
  return json.ok ? openEnvelope(json.value, publicKey) : json;
}

/** RFC 8785 bytes of a payload; null when it holds text that is no Unicode. */
export function canonicalBytes(payload: LicensePayload): Uint8Array | null {
  try {
    const text = canonicalize(payload);
    return text === undefined ? null : Buffer.from(text, 'utf8');
  } catch {
    return null;
  }
}

function notUnicode(): Refusal {
  return refuse('schema_violation', 'The license holds text that is no Unicode.');
}
