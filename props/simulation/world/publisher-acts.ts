// How a publisher makes versions and says who is to have them.
import { packOf, yamlOf } from '../../crash/node-policies.fixture.ts';
import { BAD_POLICY, PICKY_POLICY } from './engine-policies.ts';
import { asked } from './keeper-acts.ts';
import type { PersonParts } from './person.ts';
import type { PackWish } from './policy-observation.ts';
import {
  type Desk,
  isBad,
  type KnownPack,
  type Of,
  ownSigner,
  type Target,
  targetText,
} from './publisher-desk.ts';

const NAMES = ['one', 'two', 'three'];
const BY_CONSOLE = 0.6;
const NEWEST = 0.7;
const ROLLBACKS_MAX = 8;
export const FLEET: Target = { kind: 'fleet', id: 'fleet' };

type Draft = {
  readonly paths: Readonly<Record<string, string>>;
  readonly rollback_to: readonly number[];
};

/** What no version before held. */
function draftOf({ random }: PersonParts, desk: Desk, pack: string, isGood: boolean): Draft {
  desk.drafts += 1;
  const chances = { [BAD_POLICY]: 0.2, [PICKY_POLICY]: 0.15 };
  const good = NAMES.filter(() => random.chance(0.7));
  const rest = Object.entries(chances).flatMap(([name, chance]) =>
    !isGood && random.chance(chance) ? [name] : [],
  );
  const names = good.length === 0 ? ['one', ...rest] : [...good, ...rest];
  const older = desk.versions.filter((one) => one.pack === pack && random.chance(0.4));
  return {
    paths: Object.fromEntries(names.map((name) => [name, `/${desk.drafts}/${name}`])),
    rollback_to: older.map(({ version }) => version).slice(-ROLLBACKS_MAX),
  };
}

/** Publishes the next version of one pack, signed by the Console or by itself. */
export async function publish(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  const { random } = parts;
  if (desk.packs.length < 2) {
    const name = `pack ${desk.packs.length + 1}`;
    await asked(parts, of, { method: 'post', path: '/packs', body: { name } });
    return;
  }
  await publishIn(parts, of, desk, { pack: random.pick(desk.packs), isGood: false });
}

/** `isGood`: every engine carries it out. */
export async function publishIn(
  parts: PersonParts,
  of: Of,
  desk: Desk,
  { pack, isGood }: { readonly pack: KnownPack; readonly isGood: boolean },
): Promise<void> {
  const { own, trusted } = desk.keys;
  const draft = draftOf(parts, desk, pack.pack_id, isGood);
  const signer = ownSigner(desk);
  const isOfConsole = own !== null && trusted.includes(own);
  if (isOfConsole && (signer === undefined || parts.random.chance(BY_CONSOLE))) {
    await byConsole(parts, of, pack, draft);
  } else if (signer !== undefined) {
    const { pack_id, name } = pack;
    const rollback_to = [...draft.rollback_to];
    const version = (pack.latest_version ?? 0) + 1;
    const signed = packOf(signer, version, draft.paths, { pack_id, name, rollback_to });
    const request = { method: 'post', path: '/packs/signed', body: { pack: signed } } as const;
    await asked(parts, of, request);
  }
}

async function byConsole(
  parts: PersonParts,
  of: Of,
  { pack_id }: KnownPack,
  { paths, rollback_to }: Draft,
): Promise<void> {
  const path = `/packs/${pack_id}`;
  const read = await asked(parts, of, { method: 'get', path: `${path}/draft` });
  if (read === null || read.code !== null) return;
  const policies = Object.entries(paths).map(([name, at]) => ({ name, yaml: yamlOf(name, at) }));
  const draft = {
    ...{ mode: 'enforce', modes_allowed: ['enforce', 'monitor'] },
    ...{ namespace_scope: null, rollback_to, policies },
  };
  const body = { revision: read.body['revision'], draft };
  const put = await asked(parts, of, { method: 'put', path: `${path}/draft`, body });
  if (put === null || put.code !== null) return;
  await asked(parts, of, { method: 'post', path: `${path}/publish`, body: {} });
}

/** The fleet, its group or a sensor. */
export function drawTarget({ random }: PersonParts, { group, sensors }: Desk): Target {
  const roll = random.next();
  const sensor = sensors.length === 0 ? undefined : random.pick(sensors);
  if (roll < 0.25 && group !== null) return { kind: 'group', id: group };
  if (roll < 0.6 && sensor !== undefined) return { kind: 'sensor', id: sensor.sensor_id };
  return FLEET;
}

/** Assigns a version that some engines carry out, to whatever is drawn. */
export async function assign(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  const { random } = parts;
  const fit = desk.versions.filter((one) => !isBad(one));
  const newest = desk.packs.flatMap(
    ({ pack_id }) => fit.findLast((one) => one.pack === pack_id) ?? [],
  );
  if (newest.length === 0) return;
  const { pack, version } = random.pick(random.chance(NEWEST) ? newest : fit);
  const mode = random.pick(['enforce', 'monitor']);
  await assignTo(parts, of, drawTarget(parts, desk), { pack, version, mode });
}

/** Whether it was done. */
export async function assignTo(
  parts: PersonParts,
  of: Of,
  target: Target,
  wish: PackWish,
): Promise<boolean> {
  parts.world.observe({ kind: 'pack.asked', target: targetText(target), wish });
  const { pack: pack_id, version, mode } = wish;
  const body = { target, pack_id, version, mode };
  const answer = await asked(parts, of, { method: 'post', path: '/assignments', body });
  return answer?.code === null;
}

/** Takes away what one target is assigned. */
export async function unassign(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  if (desk.assigned.length === 0) return;
  const { kind, id } = parts.random.pick(desk.assigned).target;
  await asked(parts, of, { method: 'delete', path: `/assignments/${kind}/${id}` });
}

/** Takes a sensor into its group, or out of it. */
export async function take(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  if (desk.group === null) {
    const body = { name: 'of the publisher' };
    await asked(parts, of, { method: 'post', path: '/groups', body });
    const all = await asked(parts, of, { method: 'get', path: '/groups' });
    const items = (all?.code === null ? all.body['items'] : []) as readonly { id: string }[];
    desk.group = items[0]?.id ?? null;
    return;
  }
  if (desk.sensors.length === 0) return;
  const { sensor_id, group_ids } = parts.random.pick(desk.sensors);
  const body = { group_ids: group_ids.length === 0 ? [desk.group] : [] };
  await asked(parts, of, { method: 'patch', path: `/sensors/${sensor_id}`, body });
}
