// The manifest of a pack: what its signature covers, and what that signature allows. A node that has one refuses a mode, a
// scope or a return that nobody signed. decision: D80
import type { PackHead, PolicyMode, SignedPack } from '../wire/policy.ts';
import { canonicalBytes, canonicalText } from './canonical.rules.ts';

const PREFIX = 'service-pack-v1:';

export type PackManifest = PackHead & {
  readonly policies: readonly { readonly name: string; readonly sha256: string }[];
};

/** The manifest of a pack, given the SHA-256 of each YAML in the order of its policies. */
export function manifestOf(
  pack: Omit<SignedPack, 'manifest_signature'>,
  digests: readonly string[],
): PackManifest {
  const policies = pack.policies.map(({ name }, place) => ({
    name,
    sha256: digests[place] ?? '',
  }));
  return { ...headOf(pack), policies };
}

/** The fields of a pack that its manifest has, and no other. */
export function headOf(pack: PackHead): PackHead {
  const { pack_id, version, name, flavor, mode, modes_allowed, namespace_scope, rollback_to } =
    pack;
  return {
    ...{ pack_id, version, name, flavor, mode },
    ...{ modes_allowed, namespace_scope, rollback_to },
  };
}

/** The bytes whose SHA-256 names a manifest: `manifest_sha256`, and the ETag of its pack. Throws on text that is none. */
export function manifestBytes(manifest: PackManifest): Uint8Array {
  return canonicalBytes('', plainOf(manifest));
}

/** The bytes a manifest's signature is made over. Throws on text that is none. */
export function manifestMessage(manifest: PackManifest): Uint8Array {
  return canonicalBytes(PREFIX, plainOf(manifest));
}

function plainOf(manifest: PackManifest) {
  const policies = manifest.policies.map(({ name, sha256 }) => ({ name, sha256 }));
  return { ...headOf(manifest), policies };
}

export type ManifestMistake = { readonly pointer: string; readonly detail: string };

/** What contradicts itself in a pack; a schema has checked the rest. Empty = nothing. */
export function mistakesOfManifest(manifest: PackManifest): readonly ManifestMistake[] {
  const { name, mode, modes_allowed, namespace_scope, rollback_to, version, policies } = manifest;
  const names = policies.map((one) => one.name);
  const rules: readonly (readonly [pointer: string, holds: boolean, detail: string])[] = [
    ['/name', canonicalText(name) !== null && name.trim() !== '', 'is no text'],
    ['/mode', modes_allowed.includes(mode), 'must be one of modes_allowed'],
    ['/modes_allowed', isDistinct(modes_allowed), 'names a mode twice'],
    ['/namespace_scope', isDistinct(namespace_scope ?? []), 'names a namespace twice'],
    ['/rollback_to', isDistinct(rollback_to), 'names a version twice'],
    ['/rollback_to', rollback_to.every((one) => one < version), 'must name older versions only'],
    ['/policies', isDistinct(names), 'name a policy twice'],
  ];
  return rules.flatMap(([pointer, holds, detail]) => (holds ? [] : [{ pointer, detail }]));
}

/** Why an assignment is not within what is signed; null when it is. */
export function whyNotSigned(
  signed: Pick<PackHead, 'modes_allowed' | 'namespace_scope'>,
  asked: { readonly mode: PolicyMode; readonly namespace_scope: readonly string[] | null },
): 'mode_not_signed' | 'scope_not_signed' | null {
  if (!signed.modes_allowed.includes(asked.mode)) return 'mode_not_signed';
  const widest = signed.namespace_scope;
  if (widest === null) return null;
  const isWithin = asked.namespace_scope?.every((one) => widest.includes(one)) ?? false;
  return isWithin ? null : 'scope_not_signed';
}

/** The highest version of one pack that a node has applied. */
export type HighestApplied = {
  readonly version: number;
  readonly manifest_sha256: string;
  readonly rollback_to: readonly number[];
};

/** Why a node must not apply a version of the same pack; null when it may. */
export function whyNotVersion(
  next: { readonly version: number; readonly manifest_sha256: string },
  highest: HighestApplied | null,
): 'rollback_refused' | 'version_changed' | null {
  if (highest === null || next.version > highest.version) return null;
  if (next.version === highest.version) {
    return next.manifest_sha256 === highest.manifest_sha256 ? null : 'version_changed';
  }
  return highest.rollback_to.includes(next.version) ? null : 'rollback_refused';
}

function isDistinct(values: readonly (string | number)[]): boolean {
  return new Set(values).size === values.length;
}
