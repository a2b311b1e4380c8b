// What is to be in force on this node, from the disk alone: the pack, the sensor's own policies, and what was laid by hand.
import type { Held } from '../../../machines/sensor/policy.rules.ts';
import type { SensorConfig } from '../../config/config.ts';
import { exactKeysOf } from '../../engine/policy/exact-keys.ts';
import { readHeld } from '../../engine/policy/held-policies.ts';
import { EBPF_BOUNDS, joinedPolicies, readPolicyFiles } from '../../engine/policy/policy-files.ts';
import { policiesInForce } from '../../engine/policy/verified-set.ts';
import { readText } from '../../state-directory/atomic-file.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';

export type PoliciesFound = {
  readonly is_good: boolean;
  readonly pack: Held['pack'];
  readonly enforcement: Held['enforcement'];
  readonly custom: Held['custom'];
  /** Ids of the keys this node trusts. */
  readonly keys: readonly string[];
  readonly problem: string | null;
  readonly policies: readonly {
    readonly name: string;
    readonly from: 'pack' | 'custom' | 'hand';
    readonly is_taken: boolean;
    readonly reason?: string;
  }[];
  /** For people. */
  readonly lines: readonly string[];
};

/** Rejects when the disk refuses. */
export async function readPoliciesOf(
  config: Pick<SensorConfig, 'stateDir' | 'strictPolicies'>,
): Promise<PoliciesFound> {
  const pub = (await readText(diskFiles, config.stateDir, STATE_FILES.policyKey)) ?? '';
  const keys = await exactKeysOf(pub);
  const found = await readHeld(diskFiles, config.stateDir, keys);
  const { held, sets } = found;
  const bounds = { ...EBPF_BOUNDS, isStrict: config.strictPolicies };
  const own = await readPolicyFiles(diskFiles, config.stateDir, bounds);
  const all = joinedPolicies(own, policiesInForce(held, sets));
  const policies = all.map((one) => ({
    name: one.name,
    from: (one.ok ? one.from : undefined) ?? ('hand' as const),
    is_taken: one.ok,
    ...(one.ok ? {} : { reason: one.reason }),
  }));
  const problem = found.ok ? null : found.reason;
  const about = { pack: held.pack, enforcement: held.enforcement, custom: held.custom };
  const summary = { ...about, keys: keys.map(({ id }) => id), problem, policies };
  const isGood = problem === null && policies.every(({ is_taken }) => is_taken);
  return { is_good: isGood, ...summary, lines: linesOf(summary) };
}

function linesOf({
  pack,
  enforcement,
  custom,
  keys,
  problem,
  policies,
}: Omit<PoliciesFound, 'lines' | 'is_good'>): readonly string[] {
  const assigned =
    pack === null ? 'none' : `${pack.pack_id} version ${pack.version}, mode ${pack.mode}`;
  return [
    `pack: ${assigned}`,
    `own policies: revision ${custom.revision}`,
    `switch: ${enforcement.mode}`,
    `keys: ${keys.length === 0 ? 'none' : keys.join(', ')}`,
    ...(problem === null ? [] : [`problem: ${problem}`]),
    ...policies.map(({ name, from, is_taken, reason }) =>
      is_taken ? `${name} (${from}) is taken` : `${name} (${from}): ${reason ?? ''}`,
    ),
  ];
}
