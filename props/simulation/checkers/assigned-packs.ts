// Once everything works again, each node has in force exactly what it is assigned, and nothing where nothing is. What is
// assigned is what the publisher was told at its end, one sensor's own before its group's before the fleet's. Left out is
// what a node may refuse: a version that not every engine carries out, whose key left, or that is older than one the node
// had and that does not let it return; where PostgreSQL forgot, also one whose number held something else before, and any
// after a change of keys. invariant: I8; decision: D78, D83, D170, D171
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { BAD_POLICY, PICKY_POLICY } from '../world/engine-policies.ts';
import { type NodeHost, STATE_DIR } from '../world/node-host.ts';
import type { PolicyInForce, PublishedPack } from '../world/policy-observation.ts';
import type { CheckerKind, FleetView } from './checker.ts';
import { stateOf } from './node-files.ts';

type Highest = { readonly version: number; readonly rollback_to: readonly number[] };
/** Longer than any wait of a node for its next try. */
const PATIENCE_MS = 600_000;

export const assignedPacks: CheckerKind = {
  name: 'assigned-packs',
  promise: 'Every node ends with exactly the good version in force that it is assigned.',
  make(fleet, report) {
    return {
      finish() {
        for (const one of lackingOf(fleet)) report(one);
      },
    };
  },
};

/** Nodes that do not have what they are to have, for as long as they may take. For the healed world. */
export function awaitedPacks(fleet: FleetView): readonly string[] {
  const sinceMs = fleet.publisher.settledAtMs();
  if (sinceMs === null || fleet.world.scheduler.now() - sinceMs > PATIENCE_MS) return [];
  return lackingOf(fleet);
}

/** Whether no engine at all carries out a version. */
export function isBadPack({ policies }: PublishedPack): boolean {
  return policies.some(({ name }) => name === BAD_POLICY);
}

function lackingOf(fleet: FleetView): readonly string[] {
  if (fleet.publisher.settled() === null) return [];
  return fleet.nodes.flatMap((node) => {
    const sensor = stateOf(node)?.sensor_id ?? '';
    const isTrusted = fleet.stores.relational.state.sensors.get(sensor)?.revokedAtMs === null;
    const inForce = node.engine.inForce();
    if (!isTrusted || !node.isUp() || inForce === null) return [];
    const wanted = wantedOf(fleet, sensor);
    if (wanted !== null && mayRefuse(fleet, node, wanted.published)) return [];
    const lines = wanted === null ? [] : linesOf(wanted.published, wanted.mode);
    const has = inForce.map(lineOf).sort();
    if (has.join() === lines.join()) return [];
    const named = wanted === null ? 'nothing' : `version ${wanted.published.version}`;
    return [`${node.name} is to have ${named}, and its engine carries out ${has.join(', ')}`];
  });
}

function wantedOf({ publisher }: FleetView, sensor: string) {
  const { desk } = publisher;
  const groups = desk.sensors.find((one) => one.sensor_id === sensor)?.group_ids ?? [];
  const ids = [`sensor:${sensor}`, ...groups.map((id) => `group:${id}`), 'fleet:fleet'];
  const settled = publisher.settled() ?? [];
  const found = ids
    .map((id) => settled.find(({ target }) => `${target.kind}:${target.id}` === id))
    .find((one) => one !== undefined);
  if (found === undefined) return null;
  const published = desk.versions.find(
    ({ pack, version }) => pack === found.pack_id && version === found.version,
  );
  return published === undefined ? null : { published, mode: found.mode };
}

function mayRefuse(fleet: FleetView, node: NodeHost, published: PublishedPack): boolean {
  const { pack, version, policies, key } = published;
  const { isForgotten, rotations, reused } = fleet.publisher.desk;
  if (reused.has(`${pack}/${version}`) || (isForgotten && rotations > 0)) return true;
  const isCarried = policies.every(({ name }) => name !== BAD_POLICY && name !== PICKY_POLICY);
  if (!isCarried || !fleet.publisher.desk.keys.trusted.includes(key)) return true;
  const text = node.disk.read(`${STATE_DIR}/${STATE_FILES.assignedPack}`)?.toString() ?? '{}';
  const { highest = {} } = JSON.parse(text) as { highest?: Readonly<Record<string, Highest>> };
  const top = highest[pack];
  return top !== undefined && version < top.version && !top.rollback_to.includes(version);
}

function linesOf({ policies }: PublishedPack, mode: string): readonly string[] {
  return policies.map(({ name, digest }) => lineOf({ name, mode, digest })).sort();
}

function lineOf({ name, mode, digest }: PolicyInForce): string {
  return `${name} ${mode} ${digest.slice(0, 8)}`;
}
