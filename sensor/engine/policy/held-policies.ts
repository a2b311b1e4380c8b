// What is held of the Console's policies, on disk. A pack lies there whole, as it was signed, in a file named by its
// manifest; `assigned-pack.json` says which one is in force. Replacing that one file is the only step that changes it, so a
// crash leaves the old set or the new one. In `compiled-policies/` lies a copy of each policy for whoever looks. decision: D78
import { hash } from 'node:crypto';
import { join } from 'node:path';
import Type from 'typebox';
import type { PolicyKey } from '../../../actors/runtime/policy-keys.ts';
import {
  PACK_BODY_MAX_BYTES,
  PACK_POLICIES_MAX,
  PACK_ROLLBACKS_MAX,
} from '../../../machines/policy/limits.ts';
import { fileNameOf } from '../../../machines/policy/names.rules.ts';
import { type Held, NOTHING_HELD } from '../../../machines/sensor/policy.rules.ts';
import { NODE_PACKS_MAX } from '../../../machines/sensor/policy-limits.ts';
import { parseJson, parserOf } from '../../../machines/wire/parse.ts';
import {
  ENFORCEMENT_STATES,
  EnforcementPolicy,
  type EnforcementState,
  NamespaceScope,
  PackVersion,
  PolicyMode,
  PolicyName,
  Sha256,
} from '../../../machines/wire/policy.ts';
import { Count, NamedBy, Text, Timestamp, Uuid } from '../../../machines/wire/scalars.ts';
import {
  makeDirectoryDurably,
  readText,
  removeDurably,
  removeTemporaries,
  writeAtomic,
} from '../../state-directory/atomic-file.ts';
import type { Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';
import { exactKeysOf } from './exact-keys.ts';
import { isCopy, POLICY_FOLDER } from './policy-files.ts';
import {
  type HeldSets,
  NO_SETS,
  type SetVerdict,
  type VerifiedSet,
  verifyAssignedPack,
  verifyCustom,
} from './verified-set.ts';

const PACKS = 'policy-packs';
const MODE = 0o600;
const FOLDER_MODE = 0o700;

const Named = Type.Array(Type.Object({ name: PolicyName, sha256: Sha256 }), {
  maxItems: PACK_POLICIES_MAX,
});
const AssignedSchema = Type.Object({
  pack_id: Uuid,
  version: PackVersion,
  /** When it was written; what it is now, `status` says. */
  enforcement_state: Type.Enum([...ENFORCEMENT_STATES]),
  namespace_scope: NamespaceScope,
  assignment_id: Uuid,
  manifest_sha256: Sha256,
  mode: PolicyMode,
  path: Text(256),
  when_unsupported: Type.Optional(Type.Enum(['fail', 'skip'])),
  highest_version: PackVersion,
  policies: Named,
});
const RecordSchema = Type.Object({
  ...Type.Partial(AssignedSchema).properties,
  enforcement: EnforcementPolicy,
  custom: Type.Object({ revision: Count, policies: Named }),
  highest: NamedBy(
    36,
    Type.Object({
      version: PackVersion,
      manifest_sha256: Sha256,
      rollback_to: Type.Array(PackVersion, { maxItems: PACK_ROLLBACKS_MAX }),
    }),
    NODE_PACKS_MAX,
  ),
  updated_at: Timestamp,
});
const parseRecord = parserOf(RecordSchema);
const parseAssigned = parserOf(AssignedSchema);

export type HeldFound =
  | { readonly ok: true; readonly held: Held; readonly sets: HeldSets }
  /** What is there cannot be read, or does not verify; `held` is what of it can be believed. */
  | { readonly ok: false; readonly held: Held; readonly sets: HeldSets; readonly reason: string };

/** What is held, verified again. Rejects when the disk refuses. */
export async function readHeld(
  files: Files,
  stateDir: string,
  keys: readonly PolicyKey[],
): Promise<HeldFound> {
  const held = await readRecord(files, stateDir);
  if (held === null) return { ok: true, held: NOTHING_HELD, sets: NO_SETS };
  if (held === 'damaged') {
    const reason = `${STATE_FILES.assignedPack} cannot be read`;
    return { ok: false, held: NOTHING_HELD, sets: NO_SETS, reason };
  }
  const { pack, custom } = held;
  const packVerdict =
    pack === null
      ? null
      : await verifyAssignedPack(await readBody(files, stateDir, packFile(pack)), pack, keys);
  const customVerdict =
    custom.policies.length === 0
      ? null
      : await verifyCustom(await readBody(files, stateDir, customFile(custom)), custom, keys);
  const sets = { pack: setOf(packVerdict), custom: setOf(customVerdict) };
  const lost = [packVerdict, customVerdict].flatMap((one) =>
    one === null || one.ok ? [] : [one.refusal.reason],
  );
  if (lost.length === 0) return { ok: true, held, sets };
  // What does not verify is asked for again; what was the highest version stays known.
  const believed: Held = {
    ...held,
    pack: sets.pack === null ? null : pack,
    custom: customVerdict?.ok === false ? NOTHING_HELD.custom : custom,
  };
  return { ok: false, held: believed, sets, reason: lost.join('; ') };
}

function setOf(verdict: SetVerdict | null): VerifiedSet | null {
  return verdict?.ok === true ? verdict.set : null;
}

async function readRecord(files: Files, stateDir: string): Promise<Held | 'damaged' | null> {
  const text = await readText(files, stateDir, STATE_FILES.assignedPack);
  if (text === null) return null;
  const parsed = parseRecord(text);
  if (!parsed.ok) return 'damaged';
  const { enforcement, custom, highest, pack_id } = parsed.value;
  if (pack_id === undefined) return { pack: null, enforcement, custom, highest };
  const assigned = parseAssigned(text);
  if (!assigned.ok) return 'damaged';
  const { assignment_id, version, manifest_sha256, mode, namespace_scope, path, policies } =
    assigned.value;
  const { when_unsupported } = assigned.value;
  return {
    pack: {
      ...{ assignment_id, pack_id, version, manifest_sha256, mode, namespace_scope, path },
      ...(when_unsupported === undefined ? {} : { when_unsupported }),
      policies,
    },
    ...{ enforcement, custom, highest },
  };
}

/** Makes this the set in force: what it consists of first, then the one file that names it. */
export async function commitHeld(
  files: Files,
  stateDir: string,
  { held: next, sets }: { readonly held: Held; readonly sets: HeldSets },
  more: { readonly state: EnforcementState; readonly nowMs: number },
): Promise<void> {
  const folder = join(stateDir, PACKS);
  await makeDirectoryDurably(files, folder, FOLDER_MODE);
  const put = async (name: string, set: VerifiedSet | null) => {
    if (set === null) return;
    const text = JSON.stringify(set.body);
    const there = await readText(files, folder, name).catch(() => null);
    if (there !== text) await writeAtomic(files, folder, name, { text, mode: MODE });
  };
  if (next.pack !== null) await put(packFile(next.pack), sets.pack);
  if (next.custom.policies.length > 0) await put(customFile(next.custom), sets.custom);
  const text = `${JSON.stringify(recordOf(next, more), null, 2)}\n`;
  await writeAtomic(files, stateDir, STATE_FILES.assignedPack, { text, mode: MODE });
}

function recordOf(
  { pack, enforcement, custom, highest }: Held,
  { state, nowMs }: { readonly state: EnforcementState; readonly nowMs: number },
): Type.Static<typeof RecordSchema> {
  const { policies = [], ...assigned } = pack ?? {};
  const head =
    pack === null
      ? {}
      : {
          ...assigned,
          enforcement_state: state,
          highest_version: highest[pack.pack_id]?.version ?? pack.version,
          policies: [...policies],
        };
  return {
    ...head,
    enforcement,
    custom: { revision: custom.revision, policies: [...custom.policies] },
    highest: Object.fromEntries(
      Object.entries(highest).map(([id, one]) => [
        id,
        { ...one, rollback_to: [...one.rollback_to] },
      ]),
    ),
    updated_at: new Date(nowMs).toISOString(),
  };
}

/** Puts copies of what is held where people look for them, and removes what is held no more. Idempotent. */
export async function layOutHeld(
  files: Files,
  stateDir: string,
  { held, sets }: { readonly held: Held; readonly sets: HeldSets },
): Promise<void> {
  await tidyBodies(files, stateDir, held);
  const folder = join(stateDir, POLICY_FOLDER);
  const wanted = copiesOf(held, sets);
  if (wanted.size === 0 && (await files.stat(folder)) === null) return;
  await makeDirectoryDurably(files, folder, FOLDER_MODE);
  await removeTemporaries(files, folder);
  for (const [name, text] of wanted) {
    const there = await readText(files, folder, name).catch(() => null);
    if (there !== text) await writeAtomic(files, folder, name, { text, mode: MODE });
  }
  for (const name of await files.list(folder)) {
    if (isCopy(name) && !wanted.has(name)) await removeDurably(files, folder, name);
  }
}

// A sidecar before what it signs.
function copiesOf(held: Held, { pack, custom }: HeldSets): ReadonlyMap<string, string> {
  const copies = new Map<string, string>();
  const packId = held.pack?.pack_id;
  const all = [
    ...(packId === undefined ? [] : (pack?.policies ?? [])).map((one) => ({
      one,
      base: fileNameOf({ kind: 'pack', packId: packId ?? '', name: one.name }),
    })),
    ...(custom?.policies ?? []).map((one) => ({
      one,
      base: fileNameOf({ kind: 'custom', name: one.name }),
    })),
  ];
  for (const { one, base } of all) {
    copies.set(`${base}.yaml.sig`, `${one.signature}\n`);
    copies.set(`${base}.yaml`, one.yaml);
  }
  return copies;
}

async function tidyBodies(files: Files, stateDir: string, held: Held): Promise<void> {
  const folder = join(stateDir, PACKS);
  if ((await files.stat(folder)) === null) return;
  await removeTemporaries(files, folder);
  const kept = [
    ...(held.pack === null ? [] : [packFile(held.pack)]),
    ...(held.custom.policies.length === 0 ? [] : [customFile(held.custom)]),
  ];
  for (const name of await files.list(folder)) {
    if (!kept.includes(name)) await removeDurably(files, folder, name);
  }
}

function packFile({ manifest_sha256 }: { readonly manifest_sha256: string }): string {
  return `pack-${manifest_sha256}.json`;
}

function customFile(custom: Held['custom']): string {
  const text = JSON.stringify([custom.revision, custom.policies]);
  return `custom-${hash('sha256', text, 'hex')}.json`;
}

// The text on the disk is one and the same for one body: whatever else lies there was written by somebody else.
async function readBody(files: Files, stateDir: string, name: string): Promise<unknown> {
  const path = join(stateDir, PACKS, name);
  const facts = await files.stat(path);
  if (facts === null || facts.isDirectory || facts.bytes > 2 * PACK_BODY_MAX_BYTES) return null;
  const text = (await files.readFile(path)).toString();
  const parsed = parseJson(text);
  return parsed.ok && JSON.stringify(parsed.value) === text ? parsed.value : null;
}

/** What a Tetragon is to have of it: read anew, by whoever keeps its policies. Never rejects. */
export async function readHeldNow(files: Files, stateDir: string): Promise<HeldFound | null> {
  try {
    const pub = (await readText(files, stateDir, STATE_FILES.policyKey)) ?? '';
    return await readHeld(files, stateDir, await exactKeysOf(pub));
  } catch {
    return null;
  }
}
