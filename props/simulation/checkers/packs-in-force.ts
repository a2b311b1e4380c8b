// What an engine has in force of packs is one published version, whole, in a mode that was asked for, which its node was
// given; and once a node said that a version is in force, none comes that is older, unless that one lets it return. Truth is
// what the publisher made and was told, what Consoles answered, and what the engine read. invariant: I8; decision: D78, D170
import type { PolicyInForce, PublishedPack } from '../world/policy-observation.ts';
import type { CheckerKind, FleetView } from './checker.ts';
import { ensure } from './columns.ts';
import { stateOf } from './node-files.ts';

type Known = {
  readonly offered: Set<string>;
  /** By pack: the highest version that was told to be in force. */
  readonly highest: Map<string, number>;
};

export const packsInForce: CheckerKind = {
  name: 'packs-in-force',
  promise: 'No unverified, partial or older pack is ever in force on a node.',
  make(fleet, report) {
    /** By what they hold: where PostgreSQL forgot one, another may have its number. */
    const versions = new Map<string, PublishedPack>();
    const modes = new Map<string, Set<string>>();
    const nodes = new Map<string, Known>();
    /** Under their certificate a copy tells of packs, too. */
    const copied = new Set<string>();
    const knownOf = (node: string) =>
      ensure(nodes, node, (): Known => ({ offered: new Set(), highest: new Map() }));
    const idOf = ({ pack, version }: Pick<PublishedPack, 'pack' | 'version'>) =>
      `${pack}/${version}`;

    /** Why this set may not be in force; null when it may. */
    function faultOf(node: string, set: readonly PolicyInForce[]): string | null {
      const found = [...versions.values()].find((one) => isWhole(one, set));
      if (found === undefined) return 'which is no published version';
      const [{ mode }] = set as readonly [PolicyInForce];
      if (set.some((one) => one.mode !== mode) || modes.get(idOf(found))?.has(mode) !== true) {
        return `version ${found.version}, in a mode nobody asked for`;
      }
      const { offered, highest } = knownOf(node);
      if (!offered.has(idOf(found))) return `version ${found.version}, which it was never given`;
      const top = highest.get(found.pack) ?? 0;
      if (found.version >= top) return null;
      const tops = [...versions.values()].filter(
        (one) => one.pack === found.pack && one.version === top,
      );
      if (tops.some(({ rollbackTo }) => rollbackTo.includes(found.version))) return null;
      return `version ${found.version}, older than ${top}`;
    }

    return {
      observe(seen) {
        switch (seen.kind) {
          case 'pack.published':
            versions.set(JSON.stringify(seen.published), seen.published);
            break;
          case 'pack.asked':
          case 'rollout.asked':
            ensure(modes, idOf(seen.wish), () => new Set<string>()).add(seen.wish.mode);
            break;
          case 'pack.offered':
            for (const host of hostsOf(fleet, seen.fingerprint))
              knownOf(host).offered.add(idOf(seen.wish));
            break;
          case 'pack.told': {
            const node = nodeOf(fleet, seen.fingerprint);
            if (node === undefined || copied.has(node) || seen.inForce === null) break;
            const { pack, version } = seen.inForce;
            const { highest } = knownOf(node);
            highest.set(pack, Math.max(version, highest.get(pack) ?? 0));
            break;
          }
          case 'node.copied':
            copied.add(seen.node);
            // The image holds what its original was given until then, whatever becomes of that one.
            nodes.set(seen.copy, structuredClone(knownOf(seen.node)));
            break;
          case 'node.wiped':
            nodes.delete(seen.node);
            break;
          case 'policies.in_force': {
            if (seen.policies.length === 0) break;
            const fault = faultOf(seen.node, seen.policies);
            if (fault === null) break;
            const set = seen.policies.map(({ name, mode }) => `${name} ${mode}`).join(', ');
            report(`the engine of ${seen.node} carries out ${set}: ${fault}`);
            break;
          }
        }
      },
    };
  },
};

function isWhole({ policies }: PublishedPack, set: readonly PolicyInForce[]): boolean {
  const digests = new Set(set.map(({ name, digest }) => `${name} ${digest}`));
  return (
    digests.size === policies.length &&
    policies.every(({ name, digest }) => digests.has(`${name} ${digest}`))
  );
}

/** The node whose files name the sensor of a certificate. */
export function nodeOf(fleet: FleetView, fingerprint: string | null): string | undefined {
  return holdersOf(fleet.nodes, fleet, fingerprint)[0];
}

/** The same, and its copies: each may be the one that asked. */
function hostsOf(fleet: FleetView, fingerprint: string | null): readonly string[] {
  return holdersOf([...fleet.nodes, ...fleet.copies.all()], fleet, fingerprint);
}

function holdersOf(
  hosts: FleetView['nodes'],
  { stores }: FleetView,
  fingerprint: string | null,
): readonly string[] {
  const sensor = stores.relational.sensorOf(fingerprint ?? '');
  if (sensor === undefined) return [];
  return hosts.filter((one) => stateOf(one)?.sensor_id === sensor).map(({ name }) => name);
}
