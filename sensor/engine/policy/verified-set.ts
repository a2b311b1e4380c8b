// What the Console wants here, as this node verified it: the same functions judge a download and what lies on the disk, so
// that nothing is in force that was not signed whole for this node. decision: D78

import type { PolicyKey } from '../../../actors/runtime/policy-keys.ts';
import { headOf, whyNotSigned } from '../../../machines/policy/manifest.rules.ts';
import type {
  AssignedPack,
  Held,
  NamedDigest,
  Refusal,
} from '../../../machines/sensor/policy.rules.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { CustomPack, SignedPack, type SignedPolicy } from '../../../machines/wire/policy.ts';
import type { FoundPolicy } from './policy-files.ts';

export type SetPolicy = SignedPolicy & { readonly digest: string };
/** The policies of one pack, or a sensor's own; verified. */
export type VerifiedSet = {
  readonly policies: readonly SetPolicy[];
  /** Of a pack: the versions its manifest lets a node return to. */
  readonly rollbackTo: readonly number[];
  /** As it is kept: what was verified, and nothing besides. */
  readonly body: SignedPack | CustomPack;
};
export type SetVerdict =
  | { readonly ok: true; readonly set: VerifiedSet }
  | { readonly ok: false; readonly refusal: Refusal };

const NO_KEY = 'this node has no key for policies, so that it takes none from the Console';
const readPack = parserOfValue(SignedPack);
const readCustom = parserOfValue(CustomPack);

/** Verifies a pack against what was assigned. The version is not judged here. Never rejects. */
export async function verifyAssignedPack(
  received: unknown,
  assigned: Omit<AssignedPack, 'path'>,
  keys: readonly PolicyKey[],
): Promise<SetVerdict> {
  const parsed = readPack(received);
  if (!parsed.ok) return rejected('pack_malformed', 'it does not fit the form of a pack');
  if (keys.length === 0) return rejected('no_signing_key', NO_KEY);
  const { policyDigest, verifyPack } = await import('../../../actors/runtime/policy-pack.ts');
  const pack = parsed.value;
  const verdict = verifyPack(pack, keys);
  if (!verdict.ok) return rejected('signature_invalid', `${verdict.pointer}: ${verdict.reason}`);
  const isIt =
    verdict.manifestSha256 === assigned.manifest_sha256 &&
    pack.pack_id === assigned.pack_id &&
    pack.version === assigned.version;
  if (!isIt) return rejected('manifest_mismatch', 'it is another pack than the one assigned');
  const unsigned = whyNotSigned(pack, assigned);
  if (unsigned !== null) {
    return rejected(unsigned, 'the assignment asks for more than the manifest allows');
  }
  const policies = pack.policies.map((one) => ({ ...one, digest: policyDigest(one.yaml) }));
  const body = {
    ...headOf(pack),
    policies: pack.policies.map(signedOf),
    manifest_signature: pack.manifest_signature,
  };
  return { ok: true, set: { policies, rollbackTo: pack.rollback_to, body } };
}

/** Verifies a sensor's own policies against what was announced. Never rejects. */
export async function verifyCustom(
  received: unknown,
  announced: { readonly revision: number; readonly policies: readonly NamedDigest[] },
  keys: readonly PolicyKey[],
): Promise<SetVerdict> {
  const parsed = readCustom(received);
  if (!parsed.ok) return rejected('pack_malformed', 'they do not fit their form');
  if (keys.length === 0) return rejected('no_signing_key', NO_KEY);
  const { isSigned, policyDigest } = await import('../../../actors/runtime/policy-pack.ts');
  const { revision, policies: signed } = parsed.value;
  const policies = signed.map((one) => ({ ...one, digest: policyDigest(one.yaml) }));
  const found = policies.map(({ name, digest }) => ({ name, sha256: digest }));
  const isIt =
    revision === announced.revision &&
    textOf(found) === textOf(announced.policies) &&
    new Set(found.map(({ name }) => name)).size === found.length;
  if (!isIt) return rejected('manifest_mismatch', 'they are others than those announced');
  const forged = signed.find((one) => !isSigned(one, keys));
  if (forged !== undefined) {
    return rejected('signature_invalid', `${forged.name} is not signed by a trusted key`);
  }
  const body = { revision, policies: signed.map(signedOf) };
  return { ok: true, set: { policies, rollbackTo: [], body } };
}

function signedOf({ name, yaml, signature }: SignedPolicy): SignedPolicy {
  return { name, yaml, signature };
}

function textOf(policies: readonly NamedDigest[]): string {
  const lines = policies.map(({ name, sha256 }) => `${name} ${sha256}`);
  return lines.sort().join('\n');
}

function rejected(code: string, reason: string): SetVerdict {
  return { ok: false, refusal: { state: 'rejected', code, reason } };
}

export type HeldSets = { readonly pack: VerifiedSet | null; readonly custom: VerifiedSet | null };
export const NO_SETS: HeldSets = { pack: null, custom: null };

/** The policies that are to be in force of these sets: a sensor's own before those of its pack of the same name, and under
 * the switch above both. */
export function policiesInForce(
  held: Pick<Held, 'pack' | 'enforcement'>,
  { pack, custom }: HeldSets,
): readonly FoundPolicy[] {
  const { mode } = held.enforcement;
  if (mode === 'off') return [];
  const own = (custom?.policies ?? []).map((one) => foundOf(one, 'custom', mode === 'monitor'));
  const names = new Set(own.map(({ name }) => name));
  const monitors = mode === 'monitor' || held.pack?.mode === 'monitor';
  const ofPack = (pack?.policies ?? []).filter(({ name }) => !names.has(name));
  return [...own, ...ofPack.map((one) => foundOf(one, 'pack', monitors))];
}

function foundOf(one: SetPolicy, from: 'pack' | 'custom', monitors: boolean): FoundPolicy {
  const { name, yaml, digest } = one;
  return { ok: true, name, yaml, digest, isUnsigned: false, from, monitors };
}
