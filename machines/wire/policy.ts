// What a Console and a node say to each other of policies and containment: packs, what is wanted, what is in force, and how
// the keys change that a node trusts. Each part of an answer is there only while the node's report differs. decision: D80
import Type from 'typebox';
import {
  CONTAINMENT_REASON_MAX_CHARS,
  KEY_ROTATIONS_MAX,
  PACK_NAME_MAX_CHARS,
  PACK_NAMESPACES_MAX,
  PACK_POLICIES_MAX,
  PACK_ROLLBACKS_MAX,
  POLICY_FILE_MAX_BYTES,
  SIGNING_KEYS_MAX,
} from '../policy/limits.ts';
import { Count, Flavor, Text, Timestamp, Uuid } from './scalars.ts';
import { ENFORCEMENT_MODES, POLICY_MODES } from './words.ts';

export { ENFORCEMENT_MODES, POLICY_MODES };

export const ENFORCEMENT_STATES = [
  'pending',
  'verifying',
  'applying',
  'enforcing',
  'monitoring',
  'rejected',
  'failed',
  'removed',
] as const;
export type EnforcementState = (typeof ENFORCEMENT_STATES)[number];

export const PolicyName = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,62}$' });
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
export const KeyId = Type.String({ pattern: '^[0-9a-f]{16}$' });
/** Base64 of an Ed25519 signature, on one line. */
export const Signature = Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$' });
export const PackVersion = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
export const PolicyMode = Type.Enum([...POLICY_MODES]);
const Namespace = Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' });
/** Kubernetes namespaces; null = everywhere. */
export const NamespaceScope = Type.Union([
  Type.Array(Namespace, { minItems: 1, maxItems: PACK_NAMESPACES_MAX }),
  Type.Null(),
]);

/** What is signed of a pack, but for its policies. */
export const PackHead = Type.Object({
  pack_id: Uuid,
  version: PackVersion,
  name: Type.String({ minLength: 1, maxLength: PACK_NAME_MAX_CHARS }),
  flavor: Flavor,
  /** The mode it is meant for; an assignment chooses within `modes_allowed`. */
  mode: PolicyMode,
  modes_allowed: Type.Array(PolicyMode, { minItems: 1, maxItems: 2 }),
  /** The widest scope an assignment may choose. */
  namespace_scope: NamespaceScope,
  /** Versions this one may return to. */
  rollback_to: Type.Array(PackVersion, { maxItems: PACK_ROLLBACKS_MAX }),
});
const SignedPolicy = Type.Object({
  name: PolicyName,
  yaml: Type.String({ minLength: 1, maxLength: POLICY_FILE_MAX_BYTES }),
  /** Of the policy by its name. */
  signature: Signature,
});
/** A published version as it is downloaded. */
export const SignedPack = Type.Object({
  ...PackHead.properties,
  policies: Type.Array(SignedPolicy, { minItems: 1, maxItems: PACK_POLICIES_MAX }),
  manifest_signature: Signature,
});
/** The policies of one sensor as they are downloaded; each bears its own signature. */
export const CustomPack = Type.Object({
  revision: Count,
  policies: Type.Array(SignedPolicy, { maxItems: PACK_POLICIES_MAX }),
});

export const KeyRotation = Type.Object({
  /** Rising; a lower one than a node has taken is refused. */
  sequence: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  new_key_pem: Text(1_024),
  retired_key_ids: Type.Array(KeyId, { maxItems: SIGNING_KEYS_MAX }),
  by_key_id: KeyId,
  signature: Signature,
});

// Parts of an answer.
export const PackAssignment = Type.Union([
  Type.Object({
    assignment_id: Uuid,
    pack_id: Uuid,
    version: PackVersion,
    manifest_sha256: Sha256,
    mode: PolicyMode,
    namespace_scope: NamespaceScope,
    path: Text(256),
    when_unsupported: Type.Optional(Type.Enum(['fail', 'skip'])),
  }),
  Type.Object({ assignment_id: Uuid, removed: Type.Literal(true) }),
]);
export const EnforcementPolicy = Type.Object({
  revision: Count,
  mode: Type.Enum([...ENFORCEMENT_MODES]),
});
const NamedPolicies = Type.Array(Type.Object({ name: PolicyName, sha256: Sha256 }), {
  maxItems: PACK_POLICIES_MAX,
});
export const CustomPolicies = Type.Object({
  revision: Count,
  path: Text(256),
  policies: NamedPolicies,
});
export const ContainmentOrder = Type.Object({
  order_id: Uuid,
  wanted: Type.Enum(['contained', 'released']),
  reason: Type.Optional(Text(CONTAINMENT_REASON_MAX_CHARS)),
  /** When it ends by the node's own clock. */
  until: Type.Optional(Timestamp),
});
export const PolicyAnswer = Type.Partial(
  Type.Object({
    pack_assignment: PackAssignment,
    enforcement_policy: EnforcementPolicy,
    custom_policies: CustomPolicies,
    /** Every statement of the chain, in its order, while the node trusts other keys. */
    signing_key_rotations: Type.Array(KeyRotation, { maxItems: KEY_ROTATIONS_MAX }),
  }),
);

