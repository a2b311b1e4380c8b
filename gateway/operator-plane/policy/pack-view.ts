// Packs, versions and checks as they are shown.
import Type from 'typebox';
import type { CheckedPolicy } from '../../../actors/policy/pack-check.ts';
import type { PackRow, VersionRow } from '../../../machines/console/policy/book.rules.ts';
import { PACK_POLICIES_MAX } from '../../../machines/policy/limits.ts';
import { KeyId, PackHead, PackVersion, PolicyName, Sha256 } from '../../../machines/wire/policy.ts';
import { Flavor, Uuid } from '../../../machines/wire/scalars.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { PolicyText } from './policy-deps.ts';

export const Pack = Type.Object({
  pack_id: Uuid,
  name: Type.String(),
  flavor: Flavor,
  created_at: Time,
  created_by: Type.String(),
  draft_revision: Type.Integer(),
  latest_version: Nullable(PackVersion),
});
export const Version = Type.Object({
  manifest: Type.Object({
    ...PackHead.properties,
    policies: Type.Array(Type.Object({ name: PolicyName, sha256: Sha256 })),
  }),
  manifest_sha256: Sha256,
  key_id: KeyId,
  published_at: Time,
  published_by: Type.String(),
});
const { mode, modes_allowed, namespace_scope, rollback_to } = PackHead.properties;
export const Draft = Strict({
  ...{ mode, modes_allowed, namespace_scope, rollback_to },
  policies: Type.Array(PolicyText, { maxItems: PACK_POLICIES_MAX }),
});
export const Check = Type.Object({
  name: Type.String(),
  ok: Type.Boolean({ description: 'whether any engine can honour it' }),
  engines: Type.Array(Type.String()),
  hooks: Type.Array(
    Type.Object({
      kind: Type.String(),
      event: Type.String(),
      acts: Type.Array(Type.String()),
      needs: Nullable(Type.String()),
    }),
  ),
  refusals: Type.Array(
    Type.Object({
      path: Type.String(),
      line: Type.Integer(),
      column: Type.Integer(),
      reason: Type.String(),
      code: Type.Enum(['invalid', 'engine_cannot']),
    }),
  ),
});
export type PackView = Type.Static<typeof Pack>;
export type VersionView = Type.Static<typeof Version>;
export type CheckView = Type.Static<typeof Check>;

export function packView(row: PackRow): PackView {
  return {
    pack_id: row.packId,
    name: row.name,
    flavor: row.flavor,
    created_at: timeText(row.createdAtMs),
    created_by: row.createdBy,
    draft_revision: row.draftRevision,
    latest_version: row.latestVersion,
  };
}

export function versionView(row: VersionRow): VersionView {
  const { manifest } = row;
  return {
    manifest: { ...manifest, policies: [...manifest.policies] },
    manifest_sha256: row.manifestSha256,
    key_id: row.keyId,
    published_at: timeText(row.publishedAtMs),
    published_by: row.publishedBy,
  };
}

export function checkView(one: CheckedPolicy): CheckView {
  return {
    name: one.name,
    ok: one.ok,
    engines: [...one.engines],
    hooks: one.hooks.map((hook) => ({ ...hook, acts: [...hook.acts] })),
    refusals: [...one.refusals],
  };
}
