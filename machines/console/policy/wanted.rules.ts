// What a node is to have, and which parts of it a heartbeat's answer carries: each only while the node's report differs.
// What a node refused it was told; it is not told again. decision: D83
import { canonicalText } from '../../policy/canonical.rules.ts';
import type {
  CustomPolicies,
  EnforcementPolicy,
  KeyRotation,
  PackAssignment,
  PolicyAnswer,
  PolicyReport,
} from '../../wire/policy.ts';
import type { PolicyReport as PolicyRegion } from '../fleet/sensor.rules.ts';

export type Wanted = {
  /** Null = no pack. */
  readonly pack: Extract<PackAssignment, { readonly pack_id: string }> | null;
  readonly enforcement: EnforcementPolicy;
  readonly custom: CustomPolicies;
};
export type WantedKeys = {
  readonly keysSha256: string;
  readonly rotations: readonly KeyRotation[];
};

/** The parts of an answer. `report` is the node's last; null when it never said anything. */
export function partsFor(
  wanted: Wanted,
  keys: WantedKeys,
  report: PolicyReport | null,
): PolicyAnswer {
  const parts: PolicyAnswer = {};
  if (!hasPack(wanted, report)) {
    if (wanted.pack !== null) parts.pack_assignment = wanted.pack;
    else if (report?.assignment_id !== undefined) {
      parts.pack_assignment = { assignment_id: report.assignment_id, removed: true };
    }
  }
  if ((report?.enforcement_revision ?? 0) !== wanted.enforcement.revision) {
    parts.enforcement_policy = wanted.enforcement;
  }
  if ((report?.custom_revision ?? 0) !== wanted.custom.revision) {
    parts.custom_policies = wanted.custom;
  }
  const isOtherKeys = report !== null && report.signing_keys_sha256 !== keys.keysSha256;
  if (isOtherKeys && keys.rotations.length > 0) {
    parts.signing_key_rotations = [...keys.rotations];
  }
  return parts;
}

/** Whether a node was told of its pack, whatever became of it. */
function hasPack({ pack }: Wanted, report: PolicyReport | null): boolean {
  if (pack === null) return report?.assignment_id === undefined || report.state === 'removed';
  return (
    report?.assignment_id === pack.assignment_id &&
    report.version === pack.version &&
    report.manifest_sha256 === pack.manifest_sha256 &&
    report.state !== 'removed'
  );
}

/** What the region of policy is, from what is wanted and what was reported. */
export function regionOf(wanted: Wanted, report: PolicyReport | null): PolicyRegion {
  if (wanted.pack === null) return 'unassigned';
  if (report === null || !hasPack(wanted, report)) return 'pending';
  switch (report.state) {
    case 'enforcing':
    case 'monitoring':
      return 'in_force';
    case 'rejected':
      return 'rejected';
    case 'failed':
      return 'failed';
    default:
      return 'pending';
  }
}

/** The text whose SHA-256 is `stored_sections.policy`; null when the report has no such form. */
export function reportText(report: PolicyReport): string | null {
  return canonicalText(report);
}