// Parts of a request.
const PolicyFact = Type.Object({
  name: Text(128),
  sha256: Type.Optional(Sha256),
  state: Type.Enum([...ENFORCEMENT_STATES]),
  reason: Type.Optional(Text(512)),
  /** Such as `engine_cannot`. */
  code: Type.Optional(Text(64)),
  acted: Type.Optional(Count),
  would_have_acted: Type.Optional(Count),
});
/** What a node has and does; a number that is absent was never told to it. */
export const PolicyReport = Type.Object({
  assignment_id: Type.Optional(Uuid),
  pack_id: Type.Optional(Uuid),
  version: Type.Optional(PackVersion),
  state: Type.Enum([...ENFORCEMENT_STATES]),
  /** Why the pack as a whole is not taken, such as `mode_not_signed`. */
  code: Type.Optional(Text(64)),
  reason: Type.Optional(Text(512)),
  manifest_sha256: Type.Optional(Sha256),
  /** The version that is in force, also while another one is not taken. */
  in_force: Type.Optional(
    Type.Object({ pack_id: Uuid, version: PackVersion, manifest_sha256: Sha256 }),
  ),
  highest_version: Type.Optional(PackVersion),
  mode: Type.Optional(PolicyMode),
  namespace_scope: Type.Optional(NamespaceScope),
  enforcement_revision: Type.Optional(Count),
  custom_revision: Type.Optional(Count),
  /** As `keysDigestText` has it. */
  signing_keys_sha256: Sha256,
  policies: Type.Array(PolicyFact, { maxItems: 2 * PACK_POLICIES_MAX }),
});
export const CONTAINMENT_STATES = [
  'released',
  'containing',
  'contained',
  'releasing',
  'failed',
] as const;
export const ContainmentReport = Type.Object({
  order_id: Type.Optional(Uuid),
  state: Type.Enum([...CONTAINMENT_STATES]),
  since: Timestamp,
  method: Type.Optional(Text(64)),
  failure: Type.Optional(Text(512)),
  /** How often somebody else removed the rules and they were put back. */
  repaired: Type.Optional(Count),
});

/** What policies add to a heartbeat and its answer. */
export const POLICY_MEMBERS = {
  /** Absent while it is what the last answer named in `stored_sections.policy`. */
  told: { policy: Type.Optional(PolicyReport) },
  answered: PolicyAnswer.properties,
};
/** What containment adds to them. */
export const CONTAINMENT_MEMBERS = {
  told: { containment: Type.Optional(ContainmentReport) },
  answered: { containment: Type.Optional(ContainmentOrder) },
};

export type PolicyMode = Type.Static<typeof PolicyMode>;
export type EnforcementMode = (typeof ENFORCEMENT_MODES)[number];
export type PackHead = Type.Static<typeof PackHead>;
export type SignedPolicy = Type.Static<typeof SignedPolicy>;
export type SignedPack = Type.Static<typeof SignedPack>;
export type CustomPack = Type.Static<typeof CustomPack>;
export type KeyRotation = Type.Static<typeof KeyRotation>;
export type PackAssignment = Type.Static<typeof PackAssignment>;
export type EnforcementPolicy = Type.Static<typeof EnforcementPolicy>;
export type CustomPolicies = Type.Static<typeof CustomPolicies>;
export type ContainmentOrder = Type.Static<typeof ContainmentOrder>;
export type PolicyAnswer = Type.Static<typeof PolicyAnswer>;
export type PolicyReport = Type.Static<typeof PolicyReport>;
export type ContainmentReport = Type.Static<typeof ContainmentReport>;
