// Somebody who issues licenses: a key of its own, and envelopes as a test wants them.
import { ed25519 } from '@noble/curves/ed25519.js';
import { signLicense } from '../../actors/license/envelope-signature.ts';
import type { LicenseAnchor } from '../../actors/license/license-service.ts';
import type { LicenseEnvelope, LicensePayload } from '../../machines/wire/license.ts';

const DAY_MS = 86_400_000;
const at = (ms: number) => new Date(ms).toISOString();

/** A payload that began a day before an instant, is valid for 30 days after it and has 30 days of grace. */
export function licensePayload(nowMs: number, more: Partial<LicensePayload> = {}): LicensePayload {
  return {
    customer_id: 'customer',
    workspace_id: 'workspace',
    license_id: 'license-1',
    plan: 'fleet',
    max_protected_nodes: 1,
    valid_from: at(nowMs - DAY_MS),
    valid_until: at(nowMs + 30 * DAY_MS),
    grace_until: at(nowMs + 60 * DAY_MS),
    issued_at: at(nowMs - DAY_MS),
    ...more,
  };
}

/** An issuer with a key of its own. */
export function createIssuer() {
  const { secretKey, publicKey } = ed25519.keygen();
  const anchor: LicenseAnchor = { source: 'evaluation', publicKey };
  return {
    anchor,
    secretKey,
    publicKey,
    /** Signs, or fails when the dates do not fit. */
    sign(payload: LicensePayload): LicenseEnvelope {
      const signed = signLicense(payload, secretKey);
      if (!signed.ok) throw new Error(JSON.stringify(signed));
      return signed.envelope;
    },
  };
}
