// The license bundle, exactly as the specification has it: an envelope around a payload of nine fields. Nothing beside
// them is accepted, since what is not signed or not understood must not look as if it counted. decision: D32
import Type from 'typebox';
import { LICENSE_NODES_MAX, LICENSE_TEXT_MAX_CHARS } from '../limits.ts';
import { Timestamp } from './scalars.ts';

const Text = Type.String({ minLength: 1, maxLength: LICENSE_TEXT_MAX_CHARS });
const EXACT = { additionalProperties: false } as const;

const named = {
  customer_id: Text,
  workspace_id: Text,
  license_id: Text,
  plan: Text,
  max_protected_nodes: Type.Integer({ minimum: 0, maximum: LICENSE_NODES_MAX }),
  valid_from: Timestamp,
  valid_until: Timestamp,
};

export const LicensePayload = Type.Object(
  { ...named, grace_until: Timestamp, issued_at: Timestamp },
  EXACT,
);
/** What somebody asks to be signed: the end of grace and the time of issue may be left to the signer. */
export const LicenseDraft = Type.Object(
  { ...named, grace_until: Type.Optional(Timestamp), issued_at: Type.Optional(Timestamp) },
  EXACT,
);
export const LicenseEnvelope = Type.Object(
  {
    schema_version: Type.Literal(1),
    signature_algorithm: Type.Literal('ED25519'),
    payload: LicensePayload,
    /** 64 bytes in base64, padding included. */
    signature: Type.String({ pattern: '^[A-Za-z0-9+/]{85}[AQgw]==$' }),
  },
  EXACT,
);

export type LicensePayload = Type.Static<typeof LicensePayload>;
export type LicenseDraft = Type.Static<typeof LicenseDraft>;
export type LicenseEnvelope = Type.Static<typeof LicenseEnvelope>;
